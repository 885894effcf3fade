// Re-derives from the tasks alone everything the session keeps up to date by increments, and
// compares.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "session/session.h"

namespace krafla {

namespace {

bool Close(const Resource& a, const Resource& b) {
  const uint64_t kinds = a.mask() | b.mask();
  for (uint64_t rest = kinds; rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (std::abs(a.Get(kind) - b.Get(kind)) > 1e-3) return false;
  }
  return true;
}

void CheckSame(const Cluster& cluster, std::string_view what, std::string_view whose,
               const Resource& kept, const Resource& derived) {
  KRAFLA_CHECK(Close(kept, derived),
               fmt::format("{} of {}: kept <{}>, derived <{}>", what, whose,
                           ToString(kept, cluster.kinds), ToString(derived, cluster.kinds)));
}

void VerifyNode(const Cluster& cluster, NodeId id) {
  const Node& node = cluster.nodes[id];
  Resource idle = cluster.allocatable[id];
  Resource used;
  Resource releasing;
  Resource pipelined;
  for (TaskId t : node.tasks) {
    const Task& task = cluster.tasks[t];
    const Resource& request = cluster.Request(t);
    KRAFLA_CHECK(task.node == id, cluster.TaskKey(t));
    if (task.status == TaskStatus::kPipelined) {
      pipelined.Add(request);
      continue;
    }
    idle.Sub(request);
    used.Add(request);
    if (task.status == TaskStatus::kReleasing) releasing.Add(request);
  }
  const std::string_view name = cluster.NodeName(id);
  CheckSame(cluster, "idle", name, cluster.idle[id], idle);
  CheckSame(cluster, "used", name, cluster.used[id], used);
  CheckSame(cluster, "releasing", name, cluster.releasing[id], releasing);
  CheckSame(cluster, "pipelined", name, cluster.pipelined[id], pipelined);
  KRAFLA_CHECK(std::is_sorted(node.tasks.begin(), node.tasks.end(),
                              [&](TaskId a, TaskId b) { return cluster.TaskNameLess(a, b); }),
               std::string(name));
}

void VerifyJob(const Cluster& cluster, JobId id) {
  const Job& job = cluster.jobs[id];
  std::array<int32_t, kTaskStatusCount> count{};
  std::vector<std::array<int32_t, kTaskStatusCount>> by_role(job.roles.size());
  int32_t best_effort = 0;
  int32_t releasing_on_node = 0;
  Resource allocated;
  for (TaskId t : job.tasks) {
    const Task& task = cluster.tasks[t];
    const size_t status = static_cast<size_t>(task.status);
    ++count[status];
    ++by_role[task.role_index][status];
    if (task.status == TaskStatus::kPending && task.best_effort) ++best_effort;
    if (task.status == TaskStatus::kReleasing && (task.node.valid() || task.node_name != kEmptyStr))
      ++releasing_on_node;
    if (IsAllocatedStatus(task.status)) allocated.Add(cluster.Request(t));
  }
  const std::string key = cluster.JobKey(id);
  KRAFLA_CHECK(count == job.count, key);
  for (size_t r = 0; r < by_role.size(); ++r) KRAFLA_CHECK(by_role[r] == job.roles[r].count, key);
  KRAFLA_CHECK(best_effort == job.pending_best_effort, key);
  KRAFLA_CHECK(releasing_on_node == job.releasing_on_node, key);
  CheckSame(cluster, "allocated", key, job.allocated, allocated);
}

}  // namespace

void Session::VerifyInvariants() const {
  for (NodeId node : cluster.nodes_by_name) VerifyNode(cluster, node);
  for (JobId job : cluster.jobs_by_name) VerifyJob(cluster, job);
}

}  // namespace krafla
