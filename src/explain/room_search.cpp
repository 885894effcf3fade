#include "explain/room_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/go_heap.h"
#include "explain/amount_words.h"
#include "explain/held_amounts.h"
#include "explain/veto_numbers.h"
#include "session/node_search.h"

namespace krafla {

namespace {

// Votes are worked out for every node; words for so many, and for any that comes nearer than all
// before it.
constexpr size_t kNodesWithWords = 64;

class Searcher {
 public:
  Searcher(Session& session, CycleProbe& probe, EvictingAction action, TaskId task)
      : s_(session),
        c_(session.cluster),
        probe_(probe),
        task_(task),
        queue_(c_.jobs[c_.tasks[task].job].queue),
        checks_everything_(action == EvictingAction::kPreempt || session.compat.reclaim_predicates),
        asks_again_(session.compat.predicate_error_cache &&
                    !session.node_search().IsNodeLocal(task)),
        dry_runs_(action == EvictingAction::kPreempt &&
                  session.config.ArgumentsOf("preempt")
                      .GetBool("enableTopologyAwarePreemption")
                      .value_or(false)) {
    found_.action = action;
    found_.task = task;
  }

  RoomLook Run() {
    found_.queue_allocated = AllocatedOf(c_, queue_);
    found_.queue_deserved = s_.queue_reports[queue_].deserved;
    found_.queue_known = s_.queue_reports[queue_].known;
    found_.not_eligible = WhyNotEligible();
    if (!found_.not_eligible.empty()) return std::move(found_);
    found_.no_share = !IsPreempt() && !s_.Preemptive(queue_, task_);
    if (found_.no_share) return std::move(found_);
    if (const Refusal refusal = s_.node_search().Prepare(task_); refusal.refused()) {
      found_.refused_everywhere = s_.reasons.Text(refusal.reason);
      return std::move(found_);
    }
    std::vector<uint32_t> positions;
    s_.node_search().FindForPreemption(task_, nullptr, positions);
    size_t next = 0;
    for (uint32_t p = 0; p < c_.nodes_by_name.size(); ++p) {
      const bool looked_at = next < positions.size() && positions[next] == p;
      if (looked_at) ++next;
      found_.nodes.push_back(LookAt(c_.nodes_by_name[p], looked_at));
    }
    return std::move(found_);
  }

 private:
  bool IsPreempt() const { return found_.action == EvictingAction::kPreempt; }

  std::string WhyNotEligible() {
    const Task& task = c_.tasks[task_];
    if (task.preemption_policy == PreemptionPolicy::kNever)
      return fmt::format("{} says preemptionPolicy: Never", c_.TaskKey(task_));
    if (!IsPreempt()) return {};
    if (task.nominated_node == kEmptyStr) return {};
    const std::string_view name = c_.Text(task.nominated_node);
    const NodeId node = c_.FindNode(task.nominated_node);
    if (!node.valid()) {
      if (s_.compat.lost_nomination) return {};
      return fmt::format("{} is nominated for node {}, which does not exist", c_.TaskKey(task_),
                         name);
    }
    NodeSearch& search = s_.node_search();
    const Refusal refusal =
        search.WasPrepared(task_) ? search.Check(task_, node) : Refusal{Refusal::kError, 0};
    if (!refusal.refused()) {
      const std::string nominated =
          fmt::format("{} is nominated for node {}", c_.TaskKey(task_), name);
      const Resource& request = c_.Request(task_);
      const int kind = request.FirstExceeding(c_.idle[node], request);
      if (kind < 0) return nominated + ", which takes it already";
      return fmt::format(
          "{}, whose predicates pass; while it is nominated it may not preempt elsewhere, although "
          "the node has {} {} free and it requests {}",
          nominated, AmountText(c_.idle[node].Get(kind), kind), c_.kinds.Name(kind),
          AmountText(request.Get(kind), kind));
    }
    if (refusal.unresolvable()) return {};
    for (TaskId other : c_.nodes[node].tasks) {
      const Task& o = c_.tasks[other];
      if (o.pod_priority < task.pod_priority && o.terminating_by_preemption)
        return fmt::format("{} is nominated for node {}, where {} is still ending for it",
                           c_.TaskKey(task_), name, c_.TaskKey(other));
    }
    return {};
  }

  // What is missing for the pod if all of these went.
  void NoteShortage(NodeRoom& room, std::span<const TaskId> going) const {
    Resource free = c_.FutureIdle(room.node);
    for (TaskId task : going) free.Add(c_.Request(task));
    const Resource& request = c_.Request(task_);
    room.short_of = -1;
    room.missing = room.missing_ratio = 0;
    for (int kind = 0; kind < c_.kinds.size(); ++kind) {
      if (!request.Has(kind) || LessEqualAmount(request.Get(kind), free.Get(kind))) continue;
      const double missing = request.Get(kind) - free.Get(kind);
      const double ratio = request.Get(kind) > 0 ? missing / request.Get(kind) : 1;
      if (room.short_of >= 0 && ratio <= room.missing_ratio) continue;
      room.short_of = kind;
      room.missing = missing;
      room.missing_ratio = ratio;
    }
  }

  bool Suffices(NodeId node, std::span<const TaskId> going) const {
    Resource free = c_.FutureIdle(node);
    for (TaskId task : going) free.Add(c_.Request(task));
    return c_.Request(task_).LessEqual(free, Missing::kZero);
  }

  NodeRoom LookAt(NodeId node, bool looked_at) {
    NodeRoom room{.node = node};
    const Refusal refusal = s_.node_search().Check(task_, node);
    room.evicting_helps = !refusal.refused_for_preemption();
    if (refusal.refused()) room.refusal = s_.reasons.Text(refusal.reason);
    room.has_room = c_.Request(task_).LessEqual(c_.FutureIdle(node), Missing::kZero);
    if (!looked_at) {
      if (room.refusal.empty()) room.refusal = "refused when allocate looked at it";
      room.evicting_helps = false;
      return room;
    }
    room.census = CandidatesOn(s_, found_.action, task_, node);
    const std::vector<TaskId>& candidates = room.census.candidates;
    // The dry run looks only for nodes where somebody has to go.
    if (dry_runs_ && room.has_room && Fits(node, false)) {
      room.stage = RoomStage::kNoCandidates;
      return room;
    }
    if (candidates.empty() && (!IsPreempt() || dry_runs_)) {
      room.stage = RoomStage::kNoCandidates;
      NoteShortage(room, {});
      return room;
    }
    if (!Suffices(node, candidates)) {
      room.stage = candidates.empty() ? RoomStage::kNoCandidates : RoomStage::kTooSmall;
      NoteShortage(room, candidates);
      return room;
    }
    std::vector<VictimVote> votes;
    if (!candidates.empty()) votes = AskPlugins(room);
    if (!Suffices(node, room.victims)) {
      room.stage = RoomStage::kSpared;
      NoteShortage(room, room.victims);
      DescribeSpared(room, votes);
      return room;
    }
    TryEvicting(room);
    return room;
  }

  std::vector<VictimVote> AskPlugins(NodeRoom& room) {
    probe_.StartVotes();
    room.victims = IsPreempt() ? s_.Preemptable(task_, room.census.candidates).tasks
                               : s_.Reclaimable(task_, room.census.candidates).tasks;
    std::vector<VictimVote> votes = probe_.TakeVotes();
    Tally(votes);
    return votes;
  }

  void DescribeSpared(NodeRoom& room, const std::vector<VictimVote>& votes) {
    const bool nearest = room.missing_ratio < nearest_ratio_;
    if (nearest) nearest_ratio_ = room.missing_ratio;
    if (!nearest && ++nodes_with_words_ > kNodesWithWords) return;
    std::vector<TaskId> gone = room.victims;
    std::sort(gone.begin(), gone.end());
    for (TaskId pod : room.census.candidates)
      if (!std::binary_search(gone.begin(), gone.end(), pod))
        room.spared.push_back(WhoSpared(votes, pod));
  }

  // The first plugin that was asked about the pod and kept it.
  SparedPod WhoSpared(const std::vector<VictimVote>& votes, TaskId pod) {
    for (const VictimVote& vote : votes) {
      if (vote.vote == Vote::kAbstain) continue;
      if (std::find(vote.asked.begin(), vote.asked.end(), pod) == vote.asked.end()) continue;
      if (std::find(vote.let_go.begin(), vote.let_go.end(), pod) != vote.let_go.end()) continue;
      return {pod, vote.plugin, DescribeVeto(s_, found_.action, task_, vote, pod)};
    }
    if (votes.empty()) return {pod, "", "no plugin is asked who may go"};
    return {pod, "", "every plugin lets it go, but none of them the same pods in one tier"};
  }

  void Tally(const std::vector<VictimVote>& votes) {
    std::vector<std::string_view> counted;  // a guard that counts is asked in several tiers
    for (const VictimVote& vote : votes) {
      if (vote.vote == Vote::kAbstain) continue;
      if (std::find(counted.begin(), counted.end(), vote.plugin) != counted.end()) continue;
      counted.push_back(vote.plugin);
      auto it = std::find_if(found_.tallies.begin(), found_.tallies.end(),
                             [&](const PluginTally& t) { return t.plugin == vote.plugin; });
      if (it == found_.tallies.end()) {
        found_.tallies.push_back({.plugin = vote.plugin, .tier = TierOf(vote.plugin)});
        it = std::prev(found_.tallies.end());
      }
      it->asked += static_cast<uint32_t>(vote.asked.size());
      it->let_go += static_cast<uint32_t>(vote.let_go.size());
    }
  }

  size_t TierOf(std::string_view plugin) const {
    const Switch needs = IsPreempt() ? Switch::kPreemptable : Switch::kReclaimable;
    for (size_t t = 0; t < s_.config.tiers.size(); ++t)
      for (const PluginOption& option : s_.config.tiers[t].plugins)
        if (option.name == plugin && option.Enabled(needs)) return t;
    return 0;
  }

  bool Fits(NodeId node, bool prepare_again) {
    if (checks_everything_ && !s_.Allocatable(queue_, task_)) return false;
    if (!c_.Request(task_).LessEqual(c_.FutureIdle(node), Missing::kZero)) return false;
    if (!checks_everything_) return true;
    if (prepare_again && s_.node_search().Prepare(task_).refused()) return false;
    return !s_.node_search().Check(task_, node).refused();
  }

  void TryEvicting(NodeRoom& room) {
    auto less = [&](TaskId l, TaskId r) { return s_.VictimLess(l, r, task_); };
    GoHeap<TaskId, decltype(less)> order(less);
    for (TaskId victim : room.victims) order.Push(victim);
    const UndoLog::Hold hold(s_.undo);
    const Session::Mark mark = s_.MarkNow();
    bool fits = Fits(room.node, false);
    bool evicted = false;
    while (!fits && !order.empty()) {
      s_.MarkReleasing(order.Pop());
      evicted = true;
      fits = Fits(room.node, asks_again_);
    }
    if (fits) {
      room.stage = RoomStage::kFits;
      room.refusal.clear();
    } else if (checks_everything_ && !s_.Allocatable(queue_, task_)) {
      room.stage = RoomStage::kQueueShare;
    } else {
      room.stage = RoomStage::kStillRefused;
      const Refusal prepared = s_.node_search().Prepare(task_);
      const Refusal refusal =
          prepared.refused() ? prepared : s_.node_search().Check(task_, room.node);
      room.refusal = s_.reasons.Text(refusal.reason);
    }
    s_.Rollback(mark);
    if (evicted && asks_again_) s_.node_search().Prepare(task_);
  }

  Session& s_;
  const Cluster& c_;
  CycleProbe& probe_;
  TaskId task_;
  QueueId queue_;
  bool checks_everything_;
  bool asks_again_;
  bool dry_runs_;
  size_t nodes_with_words_ = 0;
  double nearest_ratio_ = std::numeric_limits<double>::infinity();
  RoomLook found_;
};

}  // namespace

RoomStage RoomLook::Furthest() const {
  RoomStage furthest = RoomStage::kRefused;
  for (const NodeRoom& room : nodes) furthest = std::max(furthest, room.stage);
  return furthest;
}

const NodeRoom* RoomLook::NearestAt(RoomStage stage) const {
  const NodeRoom* nearest = nullptr;
  for (const NodeRoom& room : nodes) {
    if (room.stage != stage) continue;
    if (nearest == nullptr || room.missing_ratio < nearest->missing_ratio) nearest = &room;
  }
  return nearest;
}

size_t RoomLook::CountAt(RoomStage stage) const {
  return static_cast<size_t>(std::count_if(
      nodes.begin(), nodes.end(), [&](const NodeRoom& room) { return room.stage == stage; }));
}

RoomLook SearchRoom(Session& session, CycleProbe& probe, EvictingAction action, TaskId task) {
  return Searcher(session, probe, action, task).Run();
}

}  // namespace krafla
