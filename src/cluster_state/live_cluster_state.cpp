#include "cluster_state/live_cluster_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/check.h"
#include "cluster_state/derive_sums.h"
#include "cluster_state/fact_mover.h"
#include "cluster_state/sorted_ids.h"

namespace krafla {

bool IsWhole(const Resource& amounts) {
  constexpr double kLimit = 0x1p53;
  for (uint64_t rest = amounts.mask(); rest != 0; rest &= rest - 1) {
    const double amount = amounts.Get(std::countr_zero(rest));
    if (amount < 0 || amount >= kLimit || amount != std::floor(amount)) return false;
  }
  return true;
}

void LiveCluster::State::Build(std::span<const ObjectName> left_out) {
  Cluster& c = cluster();
  const std::set<ObjectName> without(left_out.begin(), left_out.end());
  using Kind = ObjectName::Kind;
  const auto counts = [&](Kind kind, StrId ns, StrId name) {
    return without.empty() || !without.contains({kind, ns, name});
  };
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
  if (!without.empty()) {
    std::erase_if(draft.queues, [&](const QueueFacts& queue) {
      return !counts(Kind::kQueue, kEmptyStr, queue.queue.name);
    });
    std::erase_if(draft.nodes, [&](const NodeFacts& node) {
      return !counts(Kind::kNode, kEmptyStr, node.node.name);
    });
  }
  draft.groups.clear();
  for (const auto& [key, group] : groups)
    if (counts(Kind::kPodGroup, group.facts.job.ns, group.facts.job.name))
      draft.groups.push_back(group.facts);
  draft.pods = {};
  draft.pods.Expect(pods.size());
  for (const auto& [key, pod] : pods)
    if (counts(Kind::kPod, pod.facts.task.ns, pod.facts.task.name))
      draft.pods.Add(PodFacts(pod.facts));
  draft.groups_without_queue.clear();

  AssembleQueues(draft, warnings);
  AssembleJobs(draft, warnings);
  AssembleNodes(draft);
  AssembleTasks(draft, warnings);
  classes = std::make_unique<TaskClasses>(c, indexes.labels, draft.options, whole_keys);
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
  without_queue.clear();
  without_class.clear();
  for (auto& [key, group] : groups) {
    group.job = JobId{};
    if (draft.groups_without_queue.contains(key)) without_queue.insert(&group);
    NoteClassOf(group);
  }
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
  without_claims.clear();
  for (auto& [key, pod] : pods) {
    if (!pod.task.valid() && pod.facts.ours) without_claims.insert(&pod);
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
  ++node_sizes_version;
  has_whole_amounts = std::all_of(c.allocatable.begin(), c.allocatable.end(), IsWhole);
  // Building adds a few values of its own.
  if (std::exchange(compacted, false)) crowding.NoteAllAlive(c, Objects());
  crowding.NoteBuilt(c);
  stale = distrusted = false;
}

size_t LiveCluster::State::Objects() const {
  return pods.size() + groups.size() + nodes.size() + queues.size() + priority_classes.size() +
         namespaces.size() + budgets.size() + claims.size() + volumes.size() +
         storage_classes.size() + csi_nodes.size();
}

void LiveCluster::State::Compact() {
  Cluster fresh;
  ValueIndexes fresh_indexes;
  fresh.kinds = cluster().kinds;  // few, and numbered by name
  FactMover mover(cluster(), ValuePool(fresh, fresh_indexes));
  const auto move = [&](auto& facts) {
    KRAFLA_CHECK(mover.Move(facts), "kinds of resources that were numbered can be");
  };
  // Entries stay where they are.
  const auto move_entries = [&](auto& entries, auto&& key_of) {
    auto before = std::exchange(entries, {});
    while (!before.empty()) {
      auto entry = before.extract(before.begin());
      move(entry.mapped().facts);
      entry.key() = key_of(entry.mapped().facts);
      entries.insert(std::move(entry));
    }
  };
  move_entries(pods, [](const PodFacts& pod) { return NameKey(pod.task.ns, pod.task.name); });
  move_entries(groups,
               [](const PodGroupFacts& group) { return NameKey(group.job.ns, group.job.name); });
  const auto by_name = [](const auto& item) { return uint64_t{item.name.value}; };
  const auto by_full_name = [](const auto& item) { return NameKey(item.ns, item.name); };
  nodes.ChangeAll(move, [](const NodeFacts& facts) { return uint64_t{facts.node.name.value}; });
  queues.ChangeAll(move, [](const QueueFacts& facts) { return uint64_t{facts.queue.name.value}; });
  priority_classes.ChangeAll(move, by_name);
  namespaces.ChangeAll(move, by_name);
  budgets.ChangeAll(move, by_full_name);
  claims.ChangeAll(move, by_full_name);
  volumes.ChangeAll(move, by_name);
  storage_classes.ChangeAll(move, by_name);
  csi_nodes.ChangeAll(move, [](const CsiNode& node) { return uint64_t{node.node.value}; });

  Cluster& c = cluster();
  c.strings = std::move(fresh.strings);
  c.label_sets = std::move(fresh.label_sets);
  c.specs = std::move(fresh.specs);
  c.classes.Resize(0);
  indexes = std::move(fresh_indexes);
  whole_keys.clear();  // of strings that have other numbers now
  stale = true;
  compacted = true;
  crowding.NoteAllAlive(c, Objects());
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
  return cluster().kinds.size() == kinds_known && classes->Cover(cluster().specs[pod.task.spec]);
}

namespace {

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

void LiveCluster::State::NoteClassOf(const GroupEntry& entry) {
  const StrId name = entry.facts.job.priority_class;
  if (name != kEmptyStr && priorities.Find(name) == nullptr) {
    without_class.insert(&entry);
  } else {
    without_class.erase(&entry);
  }
}

void LiveCluster::State::InsertTask(PodEntry& entry) {
  if (!Visible(entry)) {
    if (entry.facts.ours) without_claims.insert(&entry);
    return;
  }
  Cluster& c = cluster();
  AddNamespaceOf(entry.facts.task.ns);
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
  without_claims.erase(&entry);
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
  c.tasks_by_name = std::min(c.tasks_by_name, id.value);  // another may be there now
}

void LiveCluster::State::SetUnready(PodEntry& entry, bool unready) {
  entry.facts.task.unready = unready;
  if (!stale && entry.task.valid()) cluster().tasks[entry.task].unready = unready;
}

void LiveCluster::State::InsertJob(GroupEntry& entry, Job job) {
  Cluster& c = cluster();
  AddNamespaceOf(job.ns);
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

namespace {

// Where the row of that name is in a list by name, or belongs.
auto PlaceOf(std::vector<Namespace>& rows, StrId name, const Cluster& c) {
  return std::lower_bound(
      rows.begin(), rows.end(), c.Text(name),
      [&](const Namespace& row, std::string_view text) { return c.Text(row.name) < text; });
}

auto PlaceOf(std::vector<PodDisruptionBudget>& rows, StrId ns, StrId name, const Cluster& c) {
  return std::find_if_not(rows.begin(), rows.end(), [&](const PodDisruptionBudget& row) {
    return NamespacedLess(c.Text(row.ns), c.Text(row.name), c.Text(ns), c.Text(name));
  });
}

}  // namespace

// Rows may move. A session's AffinityTerms point into them, but are made anew when it is opened
// again (KubeFacts::StillHold is false where there are any), and nobody asks them in between.
void LiveCluster::State::SetNamespace(Namespace ns) {
  Cluster& c = cluster();
  const StrId name = ns.name;
  ns = WithOwnName(std::move(ns), c.strings);
  const auto at = PlaceOf(c.namespaces, name, c);
  if (namespaces_known.insert(name).second) {
    c.namespaces.insert(at, std::move(ns));
  } else {
    *at = std::move(ns);
  }
}

void LiveCluster::State::AddNamespaceOf(StrId name) {
  if (!namespaces_known.contains(name)) SetNamespace({.name = name, .labels = {}});
}

void LiveCluster::State::SetBudget(PodDisruptionBudget budget) {
  Cluster& c = cluster();
  const auto at = PlaceOf(c.budgets, budget.ns, budget.name, c);
  if (at != c.budgets.end() && at->ns == budget.ns && at->name == budget.name) {
    *at = std::move(budget);
  } else {
    c.budgets.insert(at, std::move(budget));
  }
}

void LiveCluster::State::RemoveBudget(StrId ns, StrId name) {
  Cluster& c = cluster();
  c.budgets.erase(PlaceOf(c.budgets, ns, name, c));
}

}  // namespace krafla
