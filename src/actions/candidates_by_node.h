// Who could be evicted on each node for tasks of a queue, and what plugins' bounds say of them
// (VictimLevels): looked up once for all sums. Tasks, their jobs and classes lie all over the
// memory, and what follows from them is needed many times.
//
// Looked up when asked for; whoever keeps it says which nodes have changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/words_of_bits.h"
#include "session/amount_columns.h"
#include "session/session.h"

namespace krafla {

class CandidatesByNode {
 public:
  explicit CandidatesByNode(Session& session) : session_(session) {}

  struct Candidate {
    bool first_of_job;
    bool harmless;  // trying in vain would leave nothing behind
    QueueId queue;
  };
  struct OnNode {
    std::vector<TaskId> tasks;  // in the node's order of tasks
    std::vector<Candidate> candidates;
    std::vector<int64_t> levels;  // by candidate and voter
    std::vector<double> amounts;  // by candidate and kind
  };

  // Whose they are from now on. False: as before, and what is known is still good.
  bool Begin(QueueId queue, Asking asking);
  void Forget(uint32_t position) { SetBit(is_known_, position, false); }
  // Has those of some of a block's nodes looked up, a bit each.
  void Find(size_t block, uint64_t nodes);

  bool IsKnown(uint32_t position) const { return HasBit(is_known_, position); }
  const OnNode& At(uint32_t position) const { return on_[position]; }
  // What will be free there if nobody goes; by kind. Good also where candidates are not known,
  // until the node changes.
  const double* FutureIdle(uint32_t position) const {
    return &future_idle_[position * static_cast<size_t>(session_.cluster.kinds.size())];
  }

  // Where nobody would have to go for tasks of a class; a bit per node, by block. `steps`: of the
  // amounts that are asked for. Followed for the class that asked last.
  std::span<const uint64_t> NodesThatFit(ClassId cls, const AmountSteps& steps);

  // Numbers made in another order may differ in the last bits; a node too many is only asked.
  static constexpr double kSlack = 1;

 private:
  bool Counts(const Task& task) const;
  void FindAt(uint32_t position);
  void FollowIdle(uint32_t position);

  Session& session_;
  QueueId queue_;
  Asking asking_ = Asking::kPreempt;
  std::vector<uint64_t> states_;    // of voters, as of then
  std::vector<uint64_t> is_known_;  // a bit per node; empty before the first Begin
  std::vector<OnNode> on_;          // by position
  std::vector<double> future_idle_;
  // The same in columns, once somebody has asked.
  AmountColumns idle_;
  ClassId fits_for_;
  std::vector<uint64_t> fits_;
  std::vector<JobId> jobs_;  // of one call, kept for its memory
};

// What a voter's bound says of a candidate, and of a task; of those that say nothing, or know it
// exactly, candidates have enough.
int64_t LevelOf(const VictimLevels* voter, TaskId candidate);
int64_t LevelNeededBy(const VictimLevels* voter, TaskId task);

}  // namespace krafla
