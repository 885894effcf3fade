#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "cluster_state/assemble.h"
#include "cluster_state/name_order.h"

namespace krafla {

namespace {

void SetRoles(const PodGroupFacts& group, const Cluster& cluster, Job& job) {
  auto members = group.min_task_member;
  std::sort(members.begin(), members.end(), [&](const auto& a, const auto& b) {
    return cluster.Text(a.first) < cluster.Text(b.first);
  });
  int64_t total = 0;
  for (const auto& [name, min_member] : members) {
    job.roles.push_back({.name = name, .min_member = min_member, .in_min_task_member = true});
    total += min_member;
  }
  job.min_role_total =
      static_cast<int32_t>(std::min<int64_t>(total, std::numeric_limits<int32_t>::max()));
}

}  // namespace

Job MakeJob(const PodGroupFacts& group, const Cluster& cluster, const PriorityIndex& priorities,
            std::string_view default_queue) {
  Job job = group.job;
  job.queue =
      cluster.FindQueue(group.queue == kEmptyStr ? default_queue : cluster.Text(group.queue));
  const PriorityClassFacts* priority_class = priorities.Find(job.priority_class);
  job.priority = priority_class != nullptr ? priority_class->value : priorities.DefaultPriority();
  SetRoles(group, cluster, job);
  return job;
}

void AssembleJobs(ClusterDraft& draft, Diagnostics& diagnostics) {
  Cluster& cluster = draft.cluster;
  const std::vector<uint32_t> order =
      SortedOrder(draft.groups, [&](const PodGroupFacts& a, const PodGroupFacts& b) {
        return NamespacedLess(cluster.Text(a.job.ns), cluster.Text(a.job.name),
                              cluster.Text(b.job.ns), cluster.Text(b.job.name));
      });
  const PriorityIndex priorities(draft.priority_classes);

  cluster.jobs.Reserve(order.size());
  cluster.jobs_by_name.reserve(order.size());
  std::map<std::string_view, Several> missing_queues;
  std::map<std::string_view, Several> missing_classes;
  for (const uint32_t index : order) {
    const PodGroupFacts& group = draft.groups[index];
    Job job = MakeJob(group, cluster, priorities, draft.options.default_queue);
    const auto name = [&] {
      return fmt::format("{}/{}", cluster.Text(job.ns), cluster.Text(job.name));
    };
    if (!job.queue.valid()) {
      const std::string_view queue = group.queue == kEmptyStr
                                         ? std::string_view(draft.options.default_queue)
                                         : cluster.Text(group.queue);
      missing_queues[queue].Add(name());
      draft.groups_without_queue.insert(NameKey(job.ns, job.name));
      continue;
    }
    if (job.priority_class != kEmptyStr && priorities.Find(job.priority_class) == nullptr)
      missing_classes[cluster.Text(job.priority_class)].Add(name());
    cluster.jobs_by_name.push_back(cluster.jobs.Add(std::move(job)));
  }

  for (const auto& [queue, groups_without] : missing_queues)
    diagnostics.Warning(
        {}, {},
        fmt::format("queue {} does not exist: {} PodGroup(s) are left out (first: {})",
                    Quoted(queue), groups_without.count, groups_without.first));
  for (const auto& [priority_class, groups_without] : missing_classes)
    diagnostics.Warning(
        {}, {},
        fmt::format("PriorityClass {} does not exist: {} PodGroup(s) have priority {} (first: {})",
                    Quoted(priority_class), groups_without.count, priorities.DefaultPriority(),
                    groups_without.first));
}

}  // namespace krafla
