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
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster_state/live_cluster_state.h"
#include "cluster_state/same_facts.h"
#include "cluster_state/sorted_ids.h"

namespace krafla {

LiveCluster::LiveCluster(BuildOptions options)
    : LiveCluster(std::make_unique<State>(std::move(options))) {}

LiveCluster::LiveCluster(std::unique_ptr<State> state)
    : FactSink(state->draft.cluster, state->indexes), state_(std::move(state)) {}

LiveCluster::~LiveCluster() = default;

void LiveCluster::SetBuildOptions(BuildOptions options) {
  if (options == state_->draft.options) return;
  state_->draft.options = std::move(options);
  state_->stale = true;
  ++version_;
}

const std::string& LiveCluster::default_queue() const {
  return state_->draft.options.default_queue;
}

FactSink::Added LiveCluster::AddPod(PodFacts pod, Origin) {
  State& s = *state_;
  const uint64_t key = NameKey(pod.task.ns, pod.task.name);
  if (const auto known = s.pods.find(key); known != s.pods.end()) {
    // Nobody but a budget looks at it: without one it is written down, and no news.
    if (s.budgets.size() == 0) s.SetUnready(known->second, pod.task.unready);
    if (SameFacts(known->second.facts, pod)) return Added::kYes;
  }
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
  if (s.cluster().kinds.size() != s.kinds_known) s.stale = true;
  const auto [it, is_new] = s.groups.try_emplace(NameKey(group.job.ns, group.job.name));
  GroupEntry& entry = it->second;
  if (!is_new && !s.stale) s.RemoveJob(entry);
  entry.facts = std::move(group);
  if (s.stale) return Added::kYes;
  s.NoteClassOf(entry);
  Job job = MakeJob(entry.facts, s.cluster(), s.priorities, s.draft.options.default_queue);
  if (job.queue.valid()) {
    s.without_queue.erase(&entry);
    s.InsertJob(entry, std::move(job));
  } else {
    s.without_queue.insert(&entry);
  }
  return Added::kYes;
}

bool LiveCluster::AddNode(NodeFacts node) {
  State& s = *state_;
  const uint64_t key = node.node.name.value;
  const NodeFacts* known = s.nodes.Find(key);
  if (known != nullptr && SameFacts(*known, node)) return true;
  ++version_;
  if (s.cluster().kinds.size() != s.kinds_known) s.stale = true;
  const std::optional<NodeFacts> before = known != nullptr ? std::optional(*known) : std::nullopt;
  s.nodes.Set(key, node);
  if (s.stale) return true;
  if (before) {
    s.ReplaceNode(*before, node);
  } else {
    s.InsertNode(node);
  }
  return true;
}

bool LiveCluster::AddCsiNode(CsiNode csi_node) {
  State& s = *state_;
  const StrId node = csi_node.node;
  const CsiNode* known = s.csi_nodes.Find(node.value);
  if (known != nullptr && SameFacts(*known, csi_node)) return true;
  ++version_;
  if (!s.stale && !s.ReplaceCsiNode(known, csi_node)) s.stale = true;
  s.csi_nodes.Set(node.value, std::move(csi_node));
  if (s.stale) return true;
  if (const auto id = s.node_ids.find(node); id != s.node_ids.end()) {
    s.ReplaceAllocatable(id->second, s.AmountsOf(*s.nodes.Find(node.value)));
    s.TouchFacts(id->second);
  }
  return true;
}

bool LiveCluster::AddNamespace(Namespace ns) {
  State& s = *state_;
  const uint64_t key = ns.name.value;
  const Namespace* known = s.namespaces.Find(key);
  if (known != nullptr && SameFacts(*known, ns)) return true;
  ++version_;
  if (!s.stale) s.SetNamespace(ns);
  s.namespaces.Set(key, std::move(ns));
  return true;
}

// What a budget allows changes with every pod that comes or goes; which labels it looks at hardly
// ever does.
bool LiveCluster::AddBudget(PodDisruptionBudget budget) {
  State& s = *state_;
  const uint64_t key = NameKey(budget.ns, budget.name);
  const PodDisruptionBudget* known = s.budgets.Find(key);
  if (known != nullptr && SameFacts(*known, budget)) return true;
  ++version_;
  if (!s.stale && !s.classes->Cover(budget.selector)) s.stale = true;
  if (!s.stale) s.SetBudget(budget);
  s.budgets.Set(key, std::move(budget));
  return true;
}

// The rest changes rarely, and much hangs on it.
bool LiveCluster::AddQueue(QueueFacts queue) {
  const uint64_t key = queue.queue.name.value;
  return Rare(state_->queues, key, std::move(queue));
}
bool LiveCluster::AddPriorityClass(PriorityClassFacts priority_class) {
  const uint64_t key = priority_class.name.value;
  return Rare(state_->priority_classes, key, std::move(priority_class));
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
bool LiveCluster::AddResourceQuotaName(StrId, StrId) {
  return true;
}

template <class Store, class T>
bool LiveCluster::Rare(Store& store, uint64_t key, T value) {
  if (const T* known = store.Find(key); known != nullptr && SameFacts(*known, value)) return true;
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
  s.without_queue.erase(&it->second);
  s.without_class.erase(&it->second);
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
  if (!state_->namespaces.Remove(name.value)) return false;
  ++version_;
  // Pods may be there still; a namespace that nobody names is never asked for.
  if (!state_->stale) state_->SetNamespace({.name = name, .labels = {}});
  return true;
}
bool LiveCluster::RemoveBudget(StrId ns, StrId name) {
  if (!state_->budgets.Remove(NameKey(ns, name))) return false;
  ++version_;
  if (!state_->stale) state_->RemoveBudget(ns, name);
  return true;
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

LiveCluster::Stranded LiveCluster::FindStranded() const {
  const State& s = *state_;
  KRAFLA_CHECK(!s.stale, "who belongs to whom is known when the tables are built");
  Stranded stranded;
  std::unordered_map<uint64_t, StrandedGroup> groups;
  for (const GroupEntry* entry : s.without_queue) {
    const Job& job = entry->facts.job;
    groups[NameKey(job.ns, job.name)] = {.ns = job.ns, .name = job.name, .group = &entry->facts};
  }
  for (const auto& [key, entry] : s.without_group) {
    const PodFacts& pod = entry->facts;
    StrandedGroup& group =
        groups.try_emplace(key, StrandedGroup{.ns = pod.task.ns, .name = pod.group}).first->second;
    ++group.count[static_cast<size_t>(pod.task.status)];
    if (!pod.ours || pod.task.status != TaskStatus::kPending || pod.task.gated) continue;
    ++group.waiting;
    stranded.pods.push_back({&pod, group.group});
  }
  for (const auto& [key, group] : groups)
    if (group.group != nullptr || group.waiting > 0) stranded.groups.push_back(group);
  for (const PodEntry* entry : s.without_claims) {
    const PodFacts& pod = entry->facts;
    if (pod.task.status != TaskStatus::kPending || pod.task.gated) continue;
    stranded.pods.push_back(
        {&pod, FindPodGroup(pod.task.ns, pod.group), s.classes->FindMissingClaim(pod.task)});
  }
  if (s.priority_classes.size() != 0)
    for (const GroupEntry* entry : s.without_class) stranded.unranked.push_back(&entry->facts);
  // Who is told first, and named in the log, does not depend on where anything lies in memory.
  const Cluster& c = s.draft.cluster;
  const auto by_key = [&c](auto&& key_of) {
    return [&c, key_of](const auto& a, const auto& b) {
      const auto [a_ns, a_name] = key_of(a);
      const auto [b_ns, b_name] = key_of(b);
      const int order = c.Text(a_ns).compare(c.Text(b_ns));
      return order != 0 ? order < 0 : c.Text(a_name) < c.Text(b_name);
    };
  };
  std::sort(stranded.pods.begin(), stranded.pods.end(), by_key([](const StrandedPod& pod) {
              return std::pair(pod.pod->task.ns, pod.pod->task.name);
            }));
  std::sort(stranded.groups.begin(), stranded.groups.end(),
            by_key([](const StrandedGroup& group) { return std::pair(group.ns, group.name); }));
  std::sort(
      stranded.unranked.begin(), stranded.unranked.end(),
      by_key([](const PodGroupFacts* group) { return std::pair(group->job.ns, group->job.name); }));
  return stranded;
}

uint64_t LiveCluster::node_sizes_version() const {
  return state_->node_sizes_version;
}

int32_t LiveCluster::DefaultPriority() const {
  return state_->priorities.DefaultPriority();
}

std::vector<std::string_view> LiveCluster::PriorityClassNames() const {
  std::vector<std::string_view> names;
  for (const PriorityClassFacts& entry : state_->priority_classes.items())
    names.push_back(state_->draft.cluster.Text(entry.name));
  std::sort(names.begin(), names.end());
  return names;
}

void LiveCluster::AssumeBinding(TaskId task, NodeId node) {
  ++version_;
  State& s = *state_;
  KRAFLA_CHECK(!s.stale || s.distrusted, "ids are of the tables as they are");
  Cluster& c = s.cluster();
  Task& fact = s.pod_of_task[task]->facts.task;
  fact.status = TaskStatus::kBinding;
  fact.node_name = c.nodes[node].name;
  if (s.stale) return;
  Task& row = c.tasks[task];
  KRAFLA_CHECK(row.status == TaskStatus::kPending && !row.node.valid(), c.TaskKey(task));
  row.status = fact.status;
  row.node_name = fact.node_name;
  row.node = node;
  auto& list = c.nodes[node].tasks;
  Insert(list, PlaceOf(list, task, ByTaskName{c}), task);
  s.TouchNode(node);
  if (row.job.valid()) s.TouchJob(row.job);
}

void LiveCluster::AssumeReleasing(TaskId task) {
  ++version_;
  State& s = *state_;
  KRAFLA_CHECK(!s.stale || s.distrusted, "ids are of the tables as they are");
  s.pod_of_task[task]->facts.task.status = TaskStatus::kReleasing;
  if (s.stale) return;
  Task& row = s.cluster().tasks[task];
  row.status = TaskStatus::kReleasing;
  if (row.job.valid()) s.TouchJob(row.job);
  if (row.node.valid()) s.TouchNode(row.node);
}

void LiveCluster::AssumePhase(JobId job, JobPhase phase) {
  ++version_;
  State& s = *state_;
  KRAFLA_CHECK(!s.stale || s.distrusted, "ids are of the tables as they are");
  s.group_of_job[job]->facts.job.phase = phase;
  if (s.stale) return;
  s.cluster().jobs[job].phase = phase;
  s.TouchJob(job);
}

void LiveCluster::DistrustTables() {
  state_->stale = state_->distrusted = true;
}

std::vector<LiveCluster::ObjectName> LiveCluster::NamesOf(ObjectName::Kind kind) const {
  const State& s = *state_;
  std::vector<ObjectName> names;
  switch (kind) {
    case ObjectName::Kind::kPodGroup:
      for (const auto& [key, group] : s.groups)
        names.push_back({kind, group.facts.job.ns, group.facts.job.name});
      break;
    case ObjectName::Kind::kPod:
      for (const auto& [key, pod] : s.pods)
        names.push_back({kind, pod.facts.task.ns, pod.facts.task.name});
      break;
    case ObjectName::Kind::kNode:
      for (const NodeFacts& node : s.nodes.items())
        names.push_back({kind, kEmptyStr, node.node.name});
      break;
    case ObjectName::Kind::kQueue:
      for (const QueueFacts& queue : s.queues.items())
        names.push_back({kind, kEmptyStr, queue.queue.name});
      break;
  }
  const Cluster& c = s.draft.cluster;
  std::sort(names.begin(), names.end(), [&](const ObjectName& a, const ObjectName& b) {
    const int order = c.Text(a.ns).compare(c.Text(b.ns));
    return order != 0 ? order < 0 : c.Text(a.name) < c.Text(b.name);
  });
  return names;
}

Cluster& LiveCluster::BuildWithout(std::span<const ObjectName> left_out) {
  state_->Build(left_out);
  DistrustTables();
  return state_->cluster();
}

Cluster& LiveCluster::cluster() {
  if (state_->stale) {
    state_->Build();
    ++rebuilds_;
  }
  state_->DeriveTouched();
  return state_->cluster();
}

const Cluster& LiveCluster::TablesAsTheyAre() const {
  return state_->draft.cluster;
}

bool LiveCluster::IsCrowded() const {
  return state_->crowding.IsTooMuch(state_->draft.cluster, state_->Objects());
}

void LiveCluster::Compact() {
  state_->Compact();
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