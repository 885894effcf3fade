#include "explain/candidates.h"

namespace krafla {

std::string_view ToString(EvictingAction action) {
  return action == EvictingAction::kPreempt ? "preempt" : "reclaim";
}

Candidacy CandidacyOf(const Session& s, EvictingAction action, TaskId for_task, TaskId candidate) {
  const VictimsFrom from = action == EvictingAction::kPreempt ? VictimsFrom::kOtherJobsOfQueue
                                                              : VictimsFrom::kOtherQueues;
  return CandidacyOf(s.cluster, from, s.cluster.tasks[for_task], s.cluster.tasks[candidate]);
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
