#include "actions/dry_run.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/go_heap.h"
#include "session/node_search.h"

namespace krafla {

size_t DryRunLimits::Enough(size_t nodes) const {
  int64_t n = static_cast<int64_t>(nodes) * min_candidate_percent / 100;
  n = std::max(n, min_candidates);
  n = std::min(n, max_candidates);
  return static_cast<size_t>(std::clamp<int64_t>(n, 0, static_cast<int64_t>(nodes)));
}

namespace {

// One node's try. Removes and adds back on the live tables; the caller rolls back.
//
// D34: ours evicts for the time of the try and asks what is asked before a real eviction. Volcano
// moves tasks in what some plugins keep, and of the predicates asks pod affinity alone: the pod it
// evicts for may find its host port taken.
class NodeTry {
 public:
  NodeTry(Session& session, TaskId task, NodeId node)
      : s_(session),
        task_(task),
        node_(node),
        queue_(session.cluster.jobs[session.cluster.tasks[task].job].queue),
        simulates_(!session.compat.dry_run_share) {}

  struct Removed {
    TaskId task;
    TaskStatus before;
  };

  Removed Remove(TaskId victim) {
    const Removed removed{victim, s_.cluster.tasks[victim].status};
    if (!simulates_) {
      s_.MarkReleasing(victim);
      return removed;
    }
    s_.SimulateRemove(task_, victim);
    s_.undo.Save(s_.cluster.releasing[node_]);
    s_.cluster.releasing[node_].Add(s_.cluster.Request(victim));
    return removed;
  }

  void AddBack(const Removed& removed) {
    if (!simulates_) {
      s_.UnmarkReleasing(removed.task, removed.before);
      return;
    }
    s_.SimulateAdd(task_, removed.task);
    s_.undo.Save(s_.cluster.releasing[node_]);
    s_.cluster.releasing[node_].Sub(s_.cluster.Request(removed.task));
  }

  bool Fits() const {
    return HasShare() &&
           s_.cluster.Request(task_).LessEqual(s_.cluster.FutureIdle(node_), Missing::kZero) &&
           PredicatesPass();
  }

  // After the last eviction, with what Fits has said: Volcano asks only predicates, and evicts for
  // a pod its queue has no share for.
  bool IsSolution(bool fits) const { return simulates_ ? PredicatesPass() : fits; }

  // Whether putting back whom one has removed leads to where one was, for every question.
  bool IsExact() const { return !simulates_; }

 private:
  bool HasShare() const {
    return simulates_ ? s_.SimulateAllocatable(queue_, task_) : s_.Allocatable(queue_, task_);
  }

  bool PredicatesPass() const {
    if (simulates_) return !s_.SimulatePredicate(task_, node_).refused();
    NodeSearch& search = s_.node_search();
    return !search.Prepare(task_).refused() && !search.Check(task_, node_).refused();
  }

  Session& s_;
  TaskId task_;
  NodeId node_;
  QueueId queue_;
  bool simulates_;
};

// The victims this node would cost, most important first; empty when it cannot be done.
std::vector<TaskId> SelectVictims(Session& s, TaskId task, NodeId node, const Victims& allowed) {
  auto less = [&](TaskId l, TaskId r) { return s.VictimLess(l, r, task); };
  GoHeap<TaskId, decltype(less)> order(less);
  for (TaskId victim : allowed.tasks) order.Push(victim);
  NodeTry attempt(s, task, node);
  std::vector<NodeTry::Removed> removed;
  const bool fits_as_it_is = attempt.IsExact() && attempt.Fits();
  bool fits = false;
  while (!fits && !order.empty()) {
    removed.push_back(attempt.Remove(order.Pop()));
    fits = attempt.Fits();
  }
  if (removed.empty() || !attempt.IsSolution(fits)) return {};
  // A single one need not be put back to see how it is without any eviction.
  if (attempt.IsExact() && removed.size() == 1) {
    if (fits_as_it_is) return {};
    return {removed.front().task};
  }
  // Reprieve, the most important first: whoever can stay, stays.
  std::vector<TaskId> victims;
  for (auto it = removed.rbegin(); it != removed.rend(); ++it) {
    attempt.AddBack(*it);
    if (attempt.Fits()) continue;
    attempt.Remove(it->task);
    victims.push_back(it->task);
  }
  return victims;
}

// The earliest start among the victims of the highest priority.
int64_t EarliestStart(const Session& s, const std::vector<TaskId>& victims) {
  auto start = [&](TaskId t) {
    const Timestamp started = s.cluster.tasks[t].started;
    return started.Present() ? started.ns : s.now.ns;
  };
  int32_t highest = s.cluster.tasks[victims.front()].pod_priority;
  int64_t earliest = start(victims.front());
  for (TaskId t : victims) {
    const int32_t priority = s.cluster.tasks[t].pod_priority;
    if (priority == highest) {
      earliest = std::min(earliest, start(t));
    } else if (priority > highest) {
      highest = priority;
      earliest = start(t);
    }
  }
  return earliest;
}

DryRunCandidate TryNode(Session& s, TaskId task, NodeId node, const VictimRule& rule) {
  static thread_local std::vector<TaskId> candidates;  // kept for its memory
  CollectCandidates(s, node, task, rule, candidates);
  if (candidates.empty() || !VictimsSuffice(s, task, node, candidates)) return {.node = node};
  const Victims allowed = VoteOn(s, task, rule, candidates);
  if (!VictimsSuffice(s, task, node, allowed.tasks)) return {.node = node};
  const UndoLog::Hold hold(s.undo);
  const Session::Mark mark = s.MarkNow();
  std::vector<TaskId> victims = SelectVictims(s, task, node, allowed);
  s.Rollback(mark);
  return {node, std::move(victims), allowed.permitted_by};
}

}  // namespace

std::vector<const DryRunCandidate*> FindCandidates(Session& s, TaskId task,
                                                   std::span<const uint64_t> nodes,
                                                   const VictimRule& rule, size_t enough,
                                                   DryRunResults& results) {
  std::vector<const DryRunCandidate*> found;
  bool tried = false;
  for (size_t word = 0; word < nodes.size() && found.size() < enough; ++word) {
    for (uint64_t bits = nodes[word]; bits != 0 && found.size() < enough; bits &= bits - 1) {
      const uint32_t position =
          static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(bits));
      const auto [it, is_new] = results.try_emplace(position);
      if (is_new) {
        it->second = TryNode(s, task, s.cluster.nodes_by_name[position], rule);
        tried = true;
      }
      if (!it->second.victims.empty()) found.push_back(&it->second);
    }
  }
  // The last try has left its counts; whoever asks about the task next is to hear of the cluster as
  // it is.
  if (tried && s.compat.dry_run_share) s.node_search().Prepare(task);
  return found;
}

const DryRunCandidate& SelectCandidate(const Session& s,
                                       std::span<const DryRunCandidate* const> candidates) {
  auto cost = [&](const DryRunCandidate& c) {
    int64_t sum = 0;
    // Shifted above zero, so that many victims of low priority do not come out cheaper than one.
    for (TaskId t : c.victims) sum += int64_t{s.cluster.tasks[t].pod_priority} + (int64_t{1} << 31);
    return std::tuple(s.cluster.tasks[c.victims.front()].pod_priority, sum, c.victims.size(),
                      -EarliestStart(s, c.victims));
  };
  const DryRunCandidate* best = candidates.front();
  auto best_cost = cost(*best);
  for (const DryRunCandidate* c : candidates.subspan(1)) {
    if (auto this_cost = cost(*c); this_cost < best_cost) {
      best = c;
      best_cost = this_cost;
    }
  }
  return *best;
}

}  // namespace krafla
