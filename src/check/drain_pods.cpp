#include "check/drain_pods.h"

#include <algorithm>

#include "session/job_checks.h"

namespace krafla {

std::vector<TaskId> RevocablePods(const CheckInput& input, JobId id) {
  const Cluster& cluster = *input.cluster;
  const AccessRules rules = AccessRulesOf(input.config.compatibility);
  const auto in_zone = [&](const Task& task) {
    return task.node.valid() && input.tdm.Find(cluster.Text(cluster.nodes[task.node].zone));
  };
  const auto may_use_one = [&](const Task& task) {
    const RevocableAccess access = AccessOf(task, rules, cluster.strings);
    return std::ranges::any_of(input.tdm.zones, [&](const TdmZone& zone) {
      const StrId name = cluster.strings.Find(zone.name);
      return access.all || (name.valid() && access.Allows(name));
    });
  };
  std::vector<TaskId> pods;
  const Job& job = cluster.jobs[id];
  for (TaskId task_id : job.tasks) {
    const Task& task = cluster.tasks[task_id];
    if (IsTerminated(task.status) || !OffersItself(task, &job, rules)) continue;
    if (in_zone(task) || may_use_one(task)) pods.push_back(task_id);
  }
  return pods;
}

std::vector<TaskId> PodsToDrain(const CheckInput& input, JobId id, std::string_view zone) {
  const Cluster& cluster = *input.cluster;
  const AccessRules rules = AccessRulesOf(input.config.compatibility);
  std::vector<TaskId> pods;
  const Job& job = cluster.jobs[id];
  for (TaskId task_id : job.tasks) {
    const Task& task = cluster.tasks[task_id];
    if (task.status == TaskStatus::kRunning && task.node.valid() &&
        cluster.Text(cluster.nodes[task.node].zone) == zone && OffersItself(task, &job, rules))
      pods.push_back(task_id);
  }
  return pods;
}

int64_t StepsWithoutBudget(const CheckInput& input, JobId id, const std::vector<TaskId>& pods) {
  const auto count = static_cast<int64_t>(pods.size());
  if (!input.config.compatibility.drain_gang) return count;
  const Job& job = input.cluster->jobs[id];
  int64_t left = job.Ready() - job.min_available;
  std::vector<int32_t> left_of_role = RoleSurplus(job);
  int64_t surplus = 0;
  for (TaskId task : pods) {
    if (left <= 0) break;
    if (!left_of_role.empty() && left_of_role[input.cluster->tasks[task].role_index]-- <= 0)
      continue;
    --left;
    ++surplus;
  }
  return surplus + (surplus < count ? 1 : 0);
}

}  // namespace krafla
