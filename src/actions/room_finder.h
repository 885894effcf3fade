// Finding a node on which room can be made for a task: which nodes are tried, in which order, and
// which need not be. For preempt and reclaim; the try itself is victim_search.h.
//
// 1. Nodes with refusals that no eviction lifts are left out (NodeSearch).
// 2. So are nodes where room would be short if every candidate went (CandidateRoom).
// 3. When many have looked in vain, nodes are left out where the plugins would not let enough go
//    (VictimBounds).
// 4. A "no" from everywhere is remembered (KnownInVain). Where nobody has as much as plugins ask
//    for, no node is asked again (LevelCeilings).
// 5. So is the whole search, for tasks that find the session as it was then (RepeatedSteps).
// 6. The next task of a gang goes on where the last one has found room (NodesInTurn).
// 7. Where a predicate refuses whoever goes, one node is tried and the others are passed over.
//
// None of this changes an answer. With log lines per node switched on, every node is tried.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actions/candidate_room.h"
#include "actions/dry_run.h"
#include "actions/known_in_vain.h"
#include "actions/level_ceilings.h"
#include "actions/nodes_in_turn.h"
#include "actions/repeated_steps.h"
#include "actions/victim_bounds.h"
#include "actions/victim_search.h"
#include "session/node_search.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

class RoomFinder {
 public:
  explicit RoomFinder(Session& session)
      : session_(session),
        evictable_(session),
        room_(session, evictable_),
        bounds_(session, evictable_),
        in_vain_(session),
        ceilings_(session, evictable_),
        repeated_(session) {}

  enum class Order {
    kBestScore,  // ties by name
    kName,
  };
  // Pipelines the task on a node, with evictions where needed; or leaves everything as it is.
  // NodeSearch::Prepare comes first. `memory` as for NodeSearch::FindForPreemption.
  bool FindRoom(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                RefusalMemory* memory);

  // How every statement ends in which FindRoom was called: what is known depends on it.
  void TakeBack(Statement& statement);
  // False: the cycle's eviction limit does not allow the evictions, and the statement was taken
  // back; `for_job` waits for them.
  bool Keep(Statement& statement, JobId for_job);

  // For dry runs of several nodes. Good until the next call.
  struct Nodes {
    size_t allowed = 0;  // on how many nodes evictions may help
    // A bit per position in nodes_by_name: those of them that would have room if every candidate
    // went.
    std::span<const uint64_t> with_room;
    DryRunResults* results = nullptr;  // what is known of them
  };
  Nodes NodesToCompare(TaskId task, const VictimRule& rule, RefusalMemory* memory);

 private:
  bool TryAll(Statement& statement, TaskId task, const VictimRule& rule, Order order,
              RefusalMemory* memory);
  // `has_key`: key_ is the key of this search.
  bool TryRanked(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                 const NodeRanking& ranking, bool has_key);
  bool Repeat(Statement& statement, TaskId task, const VictimRule& rule,
              const RepeatedSteps::Step& step);
  bool TryInOrder(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                  const NodeRanking& ranking, std::span<const uint64_t> with_room, bool has_key);
  bool MayNarrow(TaskId task, const VictimRule& rule) const;
  bool StartNarrowing(TaskId task, const VictimRule& rule);
  bool TryByName(Statement& statement, TaskId task, const VictimRule& rule,
                 const NodeRanking& ranking, std::span<const uint64_t> among);
  bool TryByScore(Statement& statement, TaskId task, const VictimRule& rule,
                  const NodeRanking& ranking, std::span<const uint64_t> with_room, bool goes_on);
  bool GoOn(TaskId task, const VictimRule& rule, const NodeRanking& ranking,
            std::span<const uint64_t> with_room);
  void LeaveOut(const NodeRanking& ranking, std::span<const uint64_t> with_room);
#ifdef KRAFLA_VERIFY
  void FindAnew(TaskId task, const VictimRule& rule, const NodeRanking& ranking,
                std::span<const uint64_t> with_room);
  void CheckTurn(TaskId task, const VictimRule& rule, uint32_t position);
  void CheckInVain(Statement& statement, TaskId task, const VictimRule& rule, uint32_t position);
  void CheckPassedOver(Statement& statement, TaskId task, const VictimRule& rule);
  size_t passed_over_ = 0;  // how many of them have been checked
  std::optional<VictimBounds> bounds_anew_;
  std::vector<uint32_t> anew_;  // nodes that may have to be tried, the first is last
#endif
  bool TryWithoutShare(Statement& statement, TaskId task, const VictimRule& rule,
                       const NodeRanking& ranking, std::span<const uint64_t> with_room);
  bool TryForTheRecord(Statement& statement, TaskId task, const VictimRule& rule,
                       const NodeRanking& ranking, const VictimBounds::Taken& taken);
  bool NobodyCanGo(TaskId task, const VictimRule& rule, KnownInVain::Record& known);
  bool TryAgain(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                const NodeRanking& ranking, std::span<const uint64_t> with_room);
  bool Try(Statement& statement, TaskId task, const VictimRule& rule, uint32_t position);
  bool FindCandidates(TaskId task, const VictimRule& rule, uint32_t position);
  bool TellsNothing() const;
  void PassOverRefusing(TaskId task);
  void CountPassedOver(bool done);
  void NoteNowhereEnough(TaskId task, const VictimRule& rule, const NodeRanking& ranking);
  void FindPositions(TaskId task, RefusalMemory* memory);
  DryRunResults& ResultsFor(TaskId task, const VictimRule& rule, const NodeRanking* ranking);
  void Replay(TaskId task, std::span<const TraceEvent> events);

  Session& session_;
  EvictableTasks evictable_;
  CandidateRoom room_;
  VictimBounds bounds_;
  bool narrows_ = false;        // this search asks them
  bool refusals_stay_ = false;  // in this search, whoever is evicted
  size_t tries_in_vain_ = 0;
  // By the hash of a search's key: how many tries the last one like it made in vain.
  static constexpr size_t kLastSearches = 1 << 9;
  struct LastSearch {
    size_t key = 0;  // its hash
    uint32_t in_vain = UINT32_MAX;
  };
  std::vector<LastSearch> tried_before_;  // by key, of those that have one place the last
  KnownInVain in_vain_;
  KnownInVain::Key key_;
  LevelCeilings ceilings_;
  RepeatedSteps repeated_;
  RoomMade made_;  // by the last try
  uint32_t position_made_ = 0;
  // What dry runs found, by the same keys as what is known to be in vain.
  struct Compared {
    KnownInVain::Since since;
    DryRunResults results;
  };
  static constexpr size_t kMaxCompared = 256;
  std::unordered_map<KnownInVain::Key, Compared, KnownInVain::Hash> compared_;
  DryRunResults not_kept_;
  // The last search, if its task has found room in order of scores.
  struct Last {
    JobId job;
    ClassId cls;
    VictimRule::Whose whose;
    NodeRanking ranking;
    bool narrows;
    size_t node_changes;       // when it began
    uint32_t times_forgotten;  // scores
    size_t in_vain;            // tries
  };
  std::optional<Last> last_;
  std::optional<Last> this_;
  NodesInTurn in_turn_;
  // Of one call; kept for their memory.
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> to_try_;
  std::vector<TaskId> candidates_;
  std::vector<uint64_t> bits_;
  std::vector<double> scores_;
  std::vector<std::pair<double, uint32_t>> heap_;
  bool losses_matter_ = false;        // some no may turn when a candidate's job loses a task
  std::vector<uint32_t> refused_;     // positions where only a predicate refused
  std::vector<TraceEvent> furthest_;  // events of the try that got furthest
};

}  // namespace krafla
