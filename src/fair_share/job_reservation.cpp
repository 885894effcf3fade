#include "fair_share/job_reservation.h"

#include <algorithm>
#include <bit>

namespace krafla {

Resource MinResources(const Job& job) {
  return job.min_resources ? *job.min_resources : Resource();
}

Resource UnallocatedMinResources(const Job& job, const ResourceKinds& kinds) {
  const Resource minimum = MinResources(job);
  Resource kept;
  kept.Set(ResourceKinds::kCpu, std::max(minimum.cpu() - job.allocated.cpu(), 0.0));
  kept.Set(ResourceKinds::kMemory, std::max(minimum.memory() - job.allocated.memory(), 0.0));
  const int ephemeral_storage = kinds.Find("ephemeral-storage");
  for (uint64_t rest = minimum.scalar_mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    if (kind == ephemeral_storage) continue;
    const double missing = minimum.Get(kind) - job.allocated.Get(kind);
    if (missing > 0) kept.Set(kind, missing);
  }
  return kept;
}

Resource WithoutGatedPods(const Cluster& cluster, const Job& job, Resource amount) {
  Resource gated;
  for (TaskId id : job.tasks) {
    const Task& task = cluster.tasks[id];
    if (task.gated && !task.only_queue_gate) gated.Add(cluster.Request(id));
  }
  // Pods that ask for nothing do not even take their number off.
  if (gated.IsEmpty()) return amount;
  for (uint64_t rest = amount.mask() & gated.mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    amount.Set(kind, std::max(amount.Get(kind) - gated.Get(kind), 0.0));
  }
  return amount;
}

bool RunsAtMinimum(const Job& job) {
  return job.phase == JobPhase::kRunning && job.AllocatedCount() >= job.min_available;
}

Resource ElasticResources(const Job& job) {
  return Resource::Exceeding(job.allocated, MinResources(job));
}

}  // namespace krafla
