// How it is kept:
//   - Facts of every object, by name. They are the truth; the tables can be built from them at any
//     time, and are when something changes that many rows depend on.
//   - A pod or a PodGroup that comes, changes or goes is put into or taken out of the tables at
//     once. Tables stay dense: the last row moves into the gap, and who pointed to it is told.
//   - Sums (of nodes and jobs) are never counted up and down: the ones that were touched are
//     derived anew from their tasks before anybody looks. So they are what a fresh build would
//     give, bit for bit.
#include "cluster_state/live_cluster.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "cluster_state/assemble.h"
#include "cluster_state/derive_sums.h"
#include "cluster_state/name_order.h"
#include "cluster_state/same_facts.h"
#include "cluster_state/task_classes.h"

namespace krafla {

namespace {

struct PodEntry {
  PodFacts facts;
  TaskId task;  // invalid: the scheduler does not see it
};

struct GroupEntry {
  PodGroupFacts facts;
  JobId job;  // invalid: its queue does not exist
};

// Names, each once, in order of arrival; an index from name to place.
template <class T>
class Store {
 public:
  // True: it is new.
  bool Set(uint64_t key, T value) {
    const auto [it, is_new] = index_.try_emplace(key, items_.size());
    if (is_new) {
      items_.push_back(std::move(value));
    } else {
      items_[it->second] = std::move(value);
    }
    return is_new;
  }
  bool Remove(uint64_t key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return false;
    const size_t place = it->second;
    index_.erase(it);
    items_.erase(items_.begin() + static_cast<ptrdiff_t>(place));
    for (auto& [other, at] : index_)
      if (at > place) --at;
    return true;
  }
  const T* Find(uint64_t key) const {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second];
  }
  const std::vector<T>& items() const { return items_; }
  std::vector<T>& items() { return items_; }

 private:
  std::vector<T> items_;
  std::unordered_map<uint64_t, size_t> index_;
};

bool SameImages(const Node& a, const Node& b) {
  return std::equal(a.images.begin(), a.images.end(), b.images.begin(), b.images.end(),
                    [](const NodeImage& x, const NodeImage& y) {
                      return x.name == y.name && x.size_bytes == y.size_bytes;
                    });
}

// Nowhere a fraction, or so much that one might be lost.
bool IsWhole(const Resource& amounts) {
  constexpr double kLimit = 0x1p53;
  for (uint64_t rest = amounts.mask(); rest != 0; rest &= rest - 1) {
    const double amount = amounts.Get(std::countr_zero(rest));
    if (amount < 0 || amount >= kLimit || amount != std::floor(amount)) return false;
  }
  return true;
}

}  // namespace

struct LiveCluster::State {
  explicit State(BuildOptions options) { draft.options = std::move(options); }

  ClusterDraft draft;  // its cluster is the one; its lists of facts are only filled while building
  ValueIndexes indexes;
  Diagnostics warnings;

  // Node-based: tables point at entries.
  std::unordered_map<uint64_t, PodEntry> pods;
  std::unordered_map<uint64_t, GroupEntry> groups;
  Store<NodeFacts> nodes;
  Store<QueueFacts> queues;
  Store<PriorityClassFacts> priority_classes;
  Store<Namespace> namespaces;
  Store<PodDisruptionBudget> budgets;
  Store<PersistentVolumeClaim> claims;
  Store<PersistentVolume> volumes;
  Store<StorageClass> storage_classes;
  Store<CsiNode> csi_nodes;

  // Of the tables as they are built now.
  bool stale = true;  // they have to be built before anybody looks
  std::unique_ptr<TaskClasses> classes;
  PriorityIndex priorities;
  int kinds_known = 0;
  std::unordered_set<StrId> namespaces_known;
  Table<TaskId, PodEntry*> pod_of_task;
  Table<JobId, GroupEntry*> group_of_job;
  std::unordered_map<StrId, NodeId> node_ids;
  std::unordered_multimap<uint64_t, PodEntry*> without_group;  // by the PodGroup they name
  std::vector<NodeId> touched_nodes;
  std::vector<JobId> touched_jobs;
  std::vector<uint8_t> node_is_touched;
  // Every amount a node has is whole: then what all have together is the same in whatever order it
  // is added up, as long as it is below 2^53.
  bool has_whole_amounts = false;
  ClusterChanges changes;  // since they were last taken
  std::vector<uint8_t> node_has_changed;

  Cluster& cluster() { return draft.cluster; }

  void Build();
  void DeriveTouched();
  void TouchNode(NodeId node);
  void TouchJob(JobId job);
  void ReplaceAllocatable(NodeId node, const Resource& allocatable);

  void InsertTask(PodEntry& entry);
  void RemoveTask(PodEntry& entry);
  void JoinJob(TaskId id, JobId job);
  void InsertJob(GroupEntry& entry, Job job);
  void RemoveJob(GroupEntry& entry);
  bool Visible(const PodEntry& entry) const;
  // Whether the tables can take the pod or PodGroup without being built anew.
  bool CanTake(const PodFacts& pod);
  bool KnowsNamespace(StrId ns) const { return namespaces_known.contains(ns); }
};

void LiveCluster::State::Build() {
  Cluster& c = cluster();
  c.namespaces = namespaces.items();
  c.budgets = budgets.items();
  c.volumes = {claims.items(), volumes.items(), storage_classes.items(), csi_nodes.items()};
  c.classes.Resize(0);
  c.tasks.Resize(0);
  c.jobs.Resize(0);
  c.queues.Resize(0);
  c.nodes.Resize(0);
  c.allocatable.Resize(0);
  c.jobs_by_name.clear();
  c.nodes_by_name.clear();
  c.queues_by_name.clear();
  warnings = {};

  const Renumbering renumbering = NumberKinds(c, draft.options, warnings);
  if (!renumbering.empty()) {
    for (NodeFacts& node : nodes.items()) Renumber(node, renumbering);
    for (auto& [key, group] : groups) Renumber(group.facts, renumbering);
    for (QueueFacts& queue : queues.items()) Renumber(queue, renumbering);
  }
  draft.priority_classes = priority_classes.items();
  draft.queues = queues.items();
  draft.nodes.assign(nodes.items().begin(), nodes.items().end());
  draft.groups.clear();
  for (const auto& [key, group] : groups) draft.groups.push_back(group.facts);
  draft.pods.Expect(pods.size());
  for (const auto& [key, pod] : pods) draft.pods.Add(PodFacts(pod.facts));
  draft.groups_without_queue.clear();

  AssembleQueues(draft, warnings);
  AssembleJobs(draft, warnings);
  AssembleNodes(draft);
  AssembleTasks(draft, warnings);
  classes = std::make_unique<TaskClasses>(c, indexes.labels, draft.options);
  classes->SetAll();
  AssembleOthers(draft);
  DeriveSums(c);
  // AssembleNodes and the others took the lists apart.
  draft.nodes.clear();
  draft.groups.clear();
  draft.queues.clear();

  priorities = PriorityIndex(draft.priority_classes);
  kinds_known = c.kinds.size();
  namespaces_known.clear();
  for (const Namespace& ns : c.namespaces) namespaces_known.insert(ns.name);
  node_ids.clear();
  for (const NodeId id : c.nodes_by_name) node_ids.emplace(c.nodes[id].name, id);
  for (auto& [key, group] : groups) group.job = JobId{};
  group_of_job.Reset(c.jobs.size());
  for (const JobId id : c.jobs_by_name) {
    GroupEntry& entry = groups.at(NameKey(c.jobs[id].ns, c.jobs[id].name));
    entry.job = id;
    group_of_job[id] = &entry;
  }
  for (auto& [key, pod] : pods) pod.task = TaskId{};
  pod_of_task.Reset(c.tasks.size());
  without_group.clear();
  for (TaskId id{0}; id.value < c.tasks.size(); ++id.value) {
    PodEntry& entry = pods.at(NameKey(c.tasks[id].ns, c.tasks[id].name));
    entry.task = id;
    pod_of_task[id] = &entry;
  }
  for (auto& [key, pod] : pods) {
    if (!pod.task.valid() || pod.facts.group == kEmptyStr || c.tasks[pod.task].job.valid())
      continue;
    without_group.emplace(NameKey(pod.facts.task.ns, pod.facts.group), &pod);
  }
  touched_nodes.clear();
  touched_jobs.clear();
  node_is_touched.assign(c.nodes.size(), 0);
  changes = {};
  changes.rebuilt = true;
  node_has_changed.assign(c.nodes.size(), 0);
  has_whole_amounts = std::all_of(c.allocatable.begin(), c.allocatable.end(), IsWhole);
  stale = false;
}

void LiveCluster::State::TouchNode(NodeId node) {
  if (node_has_changed[node.value] == 0) {
    node_has_changed[node.value] = 1;
    changes.nodes.push_back(node);
  }
  if (node_is_touched[node.value] != 0) return;
  node_is_touched[node.value] = 1;
  touched_nodes.push_back(node);
}

void LiveCluster::State::TouchJob(JobId job) {
  touched_jobs.push_back(job);
  changes.jobs.push_back(job);
}

void LiveCluster::State::ReplaceAllocatable(NodeId node, const Resource& allocatable) {
  Cluster& c = cluster();
  const Resource before = std::exchange(c.allocatable[node], allocatable);
  has_whole_amounts = has_whole_amounts && IsWhole(allocatable);
  Resource total = c.total;
  total.Sub(before).Add(allocatable);
  if (has_whole_amounts && before.mask() == allocatable.mask() && IsWhole(total)) {
    c.total = total;
  } else {
    DeriveTotal(c);
  }
}

void LiveCluster::State::DeriveTouched() {
  Cluster& c = cluster();
  for (const NodeId node : touched_nodes) {
    node_is_touched[node.value] = 0;
    DeriveNodeSums(c, node);
  }
  touched_nodes.clear();
  // Jobs that are gone may be named here, and jobs more than once: both are rare and cheap to meet.
  std::sort(touched_jobs.begin(), touched_jobs.end());
  touched_jobs.erase(std::unique(touched_jobs.begin(), touched_jobs.end()), touched_jobs.end());
  for (const JobId job : touched_jobs)
    if (job.value < c.jobs.size()) DeriveJobSums(c, job);
  touched_jobs.clear();
}

// The scheduler never hears of pods that another one still has to place.
bool LiveCluster::State::Visible(const PodEntry& entry) const {
  if (!entry.facts.ours && entry.facts.task.node_name == kEmptyStr) return false;
  return !draft.options.leave_out_pods_without_claims || classes->HasAllClaims(entry.facts.task);
}

bool LiveCluster::State::CanTake(const PodFacts& pod) {
  return cluster().kinds.size() == kinds_known && KnowsNamespace(pod.task.ns) &&
         classes->Covers(cluster().specs[pod.task.spec]);
}

namespace {

// Where `id` is, or belongs, in a list that is sorted by `less`.
template <class Id, class Less>
size_t PlaceOf(const std::vector<Id>& list, Id id, Less&& less) {
  return static_cast<size_t>(std::lower_bound(list.begin(), list.end(), id, less) - list.begin());
}

template <class Id>
void Erase(std::vector<Id>& list, size_t place, Id id) {
  // Equal keys (two pods of one UID) may stand in any order.
  while (place < list.size() && list[place] != id) ++place;
  KRAFLA_CHECK(place < list.size(), "an id is where its key says");
  list.erase(list.begin() + static_cast<ptrdiff_t>(place));
}

template <class Id>
void Replace(std::vector<Id>& list, size_t place, Id before, Id after) {
  while (place < list.size() && list[place] != before) ++place;
  KRAFLA_CHECK(place < list.size(), "an id is where its key says");
  list[place] = after;
}

template <class Id>
void Insert(std::vector<Id>& list, size_t place, Id id) {
  list.insert(list.begin() + static_cast<ptrdiff_t>(place), id);
}

struct ByUid {
  const Cluster& cluster;
  bool operator()(TaskId a, TaskId b) const {
    return cluster.Text(cluster.tasks[a].uid) < cluster.Text(cluster.tasks[b].uid);
  }
};

struct ByTaskName {
  const Cluster& cluster;
  bool operator()(TaskId a, TaskId b) const { return cluster.TaskNameLess(a, b); }
};

struct ByJobName {
  const Cluster& cluster;
  bool operator()(JobId a, JobId b) const {
    const Job& l = cluster.jobs[a];
    const Job& r = cluster.jobs[b];
    return NamespacedLess(cluster.Text(l.ns), cluster.Text(l.name), cluster.Text(r.ns),
                          cluster.Text(r.name));
  }
};

// Nothing: there are as many as can be numbered, those whose pods are all gone among them.
std::optional<uint16_t> RoleIndex(Job& job, StrId role) {
  for (size_t i = 0; i < job.roles.size(); ++i)
    if (job.roles[i].name == role) return static_cast<uint16_t>(i);
  if (job.roles.size() > std::numeric_limits<uint16_t>::max()) return std::nullopt;
  job.roles.push_back({.name = role});
  return static_cast<uint16_t>(job.roles.size() - 1);
}

}  // namespace

void LiveCluster::State::JoinJob(TaskId id, JobId job_id) {
  Cluster& c = cluster();
  Job& job = c.jobs[job_id];
  c.tasks[id].job = job_id;
  const std::optional<uint16_t> role = RoleIndex(job, c.tasks[id].role);
  c.tasks[id].role_index = role.value_or(0);
  if (!role) stale = true;  // built anew, the tables have the roles that are in use
  Insert(job.tasks, PlaceOf(job.tasks, id, ByUid{c}), id);
  TouchJob(job_id);
  if (c.tasks[id].node.valid()) TouchNode(c.tasks[id].node);
}

void LiveCluster::State::InsertTask(PodEntry& entry) {
  if (!Visible(entry)) return;
  Cluster& c = cluster();
  PodFacts pod = entry.facts;
  priorities.Apply(pod, pod.task);
  Task& task = pod.task;
  classes->Set(task);
  const TaskId id = c.tasks.Add(task);
  pod_of_task.Add(&entry);
  entry.task = id;
  if (entry.facts.group != kEmptyStr) {
    const uint64_t key = NameKey(task.ns, entry.facts.group);
    const auto group = groups.find(key);
    if (group != groups.end() && group->second.job.valid()) {
      JoinJob(id, group->second.job);
    } else {
      without_group.emplace(key, &entry);
    }
  }
  if (task.node_name == kEmptyStr || IsTerminated(task.status)) return;
  const auto node = node_ids.find(task.node_name);
  if (node == node_ids.end()) return;
  c.tasks[id].node = node->second;
  auto& list = c.nodes[node->second].tasks;
  Insert(list, PlaceOf(list, id, ByTaskName{c}), id);
  TouchNode(node->second);
}

void LiveCluster::State::RemoveTask(PodEntry& entry) {
  if (!entry.task.valid()) return;
  Cluster& c = cluster();
  const TaskId id = entry.task;
  const auto leave = [&](TaskId from) {
    const Task& task = c.tasks[from];
    if (task.job.valid()) {
      auto& list = c.jobs[task.job].tasks;
      Erase(list, PlaceOf(list, from, ByUid{c}), from);
      TouchJob(task.job);
    }
    if (task.node.valid()) {
      auto& list = c.nodes[task.node].tasks;
      Erase(list, PlaceOf(list, from, ByTaskName{c}), from);
      TouchNode(task.node);
    }
  };
  leave(id);
  if (entry.facts.group != kEmptyStr && !c.tasks[id].job.valid()) {
    const auto [begin, end] =
        without_group.equal_range(NameKey(entry.facts.task.ns, entry.facts.group));
    const auto at = std::find_if(begin, end, [&](const auto& e) { return e.second == &entry; });
    if (at != end) without_group.erase(at);
  }
  entry.task = TaskId{};

  const TaskId last(static_cast<uint32_t>(c.tasks.size() - 1));
  if (last != id) {
    const Task& moved = c.tasks[last];
    if (moved.job.valid()) {
      auto& list = c.jobs[moved.job].tasks;
      Replace(list, PlaceOf(list, last, ByUid{c}), last, id);
    }
    if (moved.node.valid()) {
      auto& list = c.nodes[moved.node].tasks;
      Replace(list, PlaceOf(list, last, ByTaskName{c}), last, id);
      TouchNode(moved.node);
    }
    c.tasks[id] = std::move(c.tasks[last]);
    pod_of_task[id] = pod_of_task[last];
    pod_of_task[id]->task = id;
  }
  c.tasks.raw().pop_back();
  pod_of_task.raw().pop_back();
}

void LiveCluster::State::InsertJob(GroupEntry& entry, Job job) {
  Cluster& c = cluster();
  const JobId id = c.jobs.Add(std::move(job));
  group_of_job.Add(&entry);
  entry.job = id;
  Insert(c.jobs_by_name, PlaceOf(c.jobs_by_name, id, ByJobName{c}), id);
  changes.job_steps.push_back({ClusterChanges::JobStep::Kind::kAdded, id});
  TouchJob(id);
  const auto [begin, end] = without_group.equal_range(NameKey(c.jobs[id].ns, c.jobs[id].name));
  std::vector<PodEntry*> joining;
  for (auto it = begin; it != end; ++it) joining.push_back(it->second);
  without_group.erase(begin, end);
  // Roles that minTaskMember does not name are numbered as their pods come, by name.
  std::sort(joining.begin(), joining.end(),
            [&](const PodEntry* a, const PodEntry* b) { return c.TaskNameLess(a->task, b->task); });
  for (const PodEntry* pod : joining) JoinJob(pod->task, id);
}

void LiveCluster::State::RemoveJob(GroupEntry& entry) {
  if (!entry.job.valid()) return;
  Cluster& c = cluster();
  const JobId id = entry.job;
  const uint64_t key = NameKey(c.jobs[id].ns, c.jobs[id].name);
  for (const TaskId task : c.jobs[id].tasks) {
    c.tasks[task].job = JobId{};
    c.tasks[task].role_index = 0;
    without_group.emplace(key, pod_of_task[task]);
    if (c.tasks[task].node.valid()) TouchNode(c.tasks[task].node);
  }
  changes.job_steps.push_back({ClusterChanges::JobStep::Kind::kRemoved, id});
  Erase(c.jobs_by_name, PlaceOf(c.jobs_by_name, id, ByJobName{c}), id);
  entry.job = JobId{};
  const JobId last(static_cast<uint32_t>(c.jobs.size() - 1));
  if (last != id) {
    Replace(c.jobs_by_name, PlaceOf(c.jobs_by_name, last, ByJobName{c}), last, id);
    for (const TaskId task : c.jobs[last].tasks) c.tasks[task].job = id;
    c.jobs[id] = std::move(c.jobs[last]);
    group_of_job[id] = group_of_job[last];
    group_of_job[id]->job = id;
    TouchJob(id);
  }
  c.jobs.raw().pop_back();
  group_of_job.raw().pop_back();
}

LiveCluster::LiveCluster(BuildOptions options)
    : LiveCluster(std::make_unique<State>(std::move(options))) {}

LiveCluster::LiveCluster(std::unique_ptr<State> state)
    : FactSink(state->draft.cluster, state->indexes), state_(std::move(state)) {}

LiveCluster::~LiveCluster() = default;

FactSink::Added LiveCluster::AddPod(PodFacts pod, Origin) {
  State& s = *state_;
  const uint64_t key = NameKey(pod.task.ns, pod.task.name);
  if (const auto known = s.pods.find(key);
      known != s.pods.end() && SameFacts(known->second.facts, pod))
    return Added::kYes;
  ++version_;
  if (!s.stale && !s.CanTake(pod)) s.stale = true;
  const auto [it, is_new] = s.pods.try_emplace(key);
  if (!is_new && !s.stale) s.RemoveTask(it->second);
  it->second.facts = std::move(pod);
  if (!s.stale) s.InsertTask(it->second);
  return Added::kYes;
}

FactSink::Added LiveCluster::AddPodGroup(PodGroupFacts group, Origin) {
  ++version_;
  State& s = *state_;
  if (!s.stale && (s.cluster().kinds.size() != s.kinds_known || !s.KnowsNamespace(group.job.ns)))
    s.stale = true;
  const auto [it, is_new] = s.groups.try_emplace(NameKey(group.job.ns, group.job.name));
  GroupEntry& entry = it->second;
  if (!is_new && !s.stale) s.RemoveJob(entry);
  entry.facts = std::move(group);
  if (s.stale) return Added::kYes;
  Job job = MakeJob(entry.facts, s.cluster(), s.priorities, s.draft.options.default_queue);
  if (job.queue.valid()) s.InsertJob(entry, std::move(job));
  return Added::kYes;
}

bool LiveCluster::AddNode(NodeFacts node) {
  State& s = *state_;
  const uint64_t key = node.node.name.value;
  const NodeFacts* known = s.nodes.Find(key);
  if (known != nullptr && SameFacts(*known, node)) return true;
  ++version_;
  // A node's pods, amounts and marks are its own; its images and CSI drivers are counted over all.
  const bool in_place = !s.stale && known != nullptr && SameImages(known->node, node.node) &&
                        s.csi_nodes.items().empty() && s.cluster().kinds.size() == s.kinds_known;
  if (!in_place) {
    s.stale = true;
  } else {
    Cluster& c = s.cluster();
    const NodeId id = s.node_ids.at(node.node.name);
    Node& row = c.nodes[id];
    Node fresh = node.node;
    fresh.images = std::move(row.images);
    fresh.tasks = std::move(row.tasks);
    row = std::move(fresh);
    s.ReplaceAllocatable(id, node.allocatable);
    s.TouchNode(id);
    s.changes.node_facts.push_back(id);
  }
  s.nodes.Set(key, std::move(node));
  return true;
}

// The rest changes rarely, and much hangs on it.
bool LiveCluster::AddQueue(QueueFacts queue) {
  const uint64_t key = queue.queue.name.value;
  const QueueFacts* known = state_->queues.Find(key);
  if (known != nullptr && SameFacts(*known, queue)) return true;
  return Rare(state_->queues, key, std::move(queue));
}
bool LiveCluster::AddPriorityClass(PriorityClassFacts priority_class) {
  const uint64_t key = priority_class.name.value;
  return Rare(state_->priority_classes, key, std::move(priority_class));
}
bool LiveCluster::AddNamespace(Namespace ns) {
  const uint64_t key = ns.name.value;
  return Rare(state_->namespaces, key, std::move(ns));
}
bool LiveCluster::AddBudget(PodDisruptionBudget budget) {
  const uint64_t key = NameKey(budget.ns, budget.name);
  return Rare(state_->budgets, key, std::move(budget));
}
bool LiveCluster::AddClaim(PersistentVolumeClaim claim) {
  const uint64_t key = NameKey(claim.ns, claim.name);
  return Rare(state_->claims, key, std::move(claim));
}
bool LiveCluster::AddVolume(PersistentVolume volume) {
  const uint64_t key = volume.name.value;
  return Rare(state_->volumes, key, std::move(volume));
}
bool LiveCluster::AddStorageClass(StorageClass storage_class) {
  const uint64_t key = storage_class.name.value;
  return Rare(state_->storage_classes, key, std::move(storage_class));
}
bool LiveCluster::AddCsiNode(CsiNode node) {
  const uint64_t key = node.node.value;
  return Rare(state_->csi_nodes, key, std::move(node));
}
bool LiveCluster::AddResourceQuotaName(StrId, StrId) {
  return true;
}

template <class Store, class T>
bool LiveCluster::Rare(Store& store, uint64_t key, T value) {
  ++version_;
  state_->stale = true;
  store.Set(key, std::move(value));
  return true;
}

bool LiveCluster::RemovePod(StrId ns, StrId name) {
  State& s = *state_;
  const auto it = s.pods.find(NameKey(ns, name));
  if (it == s.pods.end()) return false;
  ++version_;
  if (!s.stale) s.RemoveTask(it->second);
  s.pods.erase(it);
  return true;
}

bool LiveCluster::RemovePodGroup(StrId ns, StrId name) {
  State& s = *state_;
  const auto it = s.groups.find(NameKey(ns, name));
  if (it == s.groups.end()) return false;
  ++version_;
  if (!s.stale) s.RemoveJob(it->second);
  s.groups.erase(it);
  return true;
}

template <class Store>
bool LiveCluster::RemoveRare(Store& store, uint64_t key) {
  if (!store.Remove(key)) return false;
  ++version_;
  state_->stale = true;
  return true;
}

bool LiveCluster::RemoveNode(StrId name) {
  return RemoveRare(state_->nodes, name.value);
}
bool LiveCluster::RemoveQueue(StrId name) {
  return RemoveRare(state_->queues, name.value);
}
bool LiveCluster::RemovePriorityClass(StrId name) {
  return RemoveRare(state_->priority_classes, name.value);
}
bool LiveCluster::RemoveNamespace(StrId name) {
  return RemoveRare(state_->namespaces, name.value);
}
bool LiveCluster::RemoveBudget(StrId ns, StrId name) {
  return RemoveRare(state_->budgets, NameKey(ns, name));
}
bool LiveCluster::RemoveClaim(StrId ns, StrId name) {
  return RemoveRare(state_->claims, NameKey(ns, name));
}
bool LiveCluster::RemoveVolume(StrId name) {
  return RemoveRare(state_->volumes, name.value);
}
bool LiveCluster::RemoveStorageClass(StrId name) {
  return RemoveRare(state_->storage_classes, name.value);
}
bool LiveCluster::RemoveCsiNode(StrId node) {
  return RemoveRare(state_->csi_nodes, node.value);
}

const PodFacts* LiveCluster::FindPod(StrId ns, StrId name) const {
  const auto it = state_->pods.find(NameKey(ns, name));
  return it == state_->pods.end() ? nullptr : &it->second.facts;
}

const PodGroupFacts* LiveCluster::FindPodGroup(StrId ns, StrId name) const {
  const auto it = state_->groups.find(NameKey(ns, name));
  return it == state_->groups.end() ? nullptr : &it->second.facts;
}

const PersistentVolumeClaim* LiveCluster::FindClaim(StrId ns, StrId name) const {
  return state_->claims.Find(NameKey(ns, name));
}

const PersistentVolume* LiveCluster::FindVolume(StrId name) const {
  return state_->volumes.Find(name.value);
}

const NodeFacts* LiveCluster::FindNode(StrId name) const {
  return state_->nodes.Find(name.value);
}

void LiveCluster::AssumeBinding(TaskId task, NodeId node) {
  ++version_;
  State& s = *state_;
  KRAFLA_CHECK(!s.stale, "ids are of the tables as they are");
  Cluster& c = s.cluster();
  Task& row = c.tasks[task];
  KRAFLA_CHECK(row.status == TaskStatus::kPending && !row.node.valid(), c.TaskKey(task));
  row.status = TaskStatus::kBinding;
  row.node_name = c.nodes[node].name;
  row.node = node;
  Task& fact = s.pod_of_task[task]->facts.task;
  fact.status = row.status;
  fact.node_name = row.node_name;
  auto& list = c.nodes[node].tasks;
  Insert(list, PlaceOf(list, task, ByTaskName{c}), task);
  s.TouchNode(node);
  if (row.job.valid()) s.TouchJob(row.job);
}

void LiveCluster::AssumeReleasing(TaskId task) {
  ++version_;
  State& s = *state_;
  KRAFLA_CHECK(!s.stale, "ids are of the tables as they are");
  s.pod_of_task[task]->facts.task.status = TaskStatus::kReleasing;
  Task& row = s.cluster().tasks[task];
  row.status = TaskStatus::kReleasing;
  if (row.job.valid()) s.TouchJob(row.job);
  if (row.node.valid()) s.TouchNode(row.node);
}

void LiveCluster::AssumePhase(JobId job, JobPhase phase) {
  ++version_;
  State& s = *state_;
  KRAFLA_CHECK(!s.stale, "ids are of the tables as they are");
  s.group_of_job[job]->facts.job.phase = phase;
  s.cluster().jobs[job].phase = phase;
  s.TouchJob(job);
}

Cluster& LiveCluster::cluster() {
  if (state_->stale) {
    state_->Build();
    ++rebuilds_;
  }
  state_->DeriveTouched();
  return state_->cluster();
}

ClusterChanges LiveCluster::TakeChanges() {
  State& s = *state_;
  ClusterChanges taken = std::exchange(s.changes, {});
  for (const NodeId node : taken.nodes) s.node_has_changed[node.value] = 0;
  const auto unite = [](auto& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  unite(taken.node_facts);
  unite(taken.jobs);
  // Numbers of rows that are gone since.
  std::erase_if(taken.jobs, [&](JobId job) { return job.value >= s.cluster().jobs.size(); });
  return taken;
}

const Diagnostics& LiveCluster::warnings() const {
  return state_->warnings;
}

}  // namespace krafla
