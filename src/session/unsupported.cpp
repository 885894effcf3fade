#include "session/unsupported.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

std::string PodsThatNeedClaims(const Cluster& cluster, const Job& job) {
  if (job.Count(TaskStatus::kPending) == 0) return {};
  const auto pods = std::count_if(job.tasks.begin(), job.tasks.end(), [&](TaskId id) {
    const Task& task = cluster.tasks[id];
    return task.needs_claims && task.status == TaskStatus::kPending;
  });
  if (pods == 0) return {};
  return pods == 1 ? fmt::format("1 pod {}", kNeedsClaims)
                   : fmt::format("{} pods need{}", pods, kNeedsClaims.substr(5));
}

std::string PassedOver(const Job& job) {
  if (job.needs_network_topology) return {};
  std::string text;
  if (job.has_network_topology) text = "spec.networkTopology of mode soft";
  if (job.has_sub_group_policy)
    text += fmt::format("{}spec.subGroupPolicy (sizes, minimums and soft topologies of sub-groups)",
                        text.empty() ? "" : " and ");
  return text;
}

}  // namespace krafla
