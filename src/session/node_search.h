// Which nodes may take a task, and which is best. Shared by all actions.
//
// The idea, in steps:
// 1. What a predicate says for good is asked once and kept, for all classes of tasks it cannot tell
//    apart (fixed_answers.h). So are scores, until the node changes (shared_scores.h).
// 2. Whether amounts fit is asked of columns, 64 nodes at a time (free_amounts.h). Predicates and
//    scores are asked only about nodes where they do: in a full cluster those are few.
// 3. Where answers depend on the node alone (its amounts, its number of pods, its ports) they are
//    kept per class, and brought up to date from the session's list of changed nodes: placing a pod
//    costs one node, not all. Whether a node passes is asked when it would be the best.
// 4. The best node is the maximum of kept scores; maxima of blocks of nodes are kept so that
//    finding it looks at a few dozen numbers.
// 5. Classes whose answers depend on more (affinity, spread, normalised scores) are asked about
//    the nodes with room each time: most pass, which is told of 64 at once, and the others are
//    asked one by one. Both ways give the same answers; a property test holds them together.
//
// Ties: nodes by name, the first of equals.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "session/doubtful_nodes.h"
#include "session/fixed_answers.h"
#include "session/free_amounts.h"
#include "session/node_ranking.h"
#include "session/refusal_memory.h"
#include "session/score_book.h"
#include "session/session.h"
#include "session/shortages.h"

namespace krafla {

class FittingNodes;
class ReasonCounts;

// How much may be kept.
struct NodeSearchLimits {
  size_t classes = 128 << 20;  // bytes of answers and scores that classes have
  size_t fitting = 16 << 20;   // bytes of which nodes they fit
  // Of candidates whose room is kept (CandidateRoom): one or two for each of the queues that
  // starve.
  size_t groups = 32;

  // Within a cycle queues come up one after the other, and so do classes, mostly for one job each:
  // what was kept of all of them would only push other things out of the cache.
  static NodeSearchLimits OfOneCycle() { return {.fitting = 4 << 20, .groups = 4}; }
};

class NodeSearch {
 public:
  explicit NodeSearch(Session& session, NodeSearchLimits limits = {});
  ~NodeSearch();

  // Between two sessions: what is kept per class is brought up to date when the class comes up.
  void Follow(const ClusterChanges& changes);
  // Nothing that is kept is good any more.
  void Forget();
  // Aborts when something that is kept and up to date is not what it would be if asked now.
  void Verify();

  // A table about nodes that an action keeps from session to session, brought up to date by the
  // session's node changes and forgotten with everything else here. One of each type.
  template <class T>
  T& Companion() {
    static const char kTag = 0;
    std::shared_ptr<void>& slot = companions_[&kTag];
    if (slot == nullptr) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

  const NodeSearchLimits& limits() const { return limits_; }

  // prePredicate: all plugins prepare; the first refusal is returned and refuses every node.
  Refusal Prepare(TaskId task);
  // Whether the answers for a task depend on each node alone.
  bool IsNodeLocal(TaskId task);
  bool WasPrepared(TaskId task) const { return prepared_[task.value]; }
  // In nodes_by_name.
  uint32_t PositionOf(NodeId node) const { return position_of_[node.value]; }
  // predicate: the refusal of the first plugin, in tier order, that has one. Prepare comes first.
  Refusal Check(TaskId task, NodeId node);
  // Whether the node refuses, and will whoever leaves it, until the task is prepared again. Not all
  // such refusals are known.
  bool StaysRefused(TaskId task, NodeId node) const;
  // Adds such nodes; bits by position in nodes_by_name.
  void AddStaysRefused(TaskId task, std::span<uint64_t> nodes) const;

  struct Choice {
    NodeId node;              // invalid: none
    bool idle = false;        // fits what is idle now; else only what will be
    bool unscorable = false;  // nodes fit, but none can be called the best
  };
  // For allocate: the best node that fits resources and predicates; nodes with idle room win over
  // nodes where room is only being made. `only`: look at no other node. `memory`: leave out, and
  // add, refusals of the task's role. When nothing fits, `error` says why.
  Choice FindForAllocate(TaskId task, NodeId only, RefusalMemory* memory, FitError& error);
  // For backfill: predicates only, then scores.
  NodeId FindForBackfill(TaskId task, FitError& error);

  // For preempt and reclaim: positions in nodes_by_name, in that order, of nodes whose refusal, if
  // any, evictions may lift. Nodes the task's earlier FitError calls unresolvable are left out.
  void FindForPreemption(TaskId task, RefusalMemory* memory, std::vector<uint32_t>& positions);
  // The same, from what is kept; not when scores, or which nodes evictions cannot help, depend on
  // more than each node alone. Scores are known of nodes that have been asked for since: those that
  // are allowed of some, a bit per position; or all of some, given by position.
  bool CanRank(TaskId task, const RefusalMemory* memory);
  NodeRanking RankForPreemption(TaskId task);
  void ScoreAllowed(TaskId task, std::span<const uint64_t> among);
  void ScoreAt(TaskId task, std::span<const uint32_t> positions);
  // How often all scores of its class have been forgotten; in between only those of nodes that
  // change are.
  uint32_t TimesForgotten(TaskId task) const;
  // By position: what the task's earlier FitError calls unresolvable; null: nothing.
  const std::vector<bool>* LeftOut(TaskId task) const;
  // Scores of nodes given by position.
  void Score(TaskId task, std::span<const uint32_t> positions, std::vector<double>& scores);

  // Whether every task of the role is of one class and its answers depend on the node alone: then
  // what was refused once stays refused while room only shrinks, and no RefusalMemory is needed.
  bool RefusalsOnlyGrow(TaskId task);

 private:
  struct ClassCache;

  ClassCache& CacheOf(ClassId cls);
  void MakeRoomForClass();
  FittingNodes& FittingOf(ClassId cls, ClassCache& cache);
  bool IsNodeLocal(ClassId cls) const;
  bool IsLiftable(ClassId cls) const;
  bool ScoresAreNodeLocal(ClassId cls) const;
  bool RoleHasOneClass(TaskId task);
  void Synchronize(TaskId task, ClassCache& cache);
  std::vector<bool> ChangedSince(size_t synced) const;
  void VerifyScores(ClassId cls, SharedScores& scores);
  void VerifyFitting(ClassId cls, const ClassCache& cache) const;
  void LookAtAll(TaskId task, ClassCache& cache);
  void LookAgain(TaskId task, ClassCache& cache, uint32_t position);
  bool Passes(TaskId task, ClassCache& cache, uint32_t position);
  void CatchUp(SharedScores& scores);
  void AskScores(ClassId cls, SharedScores& scores, std::span<const uint32_t> positions);
  void AskUnknown(ClassId cls, SharedScores& scores, std::span<const uint32_t> positions);
  void AskUnknownOf(ClassId cls, SharedScores& scores, std::span<uint64_t> nodes);
  Refusal CheckAt(TaskId task, const ClassCache& cache, uint32_t position);
  void LocalScores(ClassId cls, std::span<const NodeId> nodes, std::span<double> scores) const;
  Choice BestKept(TaskId task, ClassCache& cache);
  uint32_t BestAmong(TaskId task, ClassCache& cache, std::span<const uint64_t> nodes);
  uint32_t BestPosition(TaskId task, std::span<const uint32_t> positions);
  const FitError& ExplainKept(TaskId task, ClassCache& cache);
  FitError Explain(TaskId task, const ClassCache& cache, const RefusalMemory::Nodes* remembered,
                   bool with_resources);
  const PredicateHook* TheOneThatSpeaksOfMany() const;
  void CountShortages(TaskId task, std::span<uint64_t> nodes, ReasonCounts& counts);
  Refusal Insufficient(int kind);
  FreeAmounts& Free();

  Session& session_;
  Cluster& cluster_;
  const NodeSearchLimits limits_;
  std::unordered_map<const char*, std::shared_ptr<void>> companions_;
  FixedAnswerBook fixed_;
  ScoreBook scores_;
  FreeAmounts free_;
  std::vector<ReasonCode> insufficient_;  // by kind
  Table<ClassId, std::unique_ptr<ClassCache>> caches_;
  std::list<ClassId> used_;  // those there are, the one that has not been used longest first
  std::list<ClassId> fitting_used_;    // those that keep which nodes fit, in such an order
  size_t counted_ = 0;                 // how many classes there were when their bytes were counted
  std::vector<uint32_t> position_of_;  // by NodeId
  std::vector<bool> prepared_;         // by TaskId
  std::vector<uint32_t> refreshed_;    // by position: the last synchronization that looked at it
  uint32_t synchronizations_ = 0;
  // Of one call, kept for their memory.
  std::vector<uint32_t> unknown_;
  std::vector<uint64_t> row_;
  std::vector<uint64_t> future_;
  std::vector<uint64_t> idle_;
  DoubtfulNodes doubtful_;
  Shortages shortages_;
  // The one class of each role of a job; invalid where a role has several.
  std::unordered_map<JobId, std::vector<ClassId>> role_classes_;
  JobId role_classes_of_;                              // who asked last, and
  std::vector<ClassId>* last_role_classes_ = nullptr;  // what it has there
};

}  // namespace krafla
