// PodDisruptionBudgets as a ledger: which of them count a pod, and how many more each allows.
// Selectors are matched once per namespace and label set, and remembered per task: a vote costs an
// array lookup per candidate.
//
// Owned by the pdb plugin, one per session. The cluster must outlive it; its tables do not grow
// meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/undo_log.h"
#include "model/cluster.h"

namespace krafla {

class PodBudgets {
 public:
  struct Rules {
    // D14: a pod that is refused anyway costs nothing; in Volcano it uses up what its other budgets
    // allow.
    bool charge_only_the_allowed = true;
    // D21: no budget selects a pod without labels; in Volcano such a pod is never let go.
    bool unlabelled_may_go = true;
    // D14: pods that leave already, or are not ready any more, but that a budget's status still
    // counts as healthy are charged.
    // The status is written by a controller that may be a second behind, in which many cycles run.
    bool charge_the_leaving = true;
  };

  PodBudgets(const Cluster& cluster, Rules rules);

  // Sorts `tasks`, each counted after those before it, into those the budgets let go and those they
  // hold. What is left in the budgets is not changed.
  void Judge(std::span<const TaskId> tasks, std::vector<TaskId>& let_go, std::vector<TaskId>& held);

  // An eviction was decided, or taken back other than by a rollback. A rollback restores the ledger
  // by itself.
  void Charge(TaskId task, UndoLog& undo) { Add(task, -1, undo); }
  void Refund(TaskId task, UndoLog& undo) { Add(task, +1, undo); }

  // The budgets that count this task's eviction, as indices into Cluster::budgets.
  std::span<const uint32_t> BudgetsOf(TaskId task);
  int32_t Left(uint32_t budget) const { return left_[budget]; }

 private:
  void ChargeTheLeaving();
  void Add(TaskId task, int32_t amount, UndoLog& undo);
  uint32_t MatchOf(const Task& task);
  int32_t& LeftInThisCall(uint32_t budget);
  bool MayGo(TaskId task);

  const Cluster& cluster_;
  const Rules rules_;
  std::vector<int32_t> left_;  // by budget
  std::unordered_map<StrId, std::vector<uint32_t>> in_namespace_;

  // Lists of budgets; task_match_ holds an index into it plus one, 0 where nobody has asked yet.
  std::vector<std::vector<uint32_t>> matches_;
  std::unordered_map<uint64_t, uint32_t> match_of_labels_;  // by namespace and label set
  Table<TaskId, uint32_t> task_match_;

  // What is left while one list is judged: good for the budgets whose stamp is that of the call.
  uint32_t call_ = 0;
  std::vector<uint32_t> stamp_;
  std::vector<int32_t> left_in_call_;
};

}  // namespace krafla
