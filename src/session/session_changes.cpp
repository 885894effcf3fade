// The primitive changes of a session. Each one moves a task between states, keeps the sums of its
// job and node right, tells the plugins, and can be taken back by the undo log.
#include <algorithm>

#include "base/check.h"
#include "session/session.h"

namespace krafla {

namespace {

TaskChange::Kind KindOf(TaskStatus before, TaskStatus after) {
  auto holds_nothing = [](TaskStatus status) {
    return status == TaskStatus::kReleasing || status == TaskStatus::kPending;
  };
  if (holds_nothing(before) == holds_nothing(after)) return TaskChange::Kind::kOther;
  return holds_nothing(after) ? TaskChange::Kind::kLost : TaskChange::Kind::kGained;
}

// Where a task belongs in a list that is sorted by name. Mostly tasks are numbered in that order,
// and then names, which lie all over the memory, need not be read. Of tasks that came later, a
// place that was found by numbers is the right one if both neighbours say so.
size_t IndexByName(const Cluster& cluster, const std::vector<TaskId>& list, TaskId task) {
  const auto less = [&](TaskId a, TaskId b) { return cluster.TaskNameLess(a, b); };
  size_t index = 0;
  uint32_t highest = task.value;
  for (const TaskId other : list) {
    index += other.value < task.value ? 1 : 0;
    highest = std::max(highest, other.value);
  }
  const auto neighbours_agree = [&] {
    return (index == 0 || less(list[index - 1], task)) &&
           (index == list.size() || less(task, list[index]));
  };
  if (highest < cluster.tasks_by_name) {
#ifdef KRAFLA_VERIFY
    KRAFLA_CHECK(neighbours_agree(), "tasks are numbered as their names sort");
#endif
    return index;
  }
  if (neighbours_agree()) return index;
  return static_cast<size_t>(std::lower_bound(list.begin(), list.end(), task, less) - list.begin());
}

}  // namespace

void Session::SendAllocate(TaskId task) {
  for (const auto* handler : on_allocate_) (*handler)(task);
}

void Session::SendDeallocate(TaskId task) {
  for (const auto* handler : on_deallocate_) (*handler)(task);
}

// The status of a task, and how many tasks of its job and of its role have which. Where the task is
// must be the same as when this is reversed.
void Session::MoveBetween(TaskId id, TaskStatus before, TaskStatus status) {
  Task& task = cluster.tasks[id];
  task.status = status;
  if (!task.job.valid()) return;
  Job& job = cluster.jobs[task.job];
  JobRole& role = job.roles[task.role_index];
  const size_t from = static_cast<size_t>(before);
  const size_t to = static_cast<size_t>(status);
  ++job.changes;
  --job.count[from];
  ++job.count[to];
  --role.count[from];
  ++role.count[to];
  if (task.best_effort && (before == TaskStatus::kPending || status == TaskStatus::kPending)) {
    const int32_t step = status == TaskStatus::kPending ? 1 : -1;
    job.pending_best_effort += step;
    role.pending_best_effort += step;
  }
  if (before == TaskStatus::kReleasing || status == TaskStatus::kReleasing)
    if (task.node.valid() || task.node_name != kEmptyStr)
      job.releasing_on_node += status == TaskStatus::kReleasing ? 1 : -1;
}

void Session::SetStatus(TaskId id, TaskStatus status) {
  const TaskStatus before = cluster.tasks[id].status;
  if (before == status) return;
  constexpr auto reverse = [](Session& session, uint64_t word) {
    session.MoveBetween(TaskId(static_cast<uint32_t>(word)),
                        static_cast<TaskStatus>(word >> 32 & 0xff),
                        static_cast<TaskStatus>(word >> 40));
  };
  undo.Reversible<reverse>(*this, uint64_t{id.value} | static_cast<uint64_t>(status) << 32 |
                                      static_cast<uint64_t>(before) << 40);
  MoveBetween(id, before, status);
  Task& task = cluster.tasks[id];
  if (!task.job.valid()) return;
  task_changes_.push_back({id, KindOf(before, status)});
  Job& job = cluster.jobs[task.job];
  const bool held = IsAllocatedStatus(before);
  const bool holds = IsAllocatedStatus(status);
  if (held != holds) {
    undo.Save(job.allocated);
    if (holds) {
      job.allocated.Add(cluster.Request(id));
    } else {
      job.allocated.Sub(cluster.Request(id));
    }
  }
}

void Session::Place(TaskId id, NodeId node, TaskStatus status) {
  KRAFLA_CHECK(status == TaskStatus::kAllocated || status == TaskStatus::kPipelined);
  kube.EnsureBuilt();
  Task& task = cluster.tasks[id];
  KRAFLA_CHECK(task.status == TaskStatus::kPending, cluster.TaskKey(id));
  SetStatus(id, status);
  undo.Save(task.node);
  task.node = node;
  auto& list = cluster.nodes[node].tasks;
  const size_t index = IndexByName(cluster, list, id);
  list.insert(list.begin() + static_cast<ptrdiff_t>(index), id);
  undo.Inserted(list, index);
  const Resource& request = cluster.Request(id);
  if (status == TaskStatus::kPipelined) {
    undo.Save(cluster.pipelined[node]);
    cluster.pipelined[node].Add(request);
  } else {
    undo.Save(cluster.idle[node]);
    undo.Save(cluster.used[node]);
    cluster.idle[node].Sub(request);
    cluster.used[node].Add(request);
  }
  node_changes_.push_back(node);
  SendAllocate(id);
}

void Session::Unplace(TaskId id) {
  Task& task = cluster.tasks[id];
  const TaskStatus before = task.status;
  const NodeId node = task.node;
  KRAFLA_CHECK(before == TaskStatus::kAllocated || before == TaskStatus::kPipelined,
               cluster.TaskKey(id));
  SetStatus(id, TaskStatus::kPending);
  status_before_event_ = before;
  auto& list = cluster.nodes[node].tasks;
  auto at = std::find(list.begin(), list.end(), id);
  KRAFLA_CHECK(at != list.end(), cluster.TaskKey(id));
  undo.Erasing(list, static_cast<size_t>(at - list.begin()));
  list.erase(at);
  const Resource& request = cluster.Request(id);
  if (before == TaskStatus::kPipelined) {
    undo.Save(cluster.pipelined[node]);
    cluster.pipelined[node].Sub(request);
  } else {
    undo.Save(cluster.idle[node]);
    undo.Save(cluster.used[node]);
    cluster.idle[node].Add(request);
    cluster.used[node].Sub(request);
  }
  node_changes_.push_back(node);
  SendDeallocate(id);
  undo.Save(task.node);
  task.node = NodeId{};
}

void Session::MarkReleasing(TaskId id) {
  kube.EnsureBuilt();
  const NodeId node = cluster.tasks[id].node;
  status_before_event_ = cluster.tasks[id].status;
  SetStatus(id, TaskStatus::kReleasing);
  if (node.valid()) {
    undo.Save(cluster.releasing[node]);
    cluster.releasing[node].Add(cluster.Request(id));
    node_changes_.push_back(node);
  }
  SendDeallocate(id);
}

void Session::UnmarkReleasing(TaskId id, TaskStatus before) {
  const NodeId node = cluster.tasks[id].node;
  SetStatus(id, before);
  if (node.valid()) {
    undo.Save(cluster.releasing[node]);
    cluster.releasing[node].Sub(cluster.Request(id));
    node_changes_.push_back(node);
  }
  SendAllocate(id);
}

void Session::Rollback(Mark mark) {
  if (undo.Now() == mark.log) return;
  undo.RollbackTo(mark.log);
  kube.NoteRollback();
  for (const auto* handler : on_rollback_) (*handler)();
  // A handler that does something again leaves the nodes it touches other than they were.
  if (undo.Now() != mark.log) (void)node_changes_.Look();
  node_changes_.TakeBack(mark.node_changes);
  task_changes_.TakeBack(mark.task_changes);
  ForgetThatTheyWereOnlyBound();
}

void Session::NoteEvictionUndone(TaskId task) {
  const UndoLog::Mark before = undo.Now();
  for (const auto* handler : on_eviction_undone_) (*handler)(task);
  const NodeId node = cluster.tasks[task].node;
  if (undo.Now() != before && node.valid()) node_changes_.push_back(node);
  if (compat.exact_undo || cluster.tasks[task].status != TaskStatus::kBound) return;
  undone_.push_back(task);
  ForgetThatTheyWereOnlyBound();
}

void Session::NoteTriedInVain(std::span<const TaskId> victims) {
  for (const TaskId victim : victims) NoteEvictionUndone(victim);
}

bool Session::TriedInVainMatters(TaskId victim) const {
  if (!compat.exact_undo && cluster.tasks[victim].status == TaskStatus::kBound) return true;
  return std::any_of(plugins_.begin(), plugins_.end(), [&](const OpenPlugin& open) {
    const PluginHooks& hooks = open.hooks;
    return hooks.on_eviction_undone &&
           (!hooks.eviction_undone_matters || hooks.eviction_undone_matters(victim));
  });
}

// Volcano puts every pod whose eviction it takes back among the running ones, also one that was
// only bound. A later rollback of ours brings the old status back, so this is done again after
// each.
void Session::ForgetThatTheyWereOnlyBound() {
  for (TaskId task : undone_)
    if (cluster.tasks[task].status == TaskStatus::kBound) {
      SetStatus(task, TaskStatus::kRunning);
      if (cluster.tasks[task].node.valid()) node_changes_.push_back(cluster.tasks[task].node);
    }
}

}  // namespace krafla
