#include "record/recorded_change.h"

#include <fmt/format.h>

namespace krafla {

std::vector<std::string> DecisionLines(const RecordedCycle& cycle) {
  std::vector<std::string> lines;
  lines.reserve(cycle.phases.size() + cycle.binds.size() + cycle.evictions.size());
  for (const RecordedPhase& phase : cycle.phases)
    lines.push_back(fmt::format("phase {} {} -> {}", phase.group, ToString(phase.before),
                                ToString(phase.after)));
  for (const RecordedBind& bind : cycle.binds)
    lines.push_back(fmt::format("bind {} to {} by {}", bind.pod, bind.node, bind.action));
  for (const RecordedEviction& eviction : cycle.evictions)
    lines.push_back(fmt::format("evict {} from {}: {} [{}]", eviction.pod,
                                eviction.node.empty() ? "no node" : eviction.node, eviction.message,
                                eviction.reason));
  return lines;
}

std::optional<std::string_view> RecordedKind(std::string_view name) {
  static constexpr std::string_view kKinds[] = {"Node",
                                                "Pod",
                                                "PodGroup",
                                                "Queue",
                                                "Namespace",
                                                "PodDisruptionBudget",
                                                "PriorityClass",
                                                "CSINode",
                                                "PersistentVolumeClaim",
                                                "StorageClass",
                                                "PersistentVolume"};
  for (const std::string_view kind : kKinds)
    if (kind == name) return kind;
  return std::nullopt;
}

std::optional<std::string> PodOfGroupOfOne(std::string_view group_key) {
  const size_t slash = group_key.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view name = group_key.substr(slash + 1);
  if (!name.starts_with(kGroupOfOnePrefix)) return std::nullopt;
  return fmt::format("{}/{}", group_key.substr(0, slash), name.substr(kGroupOfOnePrefix.size()));
}

}  // namespace krafla
