#include "explain/node_sizes.h"

#include <bit>

#include <fmt/format.h>

#include "explain/amount_words.h"

namespace krafla {

NodeSizes::NodeSizes(const Cluster& cluster) {
  for (const Resource& node : cluster.allocatable) largest_.SetMax(node);
}

std::string NodeSizes::WhyTooLarge(const Cluster& cluster, TaskId task) const {
  if (cluster.nodes.size() == 0) return {};
  const Resource& asked = cluster.Request(task);
  std::string text;
  for (uint64_t rest = asked.mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    // How many pods a node takes is no matter of size.
    if (kind == ResourceKinds::kPods || asked.Get(kind) <= largest_.Get(kind) + kTolerance)
      continue;
    const double most = largest_.Get(kind);
    text += fmt::format("{} {} {} ({})", text.empty() ? "" : " and",
                        AmountText(asked.Get(kind), kind), cluster.kinds.Name(kind),
                        most > 0 ? fmt::format("the largest node has {}", AmountText(most, kind))
                                 : std::string("no node has any"));
  }
  if (text.empty()) return {};
  return fmt::format("no node is as large as {}: it asks for{}",
                     cluster.Text(cluster.tasks[task].name), text);
}

std::string NodeSizes::WhyTooLarge(const Cluster& cluster, JobId job) const {
  for (const TaskId task : cluster.jobs[job].tasks) {
    if (cluster.tasks[task].status != TaskStatus::kPending) continue;
    if (std::string text = WhyTooLarge(cluster, task); !text.empty()) return text;
  }
  return {};
}

}  // namespace krafla
