// A transaction on the session: evictions, pipelines and allocations that count at once for every
// later question and either all become part of the plan or leave no trace. Discards itself when
// neither committed nor kept.
//
// Statements nest like scopes: a later one ends before an earlier one goes on.
#pragma once

#include <optional>
#include <vector>

#include "session/session.h"

namespace krafla {

class Statement {
 public:
  explicit Statement(Session& session);
  // Rolls back, which may fail a check inside a RecoveryScope (base/recovery.h).
  ~Statement() noexcept(false);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void Allocate(TaskId task, NodeId node);
  void Pipeline(TaskId task, NodeId node, bool eviction_occurred);
  // `for_task`: who will take the place.
  void Evict(TaskId task, TaskId for_task, EvictionReason reason, uint64_t permitted_by);

  struct Savepoint {
    Session::Mark mark;
    size_t operations;
  };
  // Where the session was when it began.
  Session::Mark begin() const { return begin_; }
  Savepoint Save() const { return {session_.MarkNow(), operations_.size()}; }
  // Takes back what was done since.
  void RollbackTo(Savepoint savepoint);

  // An eviction that nobody will want to take back, for nobody's sake; part of the plan at once.
  static void EvictForGood(Session& session, TaskId task, EvictionReason reason,
                           uint64_t permitted_by);

  // Takes over the operations of a statement that began after this one.
  void Merge(Statement&& inner);
  // Whether its evictions fit into the cycle's eviction limit; they count then, and Commit must
  // follow. Otherwise `for_job` waits for them, and Discard must follow.
  bool TakeEvictions(JobId for_job);
  // Everything becomes part of the plan: binds and evictions are issued.
  void Commit();
  void Discard();
  // The marks stay in the session for the rest of the cycle, nothing is issued: a job that is only
  // pipelined.
  void Keep();

  bool HasEvictions() const;
  bool empty() const { return operations_.empty(); }

 private:
  enum class Kind : uint8_t { kEvict, kPipeline, kAllocate };
  struct Operation {
    Kind kind;
    TaskId task;
    NodeId node;
    TaskId for_task;
    EvictionReason reason = EvictionReason::kPreempt;
    uint64_t permitted_by = 0;
    TaskStatus before = TaskStatus::kPending;
  };

  void Note(const Operation& operation);
  void End();
  void SpareSuperfluousVictims();
  bool HasRoomWith(TaskId victim) const;
  bool EveryoneStillFits();
  void ForgetEvictionsFor(TaskId task);

  Session& session_;
  std::optional<UndoLog::Hold> hold_;  // until it ends
  Session::Mark begin_;
  std::vector<Operation> operations_;
  bool spared_ = false;  // SpareSuperfluousVictims was called
};

}  // namespace krafla
