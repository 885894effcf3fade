#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "cluster_state/assemble.h"
#include "cluster_state/name_order.h"

namespace krafla {

namespace {

void SetRoles(PodGroupFacts& group, const Cluster& cluster) {
  Job& job = group.job;
  auto& members = group.min_task_member;
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

const PriorityClassFacts* FindDefaultClass(const ClusterDraft& draft) {
  const PriorityClassFacts* found = nullptr;
  for (const PriorityClassFacts& entry : draft.priority_classes)
    if (entry.global_default && (found == nullptr || entry.value > found->value)) found = &entry;
  return found;
}

void AssembleJobs(ClusterDraft& draft, Diagnostics& diagnostics) {
  Cluster& cluster = draft.cluster;
  const std::vector<uint32_t> order =
      SortedOrder(draft.groups, [&](const PodGroupFacts& a, const PodGroupFacts& b) {
        return NamespacedLess(cluster.Text(a.job.ns), cluster.Text(a.job.name),
                              cluster.Text(b.job.ns), cluster.Text(b.job.name));
      });
  std::unordered_map<StrId, int32_t> priorities;
  for (const PriorityClassFacts& entry : draft.priority_classes)
    priorities.emplace(entry.name, entry.value);
  const PriorityClassFacts* default_class = FindDefaultClass(draft);
  const int32_t default_priority = default_class != nullptr ? default_class->value : 0;
  const StrId default_queue = cluster.strings.Intern(draft.options.default_queue);

  cluster.jobs.Reserve(order.size());
  cluster.jobs_by_name.reserve(order.size());
  std::map<std::string_view, Several> missing_queues;
  std::map<std::string_view, Several> missing_classes;
  for (const uint32_t index : order) {
    PodGroupFacts& group = draft.groups[index];
    Job& job = group.job;
    const auto name = [&] {
      return fmt::format("{}/{}", cluster.Text(job.ns), cluster.Text(job.name));
    };
    const std::string_view queue_name =
        cluster.Text(group.queue == kEmptyStr ? default_queue : group.queue);
    job.queue = cluster.FindQueue(queue_name);
    if (!job.queue.valid()) {
      missing_queues[queue_name].Add(name());
      draft.groups_without_queue.insert(NameKey(job.ns, job.name));
      continue;
    }
    const auto priority = priorities.find(job.priority_class);
    job.priority = priority != priorities.end() ? priority->second : default_priority;
    if (priority == priorities.end() && job.priority_class != kEmptyStr)
      missing_classes[cluster.Text(job.priority_class)].Add(name());
    SetRoles(group, cluster);
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
                    Quoted(priority_class), groups_without.count, default_priority,
                    groups_without.first));
}

}  // namespace krafla
