#include "explain/held_amounts.h"

namespace krafla {

Resource AllocatedOf(const Cluster& cluster, JobId id) {
  const Job& job = cluster.jobs[id];
  Resource allocated = job.allocated;
  if (job.Waiting() > 0)
    for (TaskId task : job.tasks)
      if (cluster.tasks[task].status == TaskStatus::kPipelined)
        allocated.Add(cluster.Request(task));
  return allocated;
}

Resource AllocatedOf(const Cluster& cluster, QueueId queue) {
  Resource allocated;
  for (JobId id : cluster.jobs_by_name)
    if (cluster.jobs[id].queue == queue) allocated.Add(AllocatedOf(cluster, id));
  return allocated;
}

}  // namespace krafla
