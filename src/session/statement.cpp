#include "session/statement.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "session/node_search.h"

namespace krafla {

Statement::Statement(Session& session)
    : session_(session), hold_(session.undo), begin_(session.MarkNow()) {}

Statement::~Statement() noexcept(false) {
  // After a failed check the session is discarded as it is: a rollback of half-changed tables might
  // fail again, and a second exception would end the program.
  if (hold_ && std::uncaught_exceptions() == 0) Discard();
}

void Statement::Note(const Operation& operation) {
  constexpr size_t kUsual = 16;
  if (operations_.empty()) operations_.reserve(kUsual);
  operations_.push_back(operation);
}

void Statement::End() {
  operations_.clear();
  hold_.reset();
}

void Statement::Allocate(TaskId task, NodeId node) {
  session_.trace.Add({TraceKind::kAllocate, 0, 0, task.value, node.value});
  session_.Place(task, node, TaskStatus::kAllocated);
  Note({.kind = Kind::kAllocate, .task = task, .node = node, .for_task = {}});
}

void Statement::Pipeline(TaskId task, NodeId node, bool eviction_occurred) {
  session_.trace.Add({TraceKind::kPipeline, 0, 0, task.value, node.value});
  session_.Place(task, node, TaskStatus::kPipelined);
  bool& occurred = session_.cluster.tasks[task].eviction_occurred;
  session_.undo.Save(occurred);
  occurred = eviction_occurred;
  Note({.kind = Kind::kPipeline, .task = task, .node = node, .for_task = {}});
}

void Statement::Evict(TaskId task, TaskId for_task, EvictionReason reason, uint64_t permitted_by) {
  const Task& t = session_.cluster.tasks[task];
  session_.trace.Add(
      {TraceKind::kEvict, 0, static_cast<uint16_t>(reason), task.value, for_task.value});
  Note({.kind = Kind::kEvict,
        .task = task,
        .node = t.node,
        .for_task = for_task,
        .reason = reason,
        .permitted_by = permitted_by,
        .before = t.status});
  session_.MarkReleasing(task);
}

void Statement::EvictForGood(Session& session, TaskId task, EvictionReason reason,
                             uint64_t permitted_by) {
  session.trace.Add(
      {TraceKind::kEvict, 0, static_cast<uint16_t>(reason), task.value, TaskId{}.value});
  session.plan.evictions.push_back({task, session.cluster.tasks[task].node,
                                    session.current_action(), TaskId{}, reason, permitted_by});
  session.MarkReleasing(task);
}

void Statement::RollbackTo(Savepoint savepoint) {
  session_.Rollback(savepoint.mark);
  for (size_t i = operations_.size(); i-- > savepoint.operations;)
    if (operations_[i].kind == Kind::kEvict) session_.NoteEvictionUndone(operations_[i].task);
  operations_.resize(savepoint.operations);
}

void Statement::Merge(Statement&& inner) {
  KRAFLA_CHECK(hold_ && inner.hold_ && inner.begin_.log >= begin_.log, "statements nest");
  operations_.insert(operations_.end(), inner.operations_.begin(), inner.operations_.end());
  inner.End();
}

void Statement::Discard() {
  if (session_.log.V(3)) session_.log.Line("Discarding operations ...");
  RollbackTo({begin_, 0});
  End();
}

void Statement::Keep() {
  End();
}

bool Statement::HasEvictions() const {
  return std::any_of(operations_.begin(), operations_.end(),
                     [](const Operation& o) { return o.kind == Kind::kEvict; });
}

bool Statement::TakeEvictions(JobId for_job) {
  if (!session_.eviction_limit.on()) return true;
  if (session_.compat.reprieve) SpareSuperfluousVictims();
  const auto evictions = std::count_if(operations_.begin(), operations_.end(),
                                       [](const Operation& o) { return o.kind == Kind::kEvict; });
  return session_.eviction_limit.Take(static_cast<int32_t>(evictions), /*is_drain=*/false, for_job);
}

void Statement::Commit() {
  if (session_.compat.reprieve) SpareSuperfluousVictims();
  if (session_.log.V(3)) session_.log.Line("Committing operations ...");
  for (const Operation& o : operations_) {
    switch (o.kind) {
      case Kind::kEvict:
        session_.plan.evictions.push_back(
            {o.task, o.node, session_.current_action(), o.for_task, o.reason, o.permitted_by});
        break;
      case Kind::kAllocate:
        session_.SetStatus(o.task, TaskStatus::kBinding);
        session_.plan.binds.push_back({o.task, o.node, session_.current_action()});
        break;
      case Kind::kPipeline:
        break;
    }
  }
  End();
}

// Whether a victim's node would have room, were it put back, for whom this statement has pipelined
// there. Mostly not: then nobody need be put back to see it.
bool Statement::HasRoomWith(TaskId victim) const {
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.tasks[victim].node;
  if (!node.valid()) return true;
  Resource releasing = cluster.releasing[node];
  releasing.Sub(cluster.Request(victim));
  Resource left = cluster.idle[node];
  left.Add(releasing);
  left.Sub(cluster.pipelined[node]);
  return std::none_of(operations_.begin(), operations_.end(), [&](const Operation& o) {
    if (o.kind != Kind::kPipeline || o.node != node) return false;
    Resource room = left;
    const Resource& request = cluster.Request(o.task);
    return !request.LessEqual(room.Add(request), Missing::kZero);
  });
}

// Whether every task this statement pipelined would still get its place, were it taken out and
// asked again.
bool Statement::EveryoneStillFits() {
  Cluster& cluster = session_.cluster;
  NodeSearch& search = session_.node_search();
  for (const Operation& o : operations_) {
    if (o.kind != Kind::kPipeline) continue;
    const TaskId task = o.task;
    const Session::Mark mark = session_.MarkNow();
    session_.Unplace(task);
    const QueueId queue = cluster.jobs[cluster.tasks[task].job].queue;
    const bool fits = session_.Allocatable(queue, task) &&
                      cluster.Request(task).LessEqual(cluster.FutureIdle(o.node), Missing::kZero) &&
                      !search.Prepare(task).refused() && !search.Check(task, o.node).refused();
    session_.Rollback(mark);
    if (!fits) return false;
  }
  return true;
}

// Puts victims back, the last one evicted first, as long as everybody the statement pipelined keeps
// a place.
void Statement::SpareSuperfluousVictims() {
  if (std::exchange(spared_, true)) return;
  for (size_t i = operations_.size(); i-- > 0;) {
    const Operation o = operations_[i];
    // Who is evicted for nobody is not evicted to make room.
    if (o.kind != Kind::kEvict || !o.for_task.valid()) continue;
    if (!HasRoomWith(o.task)) continue;
    const Session::Mark mark = session_.MarkNow();
    session_.UnmarkReleasing(o.task, o.before);
    if (EveryoneStillFits()) {
      operations_.erase(operations_.begin() + static_cast<ptrdiff_t>(i));
      ForgetEvictionsFor(o.for_task);
    } else {
      session_.Rollback(mark);
    }
  }
}

// A task of which every victim was put back waits for nobody.
void Statement::ForgetEvictionsFor(TaskId task) {
  const bool some_left =
      std::any_of(operations_.begin(), operations_.end(),
                  [&](const Operation& o) { return o.kind == Kind::kEvict && o.for_task == task; });
  bool& occurred = session_.cluster.tasks[task].eviction_occurred;
  if (some_left || !occurred) return;
  session_.undo.Save(occurred);
  occurred = false;
}

}  // namespace krafla
