// How tasks find their places:
//   1. Pods are sorted by namespace/name, so that everything that follows, and every list of tasks
//      that is filled in this order, is sorted too.
//   2. Pods that never passed an API server take priority and preemption policy from their
//      PriorityClass.
//   3. A pod belongs to the job its annotation names, if there is one, in the role it names.
//   4. A pod that still runs is put on its node; one on a node that is not in the input counts for
//      its job only.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "cluster_state/assemble.h"
#include "cluster_state/csi_claims.h"
#include "cluster_state/name_order.h"
#include "cluster_state/priority_index.h"

namespace krafla {

namespace {

struct SortKey {
  uint32_t ns_rank = 0;
  uint32_t index = 0;
  std::string_view name;
};

// What kubectl prints is sorted already.
bool AreSorted(const std::vector<Task>& tasks, const Cluster& cluster) {
  return std::is_sorted(tasks.begin(), tasks.end(), [&](const Task& a, const Task& b) {
    return a.ns == b.ns ? cluster.Text(a.name) < cluster.Text(b.name)
                        : NamespacedLess(cluster.Text(a.ns), {}, cluster.Text(b.ns), {});
  });
}

bool operator<(const SortKey& a, const SortKey& b) {
  return a.ns_rank != b.ns_rank ? a.ns_rank < b.ns_rank : a.name < b.name;
}

// Several lists one behind the other are sorted in pieces, which only have to be merged.
void SortPieces(std::vector<SortKey>& keys) {
  constexpr size_t kShortPiece = 16;
  std::vector<ptrdiff_t> ends{0};
  for (size_t i = 1; i < keys.size(); ++i)
    if (keys[i] < keys[i - 1]) ends.push_back(static_cast<ptrdiff_t>(i));
  ends.push_back(static_cast<ptrdiff_t>(keys.size()));
  if (ends.size() > keys.size() / kShortPiece) return std::sort(keys.begin(), keys.end());
  while (ends.size() > 2) {
    size_t kept = 1;
    for (size_t i = 1; i < ends.size(); i += 2) {
      const size_t last = std::min(i + 1, ends.size() - 1);
      std::inplace_merge(keys.begin() + ends[i - 1], keys.begin() + ends[i],
                         keys.begin() + ends[last]);
      ends[kept++] = ends[last];
    }
    ends.resize(kept);
  }
}

// By namespace/name.
void Sort(DraftedPods& pods, const Cluster& cluster) {
  if (AreSorted(pods.tasks, cluster)) return;
  std::unordered_map<StrId, uint32_t> ranks;
  for (const Task& task : pods.tasks) ranks.try_emplace(task.ns);
  std::vector<StrId> namespaces;
  for (const auto& entry : ranks) namespaces.push_back(entry.first);
  std::sort(namespaces.begin(), namespaces.end(), [&](StrId a, StrId b) {
    return NamespacedLess(cluster.Text(a), {}, cluster.Text(b), {});
  });
  for (size_t i = 0; i < namespaces.size(); ++i) ranks[namespaces[i]] = static_cast<uint32_t>(i);

  std::vector<SortKey> keys;
  keys.reserve(pods.size());
  for (uint32_t i = 0; i < pods.size(); ++i) {
    const Task& task = pods.tasks[i];
    keys.push_back({ranks[task.ns], i, cluster.Text(task.name)});
  }
  SortPieces(keys);
  DraftedPods sorted;
  sorted.Expect(pods.size());
  for (const SortKey& key : keys) {
    sorted.tasks.push_back(std::move(pods.tasks[key.index]));
    sorted.details.push_back(pods.details[key.index]);
  }
  pods = std::move(sorted);
}

class Assembly {
 public:
  Assembly(ClusterDraft& draft, Diagnostics& diagnostics)
      : draft_(draft),
        cluster_(draft.cluster),
        claims_(draft.cluster, draft.options),
        diagnostics_(diagnostics),
        priorities_(draft.priority_classes) {
    for (const JobId id : cluster_.jobs_by_name) {
      const Job& job = cluster_.jobs[id];
      jobs_.emplace(NameKey(job.ns, job.name), id);
      for (size_t i = 0; i < job.roles.size(); ++i)
        roles_.emplace(RoleKey(id, job.roles[i].name), static_cast<uint16_t>(i));
    }
    node_ids_.resize(cluster_.strings.size());
    for (const NodeId id : cluster_.nodes_by_name) node_ids_[cluster_.nodes[id].name.value] = id;
    tasks_of_job_.Reset(cluster_.jobs.size());
    tasks_on_node_.Reset(cluster_.nodes.size());
  }

  void Run() {
    Sort(draft_.pods, cluster_);
    const std::vector<PodDetails> details = std::exchange(draft_.pods.details, {});
    std::vector<Task>& tasks = cluster_.tasks.raw();
    tasks = std::exchange(draft_.pods.tasks, {});
    uint32_t placed = 0;
    for (size_t i = 0; i < details.size(); ++i) {
      if (!Place(details[i], tasks[i])) continue;
      if (placed != i) tasks[placed] = std::move(tasks[i]);
      ++placed;
    }
    tasks.resize(placed);
    cluster_.tasks_by_name = placed;
    FillLists();
    for (Job& job : cluster_.jobs) SortByUid(job);
    Warn();
  }

 private:
  static uint64_t RoleKey(JobId job, StrId role) {
    return (uint64_t{job.value} << 32) | role.value;
  }

  std::string Name(const Task& task) const {
    return fmt::format("{}/{}", cluster_.Text(task.ns), cluster_.Text(task.name));
  }

  // False: it is left out.
  bool Place(const PodDetails& pod, Task& task) {
    // The scheduler never hears of pods that another one still has to place.
    if (!pod.ours && task.node_name == kEmptyStr) {
      if (pod.group != kEmptyStr && jobs_.contains(NameKey(task.ns, pod.group)))
        other_scheduler_.Add(Name(task));
      return false;
    }
    if (draft_.options.leave_out_pods_without_claims &&
        claims_.FindMissingClaim(task, cluster_.specs[task.spec]) != nullptr) {
      without_claims_.Add(Name(task));
      return false;
    }
    if (!priorities_.Apply(pod, task))
      missing_classes_[cluster_.Text(task.priority_class)].Add(Name(task));
    JoinJob(pod, task);
    JoinNode(task);
    return true;
  }

  void JoinJob(const PodDetails& pod, Task& task) {
    if (pod.group == kEmptyStr) {
      if (pod.ours && task.status == TaskStatus::kPending) without_group_.Add(Name(task));
      return;
    }
    const uint64_t key = NameKey(task.ns, pod.group);
    // Neighbours are of one job, and mostly of one role.
    if (key != last_group_) {
      const auto found = jobs_.find(key);
      if (found == jobs_.end()) {
        // A PodGroup that is there but has no queue was already complained of.
        if (pod.ours && !draft_.groups_without_queue.contains(key)) missing_group_.Add(Name(task));
        return;
      }
      last_group_ = key;
      last_job_ = found->second;
      last_role_ = {};
    }
    task.job = last_job_;
    if (task.role != last_role_) {
      last_role_index_ = RoleIndex(cluster_.jobs[task.job], task);
      last_role_ = task.role;
    }
    task.role_index = last_role_index_;
    ++tasks_of_job_[task.job];
  }

  uint16_t RoleIndex(Job& job, const Task& task) {
    const uint64_t key = RoleKey(task.job, task.role);
    if (const auto found = roles_.find(key); found != roles_.end()) return found->second;
    if (job.roles.size() > std::numeric_limits<uint16_t>::max()) {
      too_many_roles_.Add(Name(task));
      return 0;
    }
    const auto index = static_cast<uint16_t>(job.roles.size());
    job.roles.push_back({.name = task.role});
    roles_.emplace(key, index);
    return index;
  }

  void JoinNode(Task& task) {
    if (task.node_name == kEmptyStr || IsTerminated(task.status)) return;
    const NodeId node = node_ids_[task.node_name.value];
    if (!node.valid()) {
      unknown_node_.Add(fmt::format("{} on {}", Name(task), cluster_.Text(task.node_name)));
      return;
    }
    task.node = node;
    ++tasks_on_node_[node];
  }

  // The lists of jobs and nodes, each allocated once: how long they will be is known by now.
  void FillLists() {
    for (JobId id{0}; id.value < cluster_.jobs.size(); ++id.value)
      cluster_.jobs[id].tasks.reserve(tasks_of_job_[id]);
    for (NodeId id{0}; id.value < cluster_.nodes.size(); ++id.value)
      cluster_.nodes[id].tasks.reserve(tasks_on_node_[id]);
    for (TaskId id{0}; id.value < cluster_.tasks.size(); ++id.value) {
      const Task& task = cluster_.tasks[id];
      if (task.job.valid()) cluster_.jobs[task.job].tasks.push_back(id);
      if (task.node.valid()) cluster_.nodes[task.node].tasks.push_back(id);
    }
  }

  void SortByUid(Job& job) {
    const auto less = [&](TaskId a, TaskId b) {
      return cluster_.Text(cluster_.tasks[a].uid) < cluster_.Text(cluster_.tasks[b].uid);
    };
    // Stable: pods that were given one UID by mistake stay in the order of their names.
    if (!std::is_sorted(job.tasks.begin(), job.tasks.end(), less))
      std::stable_sort(job.tasks.begin(), job.tasks.end(), less);
  }

  void Warn() {
    const auto warn = [&](const Several& pods, std::string_view what) {
      if (pods.count > 0)
        diagnostics_.Warning({}, {}, fmt::format(fmt::runtime(what), pods.count, pods.first));
    };
    warn(missing_group_,
         "{} pod(s) name a PodGroup that does not exist and are not scheduled (first: {})");
    warn(without_group_, "{} pod(s) name no PodGroup and are not scheduled (first: {})");
    warn(without_claims_, "{} pod(s) have claims that do not exist and are left out (first: {})");
    warn(other_scheduler_,
         "{} pod(s) of a PodGroup name another scheduler and are not scheduled (first: {})");
    warn(unknown_node_, "{} pod(s) are on nodes that do not exist (first: {})");
    for (const auto& [priority_class, pods] : missing_classes_)
      diagnostics_.Warning(
          {}, {},
          fmt::format("PriorityClass {} does not exist: {} pod(s) have no priority (first: {})",
                      Quoted(priority_class), pods.count, pods.first));
    if (too_many_roles_.count > 0)
      diagnostics_.Error({}, {},
                         fmt::format("a job has more than {} roles (first pod beyond: {})",
                                     std::numeric_limits<uint16_t>::max(), too_many_roles_.first));
  }

  ClusterDraft& draft_;
  Cluster& cluster_;
  CsiClaims claims_;
  Diagnostics& diagnostics_;
  PriorityIndex priorities_;
  std::unordered_map<uint64_t, JobId> jobs_;
  std::unordered_map<uint64_t, uint16_t> roles_;  // by job and name
  std::vector<NodeId> node_ids_;                  // by the number of the name
  uint64_t last_group_ = ~uint64_t{0};            // no name
  JobId last_job_;
  StrId last_role_;  // of that job; invalid when none was looked up yet
  uint16_t last_role_index_ = 0;
  Table<JobId, uint32_t> tasks_of_job_;
  Table<NodeId, uint32_t> tasks_on_node_;
  Several missing_group_;
  Several without_group_;
  Several without_claims_;
  Several other_scheduler_;
  Several unknown_node_;
  Several too_many_roles_;
  std::map<std::string_view, Several> missing_classes_;
};

}  // namespace

void AssembleTasks(ClusterDraft& draft, Diagnostics& diagnostics) {
  Assembly(draft, diagnostics).Run();
}

}  // namespace krafla
