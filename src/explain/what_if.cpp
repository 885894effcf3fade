#include "explain/what_if.h"

#include <algorithm>

#include "explain/waiting_words.h"

namespace krafla {

namespace {

constexpr size_t kMostRuns = 150;
constexpr size_t kLeastRuns = 24;
// Pods and nodes looked at by all runs together: a few seconds' worth. Counted and not timed, so
// that the same input gives the same answer on every machine.
constexpr size_t kMostObjects = 600'000;

template <class T>
bool Has(const std::vector<T>& sorted, const T& item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

bool HasPod(const std::vector<std::pair<TaskId, NodeId>>& sorted, TaskId pod) {
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), std::pair(pod, NodeId(0)));
  return it != sorted.end() && it->first == pod;
}

}  // namespace

WhatIf::WhatIf(const CycleInputs& inputs, Goal goal) : inputs_(inputs), goal_(goal) {
  const size_t objects = inputs.cluster.tasks.size() + inputs.cluster.nodes.size() + 1;
  most_runs_ = std::clamp(kMostObjects / objects, kLeastRuns, kMostRuns);
  CycleRun run(inputs_);
  const Session& session = run.Run();
  baseline_ = OutcomeOf(session);
  next_timer_ = session.NextTimer();
}

WhatIf::Outcome WhatIf::OutcomeOf(const Session& s) const {
  Outcome outcome;
  const Job& job = s.cluster.jobs[goal_.job];
  for (const Eviction& e : s.plan.evictions) outcome.evicted.push_back(e.task);
  for (const Bind& b : s.plan.binds) outcome.binds.emplace_back(b.task, b.node);
  int32_t waits_in_vain = 0;  // of the goal's job
  for (JobId id : s.cluster.jobs_by_name) {
    if (s.cluster.jobs[id].Waiting() == 0) continue;
    for (TaskId task : s.cluster.jobs[id].tasks) {
      if (s.cluster.tasks[task].status != TaskStatus::kPipelined) continue;
      if (IsNeverBound(s, task))
        waits_in_vain += id == goal_.job ? 1 : 0;
      else
        outcome.pipelined.emplace_back(task, s.cluster.tasks[task].node);
    }
  }
  std::sort(outcome.evicted.begin(), outcome.evicted.end());
  std::sort(outcome.binds.begin(), outcome.binds.end());
  std::sort(outcome.pipelined.begin(), outcome.pipelined.end());
  for (const auto& [task, node] : outcome.binds)
    if (s.cluster.tasks[task].job == goal_.job) ++outcome.placed;
  outcome.placed += job.Waiting() - waits_in_vain;
  outcome.has_minimum =
      job.IsPipelined() &&
      (waits_in_vain == 0 || job.Ready() + job.Waiting() - waits_in_vain >= job.min_available);
  outcome.let_in = job.phase != JobPhase::kPending;
  if (goal_.pod.valid())
    outcome.pod_placed = HasPod(outcome.binds, goal_.pod) || HasPod(outcome.pipelined, goal_.pod);
  return outcome;
}

bool WhatIf::Reached(const Outcome& outcome) const {
  if (goal_.pod.valid()) return outcome.pod_placed && !baseline_.pod_placed;
  // A job whose pods are only made once it is let in.
  if (inputs_.cluster.jobs[goal_.job].tasks.empty()) return outcome.let_in && !baseline_.let_in;
  // A gang below its minimum may hold nodes that it never gets: pipelined pods of it count only
  // once the minimum is reached.
  if (outcome.has_minimum && !baseline_.has_minimum) return outcome.placed > 0;
  return outcome.placed > baseline_.placed && baseline_.has_minimum;
}

Flip WhatIf::Describe(const Session& s, const Change& change, const Outcome& outcome) const {
  Flip flip{.kind = change.kind, .change = change.text, .caution = change.caution};
  for (TaskId task : outcome.evicted)
    if (!Has(baseline_.evicted, task)) flip.evicts.push_back(s.cluster.TaskKey(task));
  auto of_goal = [&](TaskId task) {
    return goal_.pod.valid() ? task == goal_.pod : s.cluster.tasks[task].job == goal_.job;
  };
  for (const auto& [task, node] : outcome.binds)
    if (of_goal(task))
      flip.binds.emplace_back(s.cluster.TaskKey(task), std::string(s.cluster.NodeName(node)));
  for (const auto& [task, node] : outcome.pipelined)
    if (of_goal(task))
      flip.pipelines.emplace_back(s.cluster.TaskKey(task), std::string(s.cluster.NodeName(node)));
  for (const auto* before : {&baseline_.binds, &baseline_.pipelined})
    for (const auto& [task, node] : *before)
      if (!HasPod(outcome.binds, task) && !HasPod(outcome.pipelined, task))
        flip.loses.push_back(s.cluster.TaskKey(task));
  std::sort(flip.evicts.begin(), flip.evicts.end());
  std::sort(flip.binds.begin(), flip.binds.end());
  std::sort(flip.pipelines.begin(), flip.pipelines.end());
  std::sort(flip.loses.begin(), flip.loses.end());
  return flip;
}

std::optional<Flip> WhatIf::Try(const Change& change) {
  if (exhausted()) {
    ++left_out_;
    return std::nullopt;
  }
  std::optional<Flip> flip = Run(change);
  if (!flip) in_vain_.push_back({change.kind, change.text});
  return flip;
}

std::optional<Flip> WhatIf::Run(const Change& change) {
  ++runs_;
  CycleRun run(inputs_);
  change.apply(run);
  const Session& session = run.Run();
  const Outcome outcome = OutcomeOf(session);
  if (!Reached(outcome)) return std::nullopt;
  return Describe(session, change, outcome);
}

void WhatIf::ForgetInVain(std::string_view kind) {
  std::erase_if(in_vain_, [&](const VainChange& change) { return change.kind == kind; });
}

std::optional<Flip> WhatIf::TrySmallest(const std::vector<Change>& changes) {
  if (changes.empty()) return std::nullopt;
  std::optional<Flip> best = Try(changes.back());
  if (!best) return std::nullopt;
  size_t low = 0;
  size_t high = changes.size() - 1;  // works
  while (low < high && !exhausted()) {
    const size_t middle = low + (high - low) / 2;
    if (std::optional<Flip> flip = Run(changes[middle])) {
      best = std::move(flip);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

}  // namespace krafla
