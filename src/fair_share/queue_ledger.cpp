#include "fair_share/queue_ledger.h"

#include <algorithm>

#include "fair_share/job_reservation.h"

namespace krafla {

JobClaims ClaimsOf(const Cluster& cluster, JobId id) {
  const Job& job = cluster.jobs[id];
  JobClaims claims;
  claims.queue = job.queue;
  claims.allocated = job.allocated;
  if (job.Count(TaskStatus::kPending) > 0) {
    for (TaskId task : job.tasks)
      if (cluster.tasks[task].status == TaskStatus::kPending)
        claims.pending.Add(cluster.Request(task));
  }
  claims.keeps_inqueue =
      job.min_resources && (job.phase == JobPhase::kInqueue || RunsAtMinimum(job));
  if (claims.keeps_inqueue)
    claims.inqueue = WithoutGatedPods(cluster, job, UnallocatedMinResources(job, cluster.kinds));
  claims.elastic = ElasticResources(job);
  return claims;
}

void QueueLedger::Make(const Cluster& cluster) {
  made_ = true;
  sums_.Reset(cluster.queues.size());
  claims_.Reset(cluster.jobs.size());
  for (const JobId job : cluster.jobs_by_name) {
    claims_[job] = ClaimsOf(cluster, job);
    Enter(claims_[job]);
  }
}

void QueueLedger::Follow(const Cluster& cluster, const ClusterChanges& changes) {
  FollowJobs(changes, claims_, [&](const JobClaims& claims) { Strike(claims); });
  for (const JobId job : changes.jobs) {
    Strike(claims_[job]);
    claims_[job] = ClaimsOf(cluster, job);
    Enter(claims_[job]);
  }
}

void QueueLedger::Enter(const JobClaims& claims) {
  if (!claims.queue.valid()) return;
  Sums& sums = sums_[claims.queue];
  ++sums.jobs;
  sums.allocated.Add(claims.allocated);
  sums.request.Add(claims.allocated);
  sums.request.Add(claims.pending);
  if (claims.keeps_inqueue) sums.inqueue.Add(claims.inqueue);
  sums.elastic.Add(claims.elastic);
}

void QueueLedger::Strike(const JobClaims& claims) {
  if (!claims.queue.valid()) return;
  Sums& sums = sums_[claims.queue];
  --sums.jobs;
  sums.allocated.Remove(claims.allocated);
  sums.request.Remove(claims.allocated);
  sums.request.Remove(claims.pending);
  if (claims.keeps_inqueue) sums.inqueue.Remove(claims.inqueue);
  sums.elastic.Remove(claims.elastic);
}

bool QueueLedger::exact() const {
  return std::all_of(sums_.begin(), sums_.end(), [](const Sums& sums) { return sums.exact(); });
}

}  // namespace krafla
