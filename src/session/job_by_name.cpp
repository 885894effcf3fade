#include "session/job_by_name.h"

#include <algorithm>

namespace krafla {

JobId FindJob(const Cluster& cluster, std::string_view key) {
  const auto& jobs = cluster.jobs_by_name;
  const auto it = std::lower_bound(
      jobs.begin(), jobs.end(), key,
      [&](JobId job, std::string_view wanted) { return cluster.JobKey(job) < wanted; });
  return it != jobs.end() && cluster.JobKey(*it) == key ? *it : JobId{};
}

}  // namespace krafla
