// Nodes where evictions cannot help although all candidates together would be enough: those whom
// plugins may let go are too few, or free too little of what the queue has too much of. Known from
// sums; no plugin votes.
//
// 1. Plugins bound their votes by numbers (VictimLevels): a candidate with too low a level is never
//    named. Tasks that need the same levels share the sums, whatever else they ask for: a job's
//    label, or the shape of its pods, makes no difference.
// 2. Tiers are summed up by themselves, since fewer tasks differ in what one tier needs. What the
//    second tier would let go counts only where the first may let nobody go.
// 3. Who counts on a node is looked up once for all sums (candidates_by_node.h).
// 4. Where nearly every task needs another level, sums would be made for each. Instead the highest
//    level on a node is compared with what the task needs (highest_levels.h), and those who have
//    enough are summed up when a node is about to be tried.
// 5. Sums follow the session's changed nodes, and the nodes of jobs of which a level has changed:
//    these are marked, and added up again when somebody asks about them.
//
// The bounds are wide: what is left is asked. For preemption between jobs of a queue, and reclaim.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actions/bound_rows.h"
#include "actions/candidates_by_node.h"
#include "actions/highest_levels.h"
#include "actions/victim_search.h"
#include "session/amount_columns.h"
#include "session/session.h"

namespace krafla {

class VictimBounds {
 public:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  VictimBounds(Session& session, EvictableTasks& evictable)
      : session_(session), candidates_(session, evictable) {}

  // Whether anything is known about whom a task may evict.
  bool Know(TaskId task, const VictimRule& rule) const;

  // Some node of each kind that was taken off, by position.
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
  // The same for another task of its job and class, when tasks before it have changed something.
  // True: whatever has been taken off would be so again, but on some nodes, by position, that are
  // added to `changed`.
  bool GoOn(TaskId task, std::vector<uint32_t>& changed);
  // Takes such nodes off a block's, a bit each; as things are now.
  uint64_t Narrow(size_t block, uint64_t nodes);
  // Off all blocks, none of which has been asked about since Start. For that the highest level on a
  // node is looked at alone: of one that is left, and about to be tried, more is known.
  void NarrowAll(std::span<uint64_t> nodes);
  bool MightDo(uint32_t position);
  // After GoOn, what NarrowAll would leave of a block's nodes that have not changed; and whether it
  // would leave one that has.
  uint64_t StillLeft(size_t block, uint64_t nodes) const;
  bool IsLeft(uint32_t position);
  // The candidates on a node, in its order of tasks. False: they are not known as things are.
  bool FindCandidatesOn(uint32_t position, std::vector<TaskId>& candidates) const;
  // Leaves of some nodes those on which a try in vain would leave nothing behind, as far as that is
  // known; to preempt.
  void KeepHarmless(std::span<uint64_t> nodes);
  // Of all blocks since Start.
  const Taken& taken();

 private:
  // What one tier may let go, for tasks of the queue that need the same levels.
  struct Sums {
    size_t tier = 0;
    size_t first_voter = 0;             // of the tier, among all of them
    std::vector<int64_t> needed;        // by voter
    uint64_t made = 0;                  // when it was first asked for
    uint64_t used = 0;                  // … and last
    size_t synced = 0;                  // of changes_
    std::vector<uint64_t> stale;        // a bit per node: what follows has to be made anew
    AmountColumns room;                 // with all of them gone; if anybody asks for it
    std::vector<double> freed;          // by them; by node and kind; empty when there is `room`
    std::vector<double> most_freed;     // by block and kind: no node there has ever had more
    std::vector<double> most_anywhere;  // by kind
    std::vector<uint64_t> decided;      // a bit per node: somebody goes, later tiers are not asked
    std::vector<uint64_t> nobody;       // a bit per node: nobody goes
    std::vector<uint64_t> harmless;     // a bit per node: trying in vain would leave nothing behind
    // Which nodes have room for tasks of the class that asked last, a bit per node: a gang's tasks
    // ask one after the other, and of few nodes the sums have changed meanwhile. All of them where
    // the only voter knows levels exactly: nodes that are asked about have room with everybody
    // gone, and who would go is added up when a node is about to be tried.
    ClassId asked_by;
    std::vector<uint64_t> known;  // of these nodes it is known
    std::vector<uint64_t> fitting;
  };
  const std::vector<VotingTier>& Tiers() const { return session_.voting_tiers(asking_); }
  bool AskAbout(QueueId queue);
  void CatchUp();
  void Changed(NodeId node);
  bool IsUpToDate() const;
  bool AskTiers();
  void NoteLevels(TaskChange change);
  void FollowLevels(JobId job);
  Sums& SumsOf(size_t tier, TaskId task);
  void Begin(Sums& sums);
  void CatchUp(Sums& sums);
  void BringUpToDate(Sums& sums, size_t block, uint64_t nodes);
  void AddUp(Sums& sums, uint32_t position, double* room);
  bool GivesMore(const VictimLevels& voter, CandidatesByNode::Candidate candidate);
  struct TierQuestion;
  bool AsksRoom(size_t tier) const;
  void FindRoomForAnother(TierQuestion& tier);
  void FindOut(TierQuestion& tier, size_t block, uint64_t nodes);
  void FindOutTiers(size_t block, uint64_t nodes);
  uint64_t Judge(size_t block, uint64_t nodes);
  BoundRows RowsOf(const TierQuestion& tier) const;
  void FindOutAll(TierQuestion& tier, std::span<const uint64_t> nodes);
  uint64_t NodesWithShare(const Sums& sums, size_t block, uint64_t nodes) const;
  uint64_t NodesThatFreeEnough(const Sums& sums, size_t block, uint64_t nodes) const;
  bool MayFreeEnough(const Sums& sums) const;
  template <class Freed>
  bool FreesEnough(Freed&& freed) const;
  bool MissesAllOf(const Resource& before) const;
  struct Named {
    bool nobody = true;
    bool have_room = true;
    bool have_share = true;
    bool harmless = true;
    bool Do() const { return have_room && (have_share || !harmless); }
  };
  Named NamedOn(const TierQuestion& tier, uint32_t position) const;
  bool NobodyIsNamedOn(const TierQuestion& tier, uint32_t position) const;
  uint64_t NodesThatNameSomebody(const TierQuestion& tier, size_t block, uint64_t nodes) const;
  uint64_t NodesWithLess(const TierQuestion& tier, size_t block, uint64_t nodes) const;
  struct ExactVoter;
  void FindHighest(size_t block, uint64_t nodes);
  void FindHighest(uint32_t position);
  void ForgetHighest(uint32_t position);

  Session& session_;
  AmountSteps asked_steps_;  // made when first needed
  Asking asking_ = Asking::kPreempt;
  QueueId queue_;                             // whose turn it is
  std::vector<std::unique_ptr<Sums>> sums_;   // of that queue
  std::vector<std::unique_ptr<Sums>> spare_;  // kept for their memory
  uint64_t asked_ = 0;
  // Nodes on which something has changed since the queue's turn began, in order; how far the
  // session's lists are in it.
  std::vector<NodeId> changes_;
  size_t changes_before_ = 0;          // … when the task came that GoOn goes on from
  std::vector<uint32_t> may_be_more_;  // positions where only exact levels may have risen since
  size_t nodes_seen_ = 0;
  size_t tasks_seen_ = 0;
  // The levels that were last seen of a job, by job and voter; those of jobs nobody has touched are
  // not known.
  size_t voters_ = 0;
  std::vector<int64_t> levels_;
  std::vector<bool> levels_known_;  // by JobId
  struct LevelsMoved {
    bool changed = false;
    bool may_rise = false;
    bool may_fall = false;
    bool any() const { return may_rise || may_fall; }
  };
  std::vector<LevelsMoved> levels_moved_;  // by JobId; of those that are touched:
  std::vector<JobId> touched_jobs_;
  std::vector<uint32_t> position_of_;
  CandidatesByNode candidates_;
  std::span<const uint64_t> fits_idle_;  // where nobody has to go; only with exact levels
  // Voters who know levels exactly, one of a tier.
  struct ExactVoter {
    size_t tier;
    size_t number;  // among them
    const VictimLevels* levels;
    HighestLevels highest;
  };
  std::vector<ExactVoter> exact_;
  std::vector<uint64_t> fallen_;  // a bit per node: levels there may be lower than is known
  // Of one call, kept for their memory.
  std::vector<int64_t> needed_;
  std::vector<std::pair<const VictimLevels*, QueueId>> givers_;
  std::vector<double> taken_from_;  // by giver and kind
  std::vector<double> room_;        // of nodes of a block, by kind
  struct TierQuestion {
    Sums* sums;
    AmountColumns::Question fits;
    uint64_t made = 0;  // the sums
    bool asks_room = false;
    ExactVoter* exact = nullptr;  // null: there is none
    double exactly_needed = 0;
    std::span<const uint64_t> may_have;   // by block
    std::span<const uint64_t> have_more;  // by block
  };
  // Since Start.
  TaskId task_;
  VictimRule rule_;
  bool asks_share_ = false;
  Resource missing_;  // of the queue's share
  std::vector<TierQuestion> tiers_;
  // Of one call, kept for their memory.
  std::vector<TierQuestion> tiers_before_;
  std::vector<uint64_t> row_;
  std::vector<uint64_t> to_compare_;
  std::vector<uint64_t> undecided_;
  std::vector<uint64_t> decided_;
  std::vector<uint64_t> to_look_up_;
  Taken taken_;  // but for asked_about_
  std::vector<uint64_t> asked_about_;
};

}  // namespace krafla
