// Who could be evicted for a pod at all, before any plugin is asked, and what keeps the others out:
// the filters of preempt and reclaim, with a name for each "no".
#pragma once

#include <cstdint>
#include <string_view>

#include "model/cluster.h"

namespace krafla {

enum class VictimsFrom : uint8_t {
  kOtherJobsOfQueue,  // preempt between jobs
  kOwnJob,            // preempt within a job
  kOtherQueues,       // reclaim
};

// In the order in which the filters ask.
enum class Candidacy : uint8_t {
  kCandidate,
  kNotRunning,
  kBestEffort,      // the pod asks for nothing itself, and this one asks for something
  kNotPreemptable,  // says preemptable: false
  kNoJob,
  kOwnJob,
  kOtherJob,        // preempt within a job stays there
  kOtherQueue,      // preempt stays within the queue
  kOwnQueue,        // reclaim takes from others
  kNotReclaimable,  // its queue says so
  kCount,
};
// In a table of counts: "not running".
std::string_view ToString(Candidacy candidacy);

// Inline: asked for every pod of every node that is tried.
inline Candidacy CandidacyOf(const Cluster& cluster, VictimsFrom from, const Task& for_task,
                             const Task& task) {
  if (!IsPreemptableStatus(task.status)) return Candidacy::kNotRunning;
  const bool reclaims = from == VictimsFrom::kOtherQueues;
  if (reclaims && task.status != TaskStatus::kRunning) return Candidacy::kNotRunning;
  if (!reclaims && for_task.best_effort && !task.best_effort) return Candidacy::kBestEffort;
  if (!task.preemptable) return Candidacy::kNotPreemptable;
  if (!task.job.valid()) return Candidacy::kNoJob;
  if (from == VictimsFrom::kOwnJob)
    return task.job == for_task.job ? Candidacy::kCandidate : Candidacy::kOtherJob;
  if (!reclaims && task.job == for_task.job) return Candidacy::kOwnJob;
  const QueueId queue = cluster.jobs[task.job].queue;
  const bool same_queue = queue == cluster.jobs[for_task.job].queue;
  if (!reclaims) return same_queue ? Candidacy::kCandidate : Candidacy::kOtherQueue;
  if (same_queue) return Candidacy::kOwnQueue;
  return cluster.queues[queue].reclaimable ? Candidacy::kCandidate : Candidacy::kNotReclaimable;
}

}  // namespace krafla
