#include "actions/victim_search.h"

#include "base/check.h"
#include "base/go_heap.h"
#include "model/fetch_tasks.h"
#include "model/future_idle.h"
#include "session/node_search.h"

namespace krafla {

void CollectCandidates(const Session& session, NodeId node, TaskId for_task, const VictimRule& rule,
                       std::vector<TaskId>& candidates) {
  const Cluster& cluster = session.cluster;
  candidates.clear();
  FetchTasksAndJobs(cluster, cluster.nodes[node].tasks);
  for (TaskId id : cluster.nodes[node].tasks)
    if (CandidacyOf(cluster, rule.whose, cluster.tasks[for_task], cluster.tasks[id]) ==
        Candidacy::kCandidate)
      candidates.push_back(id);
}

Victims VoteOn(Session& session, TaskId for_task, const VictimRule& rule,
               std::span<const TaskId> candidates) {
  return rule.asking() == Asking::kReclaim ? session.Reclaimable(for_task, candidates)
                                           : session.Preemptable(for_task, candidates);
}

bool VictimsSuffice(const Session& session, TaskId task, NodeId node,
                    std::span<const TaskId> victims) {
  // As Resource::Add and LessEqual would have it, but only of what the task asks for.
  const Cluster& cluster = session.cluster;
  const Resource& request = cluster.Request(task);
  const FutureIdleOf future_idle(cluster, node);
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    double room = future_idle.Get(kind);
    for (const TaskId victim : victims) room += cluster.Request(victim).Get(kind);
    if (!LessEqualAmount(request.Get(kind), room)) return false;
  }
  return true;
}

namespace {

void NoteShort(Session& s, TaskId task, NodeId node, ShortCode code, size_t candidates) {
  s.trace.Add({TraceKind::kShort, 0, static_cast<uint16_t>(code), task.value, node.value,
               static_cast<uint32_t>(candidates)});
}

// What is kept of a node stands in many tables: asked for together, it comes at once.
KRAFLA_FETCHES void FetchWhatIsOf(const Session& s, NodeId node) {
  FetchFutureIdle(s.cluster, node);
  Fetch(&s.cluster.nodes[node].tasks);
  s.kube.FetchNode(node);
}

// `asks_again`: evictions have changed what predicates counted when the task was prepared.
bool Fits(Session& s, QueueId queue, TaskId task, NodeId node, const VictimRule& rule,
          bool asks_again) {
  if (rule.checks_everything && !s.Allocatable(queue, task)) return false;
  if (!s.cluster.Request(task).LessEqual(s.cluster.FutureIdle(node), Missing::kZero)) return false;
  if (!rule.checks_everything) return true;
  if (asks_again && s.node_search().Prepare(task).refused()) return false;
  return !s.node_search().Check(task, node).refused();
}

}  // namespace

MakeRoom MakeRoomOnNode(Session& s, Statement& statement, TaskId task, NodeId node,
                        const VictimRule& rule, RoomMade* how, const std::vector<TaskId>* known) {
  Cluster& cluster = s.cluster;
  if (s.log.V(3))
    s.log.Line("Considering Task <{}> on Node <{}>.", cluster.TaskKey(task),
               cluster.NodeName(node));
  s.trace.Add({TraceKind::kTryTask, 0, 0, task.value, node.value});
  FetchWhatIsOf(s, node);

  static thread_local std::vector<TaskId> collected;  // the inner loop allocates nothing
  if (known == nullptr) CollectCandidates(s, node, task, rule, collected);
  const std::vector<TaskId>& candidates = known != nullptr ? *known : collected;
#ifdef KRAFLA_VERIFY
  CollectCandidates(s, node, task, rule, collected);
  KRAFLA_CHECK(candidates == collected, "candidates are as they were collected before");
#endif
  if (candidates.empty() && rule.needs_candidates()) {
    NoteShort(s, task, node, ShortCode::kCandidates, 0);
    if (s.log.V(4)) s.log.Line("No {}ees on Node <{}>.", rule.verb(), cluster.NodeName(node));
    return MakeRoom::kNoForTheNode;
  }
  // Cannot be enough, whoever is let go: known before anybody is asked.
  if (!VictimsSuffice(s, task, node, candidates)) {
    NoteShort(s, task, node, ShortCode::kCandidates, candidates.size());
    if (s.log.V(3))
      s.log.Line("No validated victims on Node <{}>: not enough resources", cluster.NodeName(node));
    return MakeRoom::kNoForTheNode;
  }
  const Victims victims =
      candidates.empty() ? Victims{.stays_empty = true} : VoteOn(s, task, rule, candidates);
  if (!VictimsSuffice(s, task, node, victims.tasks)) {
    NoteShort(s, task, node, ShortCode::kVictims, candidates.size());
    if (s.log.V(3))
      s.log.Line("No validated victims on Node <{}>: not enough resources: requested <{}>",
                 cluster.NodeName(node), ToString(cluster.Request(task), cluster.kinds));
    return victims.stays_empty ? MakeRoom::kNoForTheNode : MakeRoom::kNo;
  }

  const QueueId queue = cluster.jobs[cluster.tasks[task].job].queue;
  // Volcano judges by what it counted before the evictions.
  const bool is_local = s.node_search().IsNodeLocal(task);
  const bool asks_again = s.compat.predicate_error_cache && !is_local;
  if (rule.checks_everything && !victims.tasks.empty() && !s.log.V(3)) {
    // The queue has no share for the task even without all of them, or a predicate refuses whoever
    // goes: so nobody need be evicted to find out.
    const std::optional<bool> share = s.AllocatableWithout(queue, task, victims.tasks);
    const bool refused =
        share == true && !is_local && !asks_again && s.node_search().StaysRefused(task, node);
    if (share == false || refused) {
      NoteShort(s, task, node, refused ? ShortCode::kPredicate : ShortCode::kQueueShare,
                candidates.size());
      s.NoteTriedInVain(victims.tasks);
      return refused ? MakeRoom::kNoForThePredicate : MakeRoom::kNo;
    }
  }

  auto less = [&](TaskId l, TaskId r) { return s.VictimLess(l, r, task); };
  GoHeap<TaskId, decltype(less)> order(less);
  for (TaskId victim : victims.tasks) order.Push(victim);

  if (how != nullptr) {
    how->node = node;
    how->evicted.clear();
    how->permitted_by = victims.permitted_by;
  }
  const Statement::Savepoint before = statement.Save();
  Resource freed;
  bool fits = Fits(s, queue, task, node, rule, false);
  while (!fits && !order.empty()) {
    const TaskId victim = order.Pop();
    if (s.log.V(3))
      s.log.Line("Try to {} Task <{}> for Task <{}>", rule.verb(), cluster.TaskKey(victim),
                 cluster.TaskKey(task));
    statement.Evict(victim, task, rule.reason(), victims.permitted_by);
    if (how != nullptr) how->evicted.push_back(victim);
    freed.Add(cluster.Request(victim));
    fits = Fits(s, queue, task, node, rule, asks_again);
  }
  if (s.log.V(3))
    s.log.Line("{} <{}> for Task <{}> requested <{}>.",
               rule.verb() == "preempt" ? "Preempted" : "Reclaimed", ToString(freed, cluster.kinds),
               cluster.TaskKey(task), ToString(cluster.Request(task), cluster.kinds));
  if (!fits) {
    // Room alone there is, or the victims would not have sufficed.
    const bool share = rule.checks_everything && !s.Allocatable(queue, task);
    NoteShort(s, task, node, share ? ShortCode::kQueueShare : ShortCode::kPredicate,
              candidates.size());
    const bool evicted = !freed.IsEmpty();
    statement.RollbackTo(before);
    if (how != nullptr) how->node = NodeId{};
    if (evicted && asks_again) (void)s.node_search().Prepare(task);  // it passed before
    return share ? MakeRoom::kNo : MakeRoom::kNoForThePredicate;
  }
  if (how != nullptr) how->frees_something = !freed.IsEmpty();
  statement.Pipeline(task, node, !freed.IsEmpty());
  return MakeRoom::kDone;
}

}  // namespace krafla
