#include "actions/room_finder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "actions/starving_jobs.h"
#include "base/check.h"
#include "base/words_of_bits.h"
#include "session/rows_of_bits.h"

namespace krafla {

namespace {

constexpr uint32_t kWord = 64;

// So many tries in vain are less work than bounds.
constexpr uint32_t kFew = 4;

// Calls f with the position of each node in `among` that is allowed, by name, until f says false.
// `keep` may leave out some of a word's nodes when their turn comes.
template <class Keep, class F>
void ForEachAllowed(const NodeRanking& ranking, std::span<const uint64_t> among, Keep&& keep,
                    F&& f) {
  ForEachWordNotZero(
      among.size(), [&](size_t word) { return among[word] & ranking.allowed[word]; },
      [&](size_t word, uint64_t bits) {
        for (bits = keep(word, bits); bits != 0; bits &= bits - 1) {
          const uint32_t p =
              static_cast<uint32_t>(word) * kWord + static_cast<uint32_t>(std::countr_zero(bits));
          if (ranking.IsAllowed(p) && !f(p)) return false;
        }
        return true;
      });
}

constexpr auto kKeepAll = [](size_t, uint64_t bits) { return bits; };

// How far a try got that ended with this event.
int Distance(const TraceEvent& event) {
  return event.code * 2 + (event.c > 0 ? 1 : 0);
}
constexpr int DistanceWithCandidates(ShortCode code) {
  return static_cast<int>(code) * 2 + 1;
}

}  // namespace

bool RoomFinder::FindRoom(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                          RefusalMemory* memory) {
  furthest_.clear();
  refused_.clear();
  narrows_ = false;
  refusals_stay_ = false;
  losses_matter_ = false;
  last_ = std::exchange(this_, std::nullopt);
  NodeSearch& search = session_.node_search();
  if (session_.log.V(3) || !search.CanRank(task, memory)) {
    repeated_.NoteUnknown();
    return TryAll(statement, task, rule, order, memory);
  }
  const bool has_key = in_vain_.MakeKey(task, rule, search.LeftOut(task), key_);
  std::optional<NodeRanking> ranking;
  const bool is_local = search.IsNodeLocal(task);
  // Volcano judges by what it counted before the evictions.
  refusals_stay_ = !is_local && rule.checks_everything && !session_.compat.predicate_error_cache;
  // Steps are repeated only where each node answers for itself.
  const bool repeats = has_key && is_local;
  if (repeats) {
    if (const RepeatedSteps::Step* step = repeated_.Find(key_)) {
      const ClassId cls = session_.cluster.tasks[task].cls;
      if (order == Order::kBestScore && repeated_.NeedsScores(cls)) {
        ranking = search.RankForPreemption(task);
        search.ScoreAt(task, repeated_.changed());
        repeated_.SetScores(cls, *ranking->scores);
      }
      if (repeated_.Holds(*step, order == Order::kName))
        return Repeat(statement, task, rule, *step);
    }
  }
  if (!ranking) ranking = search.RankForPreemption(task);
  made_.node = NodeId{};
  const bool done = TryRanked(statement, task, rule, order, *ranking, has_key);
  const double score = order == Order::kBestScore && done ? (*ranking->scores)[position_made_] : 0;
  if (repeats) {
    repeated_.Note(made_, position_made_, score, furthest_);
  } else {
    repeated_.NoteUnknown();
  }
  return done;
}

void RoomFinder::TakeBack(Statement& statement) {
  repeated_.WillBeTakenBack();
  statement.Discard();
  repeated_.WasTakenBack(statement);
}

bool RoomFinder::Keep(Statement& statement, JobId for_job) {
  if (!statement.TakeEvictions(for_job)) {
    NoteHeldBack(session_, for_job);
    statement.Discard();
    // Victims that were superfluous have been put back: its steps are not those that were searched.
    repeated_.WasKept();
    return false;
  }
  statement.Commit();
  repeated_.WasKept();
  return true;
}

bool RoomFinder::Repeat(Statement& statement, TaskId task, const VictimRule& rule,
                        const RepeatedSteps::Step& step) {
  Replay(task, step.furthest);
  const RoomMade& made = step.made;
  repeated_.Taken();
  if (!made.node.valid()) return false;
  session_.trace.Add({TraceKind::kTryTask, 0, 0, task.value, made.node.value});
  for (const TaskId victim : made.evicted)
    statement.Evict(victim, task, rule.reason(), made.permitted_by);
  statement.Pipeline(task, made.node, made.frees_something);
  return true;
}

void RoomFinder::FindPositions(TaskId task, RefusalMemory* memory) {
  NodeSearch& search = session_.node_search();
  search.FindForPreemption(task, memory, positions_);
  if (positions_.empty() && !session_.cluster.nodes_by_name.empty())
    NoteSkipped(session_, task, SkipCode::kNoNode,
                search.Check(task, session_.cluster.nodes_by_name.front()).reason);
}

RoomFinder::Nodes RoomFinder::NodesToCompare(TaskId task, const VictimRule& rule,
                                             RefusalMemory* memory) {
  Nodes nodes;
  std::optional<NodeRanking> ranking;
  if (session_.node_search().CanRank(task, memory))
    ranking = session_.node_search().RankForPreemption(task);
  const std::span<const uint64_t> with_room = room_.NodesFor(task, rule);
  bits_.assign(with_room.size(), 0);
  if (ranking && ranking->left_out == nullptr && ranking->AnyAllowed()) {
    nodes.allowed = ranking->Count();
    SetToBoth(bits_, with_room, ranking->allowed);
  } else {
    FindPositions(task, memory);
    nodes.allowed = positions_.size();
    for (const uint32_t p : positions_)
      if (HasBit(with_room, p)) bits_[p / kWord] |= uint64_t{1} << (p % kWord);
  }
  nodes.with_room = bits_;
  const bool keeps = ranking && session_.node_search().IsNodeLocal(task);
  nodes.results = &ResultsFor(task, rule, keeps ? &*ranking : nullptr);
  return nodes;
}

// Where answers depend on more than each node nothing is kept.
DryRunResults& RoomFinder::ResultsFor(TaskId task, const VictimRule& rule,
                                      const NodeRanking* ranking) {
  if (ranking == nullptr || session_.log.V(3) ||
      !in_vain_.MakeKey(task, rule, ranking->left_out, key_)) {
    not_kept_.clear();
    return not_kept_;
  }
  if (compared_.size() >= kMaxCompared && !compared_.contains(key_)) compared_.clear();
  Compared& kept = compared_[key_];
  if (in_vain_.ChangedNodes(kept.since, true, positions_)) {
    for (const uint32_t p : positions_) kept.results.erase(p);
  } else {
    kept.results.clear();
  }
  kept.since = in_vain_.Now();
  return kept.results;
}

// Answers that depend on more than each node: all nodes are scored, since scores are relative to
// those of the others, and asked unless they would be short of room without all candidates. When
// that is so everywhere, one is tried all the same: it says what is missing.
bool RoomFinder::TryAll(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                        RefusalMemory* memory) {
  FindPositions(task, memory);
  const bool tries_everywhere = session_.log.V(3);
  const std::span<const uint64_t> with_room =
      tries_everywhere ? std::span<const uint64_t>() : room_.NodesFor(task, rule);
  const auto may_have_room = [&](uint32_t p) { return tries_everywhere || HasBit(with_room, p); };
  const bool nowhere = std::none_of(positions_.begin(), positions_.end(), may_have_room);
  if (order == Order::kName) {
    if (nowhere && !positions_.empty()) return Try(statement, task, rule, positions_.front());
    return std::any_of(positions_.begin(), positions_.end(), [&](uint32_t p) {
      return may_have_room(p) && Try(statement, task, rule, p);
    });
  }
  session_.node_search().Score(task, positions_, scores_);
  if (!scores_.empty() && std::isnan(scores_[0])) {
    if (session_.log.V(3))
      session_.log.Line("Failed to {} Task for Preemptor <{}>, err: its nodes cannot be scored",
                        rule.verb(), session_.cluster.TaskKey(task));
    return false;
  }
  // Most tasks are done at the first node or soon after, so a heap instead of sorting all.
  heap_.clear();
  for (size_t i = 0; i < positions_.size(); ++i)
    if (nowhere || may_have_room(positions_[i])) heap_.emplace_back(scores_[i], positions_[i]);
  auto worse = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  std::make_heap(heap_.begin(), heap_.end(), worse);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    const uint32_t position = heap_.back().second;
    heap_.pop_back();
    if (Try(statement, task, rule, position)) return true;
    if (nowhere) break;
  }
  return false;
}

bool RoomFinder::TryRanked(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                           const NodeRanking& ranking, bool has_key) {
  if (!ranking.AnyAllowed()) {
    if (!session_.cluster.nodes_by_name.empty())
      NoteSkipped(
          session_, task, SkipCode::kNoNode,
          session_.node_search().Check(task, session_.cluster.nodes_by_name.front()).reason);
    return false;
  }
  KnownInVain::Record* known = has_key ? in_vain_.Find(key_) : nullptr;
  if (known != nullptr && (in_vain_.IsAsThen(*known) || NobodyCanGo(task, rule, *known))) {
#ifdef KRAFLA_VERIFY
    for (uint32_t p = 0; p < session_.cluster.nodes_by_name.size(); ++p)
      if (ranking.IsAllowed(p)) CheckInVain(statement, task, rule, p);
#endif
    Replay(task, known->furthest);
    furthest_ = known->furthest;
    return false;
  }
  const std::span<const uint64_t> with_room = room_.NodesFor(task, rule);
  const KnownInVain::Since begin = in_vain_.Now();
  if (known != nullptr && !in_vain_.NodesToAskAgain(*known, positions_)) known = nullptr;
  if (known != nullptr) {
    losses_matter_ = known->losses_matter;
    if (TryAgain(statement, task, rule, order, ranking, with_room)) return true;
    if (!losses_matter_)
      ceilings_.NoteNobodyNamed(session_.cluster.jobs[session_.cluster.tasks[task].job].queue);
    Replay(task, known->furthest);
    if (furthest_.empty() ||
        (!known->furthest.empty() && Distance(furthest_.back()) < Distance(known->furthest.back())))
      furthest_ = known->furthest;
  } else {
    if (TryInOrder(statement, task, rule, order, ranking, with_room, has_key)) return true;
    if (furthest_.empty()) NoteNowhereEnough(task, rule, ranking);
  }
  const Session::Mark statement_began = statement.begin();
  if (has_key)
    in_vain_.Remember(key_, {statement_began.node_changes, statement_began.task_changes}, begin,
                      known != nullptr ? &positions_ : nullptr, losses_matter_, refused_,
                      furthest_);
  return false;
}

bool RoomFinder::TryInOrder(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                            const NodeRanking& ranking, std::span<const uint64_t> with_room,
                            bool has_key) {
  if (rule.checks_everything && !room_.HasCandidates()) {
    const QueueId queue = session_.cluster.jobs[session_.cluster.tasks[task].job].queue;
    if (!session_.Allocatable(queue, task))
      return TryWithoutShare(statement, task, rule, ranking, with_room);
  }
  // Whoever asks what somebody has asked before, and was soon content, will be so again.
  uint32_t* before = nullptr;
  if (has_key) {
    tried_before_.resize(kLastSearches);
    const size_t key = KnownInVain::Hash{}(key_);
    LastSearch& last = tried_before_[key % kLastSearches];
    if (last.key != key) last = {.key = key};
    before = &last.in_vain;
  }
  const bool goes_on = order == Order::kBestScore && GoOn(task, rule, ranking, with_room);
  if (!goes_on) narrows_ = (before == nullptr || *before > kFew) && StartNarrowing(task, rule);
  const size_t in_vain_before = tries_in_vain_;
  const bool done = order == Order::kBestScore
                        ? TryByScore(statement, task, rule, ranking, with_room, goes_on)
                        : TryByName(statement, task, rule, ranking, with_room);
  if (before != nullptr) *before = static_cast<uint32_t>(tries_in_vain_ - in_vain_before);
  if (done || !narrows_) return done;
  if (goes_on) {
    // What is left out was so for a task before: it is told of this one.
    bounds_.Start(task, rule);
    LeaveOut(ranking, with_room);
    ForEachAllowed(ranking, in_turn_.among(), kKeepAll, [&](uint32_t p) {
      (void)bounds_.MightDo(p);
      return true;
    });
  }
  const VictimBounds::Taken taken = bounds_.taken();
  return taken.any() && TryForTheRecord(statement, task, rule, ranking, taken);
}

// Nobody can go, and the queue has no share for the task: no node will do, whichever it is. The
// first that has room says so.
bool RoomFinder::TryWithoutShare(Statement& statement, TaskId task, const VictimRule& rule,
                                 const NodeRanking& ranking, std::span<const uint64_t> with_room) {
  bool done = false;
  ForEachAllowed(ranking, with_room, kKeepAll, [&](uint32_t p) {
    done = Try(statement, task, rule, p);
    return !done && !losses_matter_;  // they do: it was the share, not the room
  });
  return done;
}

// Whether nodes are to be left out where the plugins would not let enough go. Sums are worth it
// when many have been asked in vain: making them is like asking some more.
bool RoomFinder::MayNarrow(TaskId task, const VictimRule& rule) const {
  return tries_in_vain_ >= session_.cluster.nodes_by_name.size() / 4 && bounds_.Know(task, rule);
}

bool RoomFinder::StartNarrowing(TaskId task, const VictimRule& rule) {
  if (!MayNarrow(task, rule)) return false;
  bounds_.Start(task, rule);
  return true;
}

// What was known before is tried on one node all the same: it says what is missing.
bool RoomFinder::TryForTheRecord(Statement& statement, TaskId task, const VictimRule& rule,
                                 const NodeRanking& ranking, const VictimBounds::Taken& taken) {
  losses_matter_ |= taken.losses_matter;
  const bool share = taken.for_share != VictimBounds::kNowhere;
  constexpr int kVictimsShort = DistanceWithCandidates(ShortCode::kVictims);
  if (!furthest_.empty() && (!share || Distance(furthest_.back()) > kVictimsShort)) return false;
  const uint32_t position = share ? taken.for_share : taken.for_votes;
  if (!ranking.IsAllowed(position)) return false;
  const bool done = Try(statement, task, rule, position);
#ifdef KRAFLA_VERIFY
  KRAFLA_CHECK(!done, "a node that was left out would not have done");
#endif
  return done;
}

// Where room is to be looked for: nodes that may have any, but those left out by bounds.
void RoomFinder::LeaveOut(const NodeRanking& ranking, std::span<const uint64_t> with_room) {
  std::vector<uint64_t>& among = in_turn_.among();
  among.resize(with_room.size());
  SetToBoth(among, with_room, ranking.allowed);
  if (narrows_) bounds_.NarrowAll(among);
}

bool RoomFinder::TryByScore(Statement& statement, TaskId task, const VictimRule& rule,
                            const NodeRanking& ranking, std::span<const uint64_t> with_room,
                            bool goes_on) {
  const Task& t = session_.cluster.tasks[task];
  const size_t node_changes = session_.node_changes().size();
  const size_t in_vain_before = tries_in_vain_;
  if (!goes_on) {
    // Leaving a node out is less work than scoring it.
    LeaveOut(ranking, with_room);
    session_.node_search().ScoreAllowed(task, in_turn_.among());
    in_turn_.Start(ranking);
  }
#ifdef KRAFLA_VERIFY
  FindAnew(task, rule, ranking, with_room);
#endif
  bool may_pass_over = narrows_ && refusals_stay_;
  for (uint32_t p = in_turn_.Next(); p != NodesInTurn::kEnd; p = in_turn_.Next()) {
#ifdef KRAFLA_VERIFY
    CheckPassedOver(statement, task, rule);
#endif
    if (narrows_ && !bounds_.MightDo(p)) continue;
#ifdef KRAFLA_VERIFY
    CheckTurn(task, rule, p);
#endif
    if (Try(statement, task, rule, p)) {
      CountPassedOver(true);
      this_ = {.job = t.job,
               .cls = t.cls,
               .whose = rule.whose,
               .ranking = ranking,
               .narrows = narrows_,
               .node_changes = node_changes,
               .times_forgotten = session_.node_search().TimesForgotten(task),
               .in_vain = tries_in_vain_ - in_vain_before};
      return true;
    }
    in_turn_.KeepForNext(p);
    if (may_pass_over && !refused_.empty() && TellsNothing()) {
      PassOverRefusing(task);
      may_pass_over = false;
    }
  }
#ifdef KRAFLA_VERIFY
  CheckPassedOver(statement, task, rule);
  CheckTurn(task, rule, NodesInTurn::kEnd);
#endif
  CountPassedOver(false);
  return false;
}

#ifdef KRAFLA_VERIFY
// The nodes on which the task would be tried by a search that knows nothing of those before.
void RoomFinder::FindAnew(TaskId task, const VictimRule& rule, const NodeRanking& ranking,
                          std::span<const uint64_t> with_room) {
  std::vector<uint64_t> nodes(with_room.begin(), with_room.end());
  for (size_t word = 0; word < nodes.size(); ++word) nodes[word] &= ranking.allowed[word];
  if (narrows_) {
    bounds_anew_.emplace(session_, evictable_).Start(task, rule);
    bounds_anew_->NarrowAll(nodes);
  }
  session_.node_search().ScoreAllowed(task, nodes);
  BestFirst best_first;
  best_first.Start(ranking, nodes);
  passed_over_ = 0;
  anew_.clear();
  for (uint32_t p = best_first.Next(); p != BestFirst::kEnd; p = best_first.Next())
    anew_.push_back(p);
  std::reverse(anew_.begin(), anew_.end());
}

// It is this node's turn: those before it would not do.
void RoomFinder::CheckTurn(TaskId task, const VictimRule& rule, uint32_t position) {
  // A try since then may have left something behind.
  const auto might_do_now = [&](uint32_t p) {
    VictimBounds bounds(session_, evictable_);
    bounds.Start(task, rule);
    std::vector<uint64_t> nodes((session_.cluster.nodes_by_name.size() + kWord - 1) / kWord);
    SetBit(nodes, p, true);
    bounds.NarrowAll(nodes);
    return HasBit(nodes, p) && bounds.MightDo(p);
  };
  // Bounds that have followed may be wider than new ones.
  if (position != NodesInTurn::kEnd &&
      std::find(anew_.begin(), anew_.end(), position) == anew_.end())
    return;
  for (; !anew_.empty() && anew_.back() != position; anew_.pop_back())
    KRAFLA_CHECK(narrows_ && (in_turn_.IsPassedOver(anew_.back()) ||
                              !bounds_anew_->MightDo(anew_.back()) || !might_do_now(anew_.back())),
                 "every node that may do has its turn");
  if (!anew_.empty()) anew_.pop_back();
}

// A node that is not tried would be tried in vain, and nothing would be left behind.
void RoomFinder::CheckInVain(Statement& statement, TaskId task, const VictimRule& rule,
                             uint32_t position) {
  const UndoLog::Mark before = session_.undo.Now();
  const NodeId node = session_.cluster.nodes_by_name[position];
  KRAFLA_CHECK(MakeRoomOnNode(session_, statement, task, node, rule) != MakeRoom::kDone &&
                   session_.undo.Now() == before,
               "who need not be tried would be tried in vain");
}

void RoomFinder::CheckPassedOver(Statement& statement, TaskId task, const VictimRule& rule) {
  for (; passed_over_ < in_turn_.PassedOver().size(); ++passed_over_)
    CheckInVain(statement, task, rule, in_turn_.PassedOver()[passed_over_]);
}
#endif

// Whether the search can go on where the last one has stopped, which was for a task like this one.
// Nodes that may answer otherwise come again.
bool RoomFinder::GoOn(TaskId task, const VictimRule& rule, const NodeRanking& ranking,
                      std::span<const uint64_t> with_room) {
  const Task& t = session_.cluster.tasks[task];
  if (!last_ || last_->job != t.job || last_->cls != t.cls || last_->whose != rule.whose ||
      !ranking.by_node || !last_->ranking.IsSameTable(ranking))
    return false;
  // What was tried in vain will be again: bounds may know better.
  if (!last_->narrows && last_->in_vain > kFew && MayNarrow(task, rule)) return false;
  positions_.clear();
  if (last_->narrows) {
    if (!bounds_.Know(task, rule) || !bounds_.GoOn(task, positions_)) return false;
  } else {
    for (const NodeId node : session_.node_changes().From(last_->node_changes))
      positions_.push_back(session_.node_search().PositionOf(node));
  }
  narrows_ = last_->narrows;
  in_turn_.GoOn(positions_);
  std::erase_if(positions_, [&](uint32_t p) {
    return !HasBit(with_room, p) || !ranking.IsAllowed(p) || (narrows_ && !bounds_.IsLeft(p));
  });
  NodeSearch& search = session_.node_search();
  search.ScoreAt(task, positions_);
  if (search.TimesForgotten(task) != last_->times_forgotten) return false;
  in_turn_.ComeAgain(
      positions_,
      narrows_ ? [this](size_t block, uint64_t nodes) { return bounds_.StillLeft(block, nodes); }
               : BestFirst::Keep());
  return true;
}

bool RoomFinder::TryByName(Statement& statement, TaskId task, const VictimRule& rule,
                           const NodeRanking& ranking, std::span<const uint64_t> among) {
  bool done = false;
  const auto keep = [&](size_t word, uint64_t bits) {
    return narrows_ ? bounds_.Narrow(word, bits) : bits;
  };
  ForEachAllowed(ranking, among, keep, [&](uint32_t p) {
    done = Try(statement, task, rule, p);
    return !done;
  });
  return done;
}

// Whether a search that was in vain before is so again, because nobody has what plugins ask for and
// no node has room as it is.
bool RoomFinder::NobodyCanGo(TaskId task, const VictimRule& rule, KnownInVain::Record& known) {
  return rule.whose == VictimRule::Whose::kOtherJobsOfQueue && bounds_.Know(task, rule) &&
         !ceilings_.MayNameSomebody(task) && in_vain_.NoneHasRoom(known, task);
}

// Only the nodes in positions_, where something has changed.
bool RoomFinder::TryAgain(Statement& statement, TaskId task, const VictimRule& rule, Order order,
                          const NodeRanking& ranking, std::span<const uint64_t> with_room) {
  std::erase_if(positions_,
                [&](uint32_t p) { return !HasBit(with_room, p) || !ranking.IsAllowed(p); });
  // A few are asked sooner than sums are brought up to date.
  constexpr size_t kMany = 32;
  narrows_ = positions_.size() >= kMany && StartNarrowing(task, rule);
  if (narrows_) {
    bits_.assign(with_room.size(), 0);
    for (const uint32_t p : positions_) bits_[p / kWord] |= uint64_t{1} << (p % kWord);
    ForEachWordNotZero(
        bits_.size(), [&](size_t word) { return bits_[word]; },
        [&](size_t word, uint64_t bits) {
          bits_[word] = bounds_.Narrow(word, bits);
          return true;
        });
    losses_matter_ |= bounds_.taken().losses_matter;
  }
  to_try_.clear();
  std::copy_if(positions_.begin(), positions_.end(), std::back_inserter(to_try_),
               [&](uint32_t p) { return !narrows_ || HasBit(bits_, p); });
  if (order == Order::kBestScore) session_.node_search().ScoreAt(task, to_try_);
  std::sort(to_try_.begin(), to_try_.end(), [&](uint32_t a, uint32_t b) {
    if (order == Order::kBestScore && (*ranking.scores)[a] != (*ranking.scores)[b])
      return (*ranking.scores)[a] > (*ranking.scores)[b];
    return a < b;
  });
  return std::any_of(to_try_.begin(), to_try_.end(),
                     [&](uint32_t p) { return Try(statement, task, rule, p); });
}

// Whether one more node where a predicate refuses makes no difference to what is told.
bool RoomFinder::TellsNothing() const {
  constexpr int kFurthest = DistanceWithCandidates(ShortCode::kPredicate);
  return session_.trace.dropped() > 0 ||
         (!furthest_.empty() && Distance(furthest_.back()) == kFurthest);
}

// Nodes where a predicate refuses the task whoever goes, and a try would leave nothing behind: with
// pods that are spread over zones whole zones are such, again and again for the tasks of a gang.
// For the next task it may be others.
void RoomFinder::PassOverRefusing(TaskId task) {
  bits_.assign(in_turn_.among().size(), 0);
  session_.node_search().AddStaysRefused(task, bits_);
  bounds_.KeepHarmless(bits_);
  in_turn_.PassOver(bits_);
}

// They are tries in vain like others.
void RoomFinder::CountPassedOver(bool done) {
  const std::span<const uint32_t> passed = in_turn_.PassedOver();
  tries_in_vain_ += passed.size();
  if (done) return;
  std::copy_if(passed.begin(), passed.end(), std::back_inserter(refused_),
               [&](uint32_t p) { return bounds_.MightDo(p); });
}

// Sets candidates_ to those on a node, in its order of tasks. False: that would be no gain over
// collecting them. Most tasks of a node are of other queues, which is told without looking at them.
bool RoomFinder::FindCandidates(TaskId task, const VictimRule& rule, uint32_t position) {
  const Cluster& cluster = session_.cluster;
  if (narrows_ && bounds_.FindCandidatesOn(position, candidates_)) {
    FetchTasksAndJobs(cluster, candidates_);
    return true;
  }
  if (rule.whose == VictimRule::Whose::kOwnJob || !evictable_.HasAll()) return false;
  evictable_.CatchUp();
  const Task& for_task = cluster.tasks[task];
  const EvictableTasks::Side side{.asking = rule.asking(),
                                  .queue = cluster.jobs[for_task.job].queue};
  candidates_.clear();
  for (const TaskId id : cluster.nodes[cluster.nodes_by_name[position]].tasks)
    if (evictable_.Counts(side, id)) candidates_.push_back(id);
  FetchTasksAndJobs(cluster, candidates_);
  std::erase_if(candidates_, [&](TaskId id) {
    return CandidacyOf(cluster, rule.whose, for_task, cluster.tasks[id]) != Candidacy::kCandidate;
  });
  return true;
}

bool RoomFinder::Try(Statement& statement, TaskId task, const VictimRule& rule, uint32_t position) {
  const NodeId node = session_.cluster.nodes_by_name[position];
  const size_t begin = session_.trace.events().size();
  const bool known = FindCandidates(task, rule, position);
  const MakeRoom made =
      MakeRoomOnNode(session_, statement, task, node, rule, &made_, known ? &candidates_ : nullptr);
  position_made_ = position;
  if (made == MakeRoom::kDone) return true;
  ++tries_in_vain_;
  losses_matter_ |= made != MakeRoom::kNoForTheNode;
  if (made == MakeRoom::kNoForThePredicate) refused_.push_back(position);
  // Kept for tasks that will not try: what was tried, who was spared last, what was missing.
  const Trace::Events& events = session_.trace.events();
  if (events.size() < begin + 2 || events.back().kind != TraceKind::kShort) return false;
  if (!furthest_.empty() && Distance(events.back()) <= Distance(furthest_.back())) return false;
  furthest_.assign(1, events[begin]);
  for (size_t i = events.size(); i-- > begin;) {
    if (events[i].kind != TraceKind::kVeto) continue;
    furthest_.push_back(events[i]);
    break;
  }
  furthest_.push_back(events.back());
  return false;
}

// No node was tried, because nowhere the candidates could be enough: said of the first node, by
// name, that has any, or of the first that is allowed.
void RoomFinder::NoteNowhereEnough(TaskId task, const VictimRule& rule,
                                   const NodeRanking& ranking) {
  const uint32_t n = static_cast<uint32_t>(ranking.scores->size());
  uint32_t chosen = n;
  std::vector<TaskId> candidates;
  for (uint32_t p = 0; p < n && candidates.empty(); ++p) {
    if (!ranking.IsAllowed(p) || (chosen != n && !room_.HasCandidates(p))) continue;
    CollectCandidates(session_, session_.cluster.nodes_by_name[p], task, rule, candidates);
    if (chosen == n || !candidates.empty()) chosen = p;
    if (!room_.HasCandidates()) break;
  }
  if (chosen == n) return;
  const NodeId node = session_.cluster.nodes_by_name[chosen];
  furthest_ = {{TraceKind::kTryTask, 0, 0, task.value, node.value},
               {TraceKind::kShort, 0, static_cast<uint16_t>(ShortCode::kCandidates), task.value,
                node.value, static_cast<uint32_t>(candidates.size())}};
  Replay(task, furthest_);
}

// What holds for a task like this one, said of this one.
void RoomFinder::Replay(TaskId task, std::span<const TraceEvent> events) {
  for (TraceEvent event : events) {
    if (event.kind != TraceKind::kVeto) event.a = task.value;
    session_.trace.Add(event);
  }
}

}  // namespace krafla
