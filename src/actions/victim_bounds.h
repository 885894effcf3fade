// Nodes where evictions cannot help although all candidates together would be enough: those whom
// plugins may let go are too few, or free too little of what the queue has too much of. Known from
// sums; no plugin votes.
//
// 1. Plugins bound their votes by numbers (VictimLevels): a candidate with too low a level is never
//    named. Tasks that need the same levels share the sums, whatever else they ask for: a job's
//    label, or the shape of its pods, makes no difference.
// 2. Tiers are summed up by themselves, since fewer tasks differ in what one tier needs. What the
//    second tier would let go counts only where the first may let nobody go.
// 3. Who counts on a node, and their levels, are gathered once for all sums.
// 4. Sums follow the session's changed nodes, and the nodes of jobs of which a level has changed:
//    these are marked, and added up again when somebody asks about them.
//
// The bounds are wide: what is left is asked. For preemption between jobs of a queue, and reclaim.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actions/victim_search.h"
#include "session/amount_columns.h"
#include "session/session.h"

namespace krafla {

class VictimBounds {
 public:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  explicit VictimBounds(Session& session) : session_(session) {}

  // Whether anything is known about whom a task may evict.
  bool Know(TaskId task, const VictimRule& rule) const;

  // A node of each kind that was taken off, by position.
  struct Taken {
    uint32_t for_votes = kNowhere;
    uint32_t for_share = kNowhere;
    // Some of them may do when jobs of candidates have lost tasks elsewhere.
    bool losses_matter = false;
    bool any() const { return for_votes != kNowhere || for_share != kNowhere; }
  };
  // What follows is about this task. Of one object all calls ask for the same, to preempt or to
  // reclaim.
  void Start(TaskId task, const VictimRule& rule);
  // Takes such nodes off a block's, a bit each; as things are now.
  uint64_t Narrow(size_t block, uint64_t nodes);
  // Off all blocks, none of which has been asked about since Start.
  void NarrowAll(std::span<uint64_t> nodes);
  // The candidates on a node, in its order of tasks; null when they are not known as things are.
  const std::vector<TaskId>* CandidatesOn(uint32_t position) const;
  // Of all blocks since Start.
  const Taken& taken() const { return taken_; }

 private:
  // What one tier may let go, for tasks of a queue that need the same levels.
  struct Sums {
    QueueId queue;
    size_t tier = 0;
    size_t first_voter = 0;          // of the tier, among all of them
    std::vector<int64_t> needed;     // by voter
    uint64_t used = 0;               // when it was last asked for
    size_t synced = 0;               // of changes_
    std::vector<uint64_t> stale;     // a bit per node: what follows has to be made anew
    AmountColumns room;              // with all of them gone
    std::vector<double> freed;       // by them; by node and kind
    std::vector<double> most_freed;  // by block and kind: no node there has ever had more
    std::vector<uint64_t> decided;   // a bit per node: somebody goes, later tiers are not asked
    std::vector<uint64_t> nobody;    // a bit per node: nobody goes
    std::vector<uint64_t> harmless;  // a bit per node: trying in vain would leave nothing behind
    // Which nodes have room for tasks of the class that asked last, a bit per node: a gang's tasks
    // ask one after the other, and of few nodes the sums have changed meanwhile.
    ClassId asked_by;
    std::vector<uint64_t> known;  // of these nodes it is known
    std::vector<uint64_t> fitting;
  };
  const std::vector<VotingTier>& Tiers() const { return session_.voting_tiers(asking_); }
  bool Counts(const Task& task, QueueId queue) const;
  void GatherFor(QueueId queue);
  void Gather(uint32_t position);
  void CatchUp();
  void Changed(NodeId node);
  bool IsUpToDate() const;
  void AskTiers();
  void NoteLevels(TaskId task);
  Sums& SumsOf(QueueId queue, size_t tier, TaskId task);
  void Begin(Sums& sums);
  void CatchUp(Sums& sums);
  void BringUpToDate(Sums& sums, size_t block, uint64_t nodes);
  void AddUp(Sums& sums, uint32_t position);
  struct TierQuestion;
  uint64_t NarrowBlock(size_t block, uint64_t nodes);
  uint64_t NodesThatFreeEnough(const Sums& sums, size_t block, uint64_t nodes) const;
  uint64_t NodesWithRoom(const TierQuestion& tier, size_t block, uint64_t nodes);

  Session& session_;
  // Made with the first sums.
  AmountSteps asked_steps_;
  Asking asking_ = Asking::kPreempt;
  std::vector<std::unique_ptr<Sums>> sums_;
  uint64_t asked_ = 0;
  // Nodes on which something has changed, in order; how far the session's lists are in it.
  std::vector<NodeId> changes_;
  size_t nodes_seen_ = 0;
  size_t tasks_seen_ = 0;
  // The levels that were last seen of a job, by job and voter; those of jobs nobody has touched are
  // not known.
  size_t voters_ = 0;
  std::vector<int64_t> levels_;
  std::vector<bool> levels_known_;  // by JobId
  std::vector<uint32_t> position_of_;
  // Who counts on each node, looked up once for all sums of a queue: tasks, their jobs and classes
  // lie all over the memory, and what follows from them is needed once per number that tasks need.
  struct Candidate {
    bool first_of_job;
    bool harmless;  // trying in vain would leave nothing behind
  };
  struct Gathered {
    std::vector<TaskId> tasks;
    std::vector<Candidate> candidates;
    std::vector<int64_t> levels;  // by candidate and voter
    std::vector<double> amounts;  // by candidate and kind
  };
  QueueId gathered_for_;
  std::vector<uint64_t> states_;       // of voters, as of then
  std::vector<uint64_t> is_gathered_;  // a bit per node
  std::vector<Gathered> gathered_;     // by position
  std::vector<double> future_idle_;    // by position and kind
  // Of one call, kept for their memory.
  std::vector<int64_t> needed_;
  std::vector<JobId> jobs_;
  struct TierQuestion {
    Sums* sums;
    AmountColumns::Question fits;
  };
  // Since Start.
  TaskId task_;
  VictimRule rule_;
  bool asks_share_ = false;
  Resource missing_;  // of the queue's share
  std::vector<TierQuestion> tiers_;
  Taken taken_;
};

}  // namespace krafla
