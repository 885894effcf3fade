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

// Indices of pods by namespace/name.
std::vector<SortKey> SortedPods(const ClusterDraft& draft) {
  const Cluster& cluster = draft.cluster;
  std::unordered_map<StrId, uint32_t> ranks;
  for (const PodFacts& pod : draft.pods) ranks.try_emplace(pod.task.ns);
  std::vector<StrId> namespaces;
  for (const auto& entry : ranks) namespaces.push_back(entry.first);
  std::sort(namespaces.begin(), namespaces.end(), [&](StrId a, StrId b) {
    return NamespacedLess(cluster.Text(a), {}, cluster.Text(b), {});
  });
  for (size_t i = 0; i < namespaces.size(); ++i) ranks[namespaces[i]] = static_cast<uint32_t>(i);

  std::vector<SortKey> keys;
  keys.reserve(draft.pods.size());
  for (uint32_t i = 0; i < draft.pods.size(); ++i) {
    const Task& task = draft.pods[i].task;
    keys.push_back({ranks[task.ns], i, cluster.Text(task.name)});
  }
  const auto less = [](const SortKey& a, const SortKey& b) {
    return a.ns_rank != b.ns_rank ? a.ns_rank < b.ns_rank : a.name < b.name;
  };
  // What kubectl prints is sorted already.
  if (!std::is_sorted(keys.begin(), keys.end(), less)) std::sort(keys.begin(), keys.end(), less);
  return keys;
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
  }

  void Run() {
    cluster_.tasks.Reserve(draft_.pods.size());
    for (const SortKey& key : SortedPods(draft_)) Place(draft_.pods[key.index]);
    draft_.pods.clear();
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

  void Place(PodFacts& pod) {
    // The scheduler never hears of pods that another one still has to place.
    if (!pod.ours && pod.task.node_name == kEmptyStr) {
      if (pod.group != kEmptyStr && jobs_.contains(NameKey(pod.task.ns, pod.group)))
        other_scheduler_.Add(Name(pod.task));
      return;
    }
    if (draft_.options.leave_out_pods_without_claims &&
        !claims_.HasAllClaims(pod.task, cluster_.specs[pod.task.spec])) {
      without_claims_.Add(Name(pod.task));
      return;
    }
    if (!priorities_.Apply(pod))
      missing_classes_[cluster_.Text(pod.task.priority_class)].Add(Name(pod.task));
    const TaskId id = cluster_.tasks.Next();
    JoinJob(pod, id);
    JoinNode(pod.task, id);
    cluster_.tasks.Add(std::move(pod.task));
  }

  void JoinJob(PodFacts& pod, TaskId id) {
    Task& task = pod.task;
    if (pod.group == kEmptyStr) {
      if (pod.ours && task.status == TaskStatus::kPending) without_group_.Add(Name(task));
      return;
    }
    const uint64_t key = NameKey(task.ns, pod.group);
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) {
      // A PodGroup that is there but has no queue was already complained of.
      if (pod.ours && !draft_.groups_without_queue.contains(key)) missing_group_.Add(Name(task));
      return;
    }
    task.job = found->second;
    Job& job = cluster_.jobs[task.job];
    task.role_index = RoleIndex(job, task);
    job.tasks.push_back(id);
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

  void JoinNode(Task& task, TaskId id) {
    if (task.node_name == kEmptyStr || IsTerminated(task.status)) return;
    const NodeId node = node_ids_[task.node_name.value];
    if (!node.valid()) {
      unknown_node_.Add(fmt::format("{} on {}", Name(task), cluster_.Text(task.node_name)));
      return;
    }
    task.node = node;
    cluster_.nodes[node].tasks.push_back(id);
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
