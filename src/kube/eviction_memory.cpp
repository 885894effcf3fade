#include "kube/eviction_memory.h"

#include <fmt/format.h>

namespace krafla {

std::string FormatZoneEvictions(const std::vector<CycleMemory::ZoneEviction>& evictions) {
  std::string text;
  for (const CycleMemory::ZoneEviction& eviction : evictions) {
    std::string time = FormatRfc3339(eviction.at);
    time.pop_back();
    text += fmt::format("{}{}={}.{:09}Z", text.empty() ? "" : ",", eviction.zone, time,
                        eviction.at.ns - eviction.at.UnixSeconds() * Timestamp::kNsPerSecond);
  }
  return text;
}

void RememberZoneEvictions(std::string_view annotation, CycleMemory& memory) {
  while (!annotation.empty()) {
    const size_t comma = std::min(annotation.find(','), annotation.size());
    const std::string_view entry = annotation.substr(0, comma);
    annotation.remove_prefix(std::min(comma + 1, annotation.size()));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view zone = entry.substr(0, equals);
    const Result<ZonedTimestamp> at = ParseRfc3339(entry.substr(equals + 1));
    if (!at || !at->time.Present()) continue;
    const Timestamp* known = memory.LastEviction(zone);
    if (known == nullptr || *known < at->time) memory.SetLastEviction(zone, at->time);
  }
}

}  // namespace krafla
