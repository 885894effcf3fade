#include "explain/candidates.h"

namespace krafla {

std::string_view ToString(EvictingAction action) {
  return action == EvictingAction::kPreempt ? "preempt" : "reclaim";
}

std::string_view ToString(Candidacy candidacy) {
  switch (candidacy) {
    case Candidacy::kCandidate:
      return "candidate";
    case Candidacy::kNotRunning:
      return "not running";
    case Candidacy::kBestEffort:
      return "asking for something, while the newcomer asks for nothing";
    case Candidacy::kNotPreemptable:
      return "with preemptable: false";
    case Candidacy::kNoJob:
      return "of no PodGroup";
    case Candidacy::kOwnJob:
      return "of the job itself";
    case Candidacy::kOtherQueue:
      return "in another queue";
    case Candidacy::kOwnQueue:
      return "in the same queue";
    case Candidacy::kNotReclaimable:
      return "of a queue that is not reclaimable";
    case Candidacy::kCount:
      break;
  }
  return "";
}

Candidacy CandidacyOf(const Session& s, EvictingAction action, TaskId for_task, TaskId candidate) {
  const Task& own = s.cluster.tasks[for_task];
  const Task& task = s.cluster.tasks[candidate];
  if (action == EvictingAction::kPreempt) {
    if (!IsPreemptableStatus(task.status)) return Candidacy::kNotRunning;
    if (own.best_effort && !task.best_effort) return Candidacy::kBestEffort;
    if (!task.preemptable) return Candidacy::kNotPreemptable;
    if (!task.job.valid()) return Candidacy::kNoJob;
    if (task.job == own.job) return Candidacy::kOwnJob;
    if (s.cluster.jobs[task.job].queue != s.cluster.jobs[own.job].queue)
      return Candidacy::kOtherQueue;
    return Candidacy::kCandidate;
  }
  if (task.status != TaskStatus::kRunning) return Candidacy::kNotRunning;
  if (!task.preemptable) return Candidacy::kNotPreemptable;
  if (!task.job.valid()) return Candidacy::kNoJob;
  const QueueId queue = s.cluster.jobs[task.job].queue;
  if (queue == s.cluster.jobs[own.job].queue) return Candidacy::kOwnQueue;
  if (!s.cluster.queues[queue].reclaimable) return Candidacy::kNotReclaimable;
  return Candidacy::kCandidate;
}

CandidateCensus CandidatesOn(const Session& s, EvictingAction action, TaskId for_task,
                             NodeId node) {
  CandidateCensus census;
  for (TaskId task : s.cluster.nodes[node].tasks) {
    const Candidacy candidacy = CandidacyOf(s, action, for_task, task);
    ++census.counts[static_cast<size_t>(candidacy)];
    if (candidacy == Candidacy::kCandidate) census.candidates.push_back(task);
  }
  return census;
}

}  // namespace krafla
