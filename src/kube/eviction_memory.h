// What must outlive a restart is kept where a restarted scheduler finds it: on the PodGroups of
// those who were evicted, as annotations. When a zone was last emptied of somebody (its evict
// period counts from then), when the group lost pods, and how many it had.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/cycle_memory.h"

namespace krafla {

// "rz1=2026-03-10T22:30:00.000000001Z,rz2=…"
inline constexpr std::string_view kZoneEvictionsKey = "krafla.io/zone-evictions";
// "2026-03-10T22:30:00.000000001Z,…": when pods of the group had to make room for others
inline constexpr std::string_view kEvictionsKey = "krafla.io/evictions";
// "2026-03-10T22:30:00.000000001Z/4": the last loss of whatever kind, and the size of the group
// then
inline constexpr std::string_view kLossKey = "krafla.io/last-loss";

// The three texts; empty where there is nothing to say.
struct GroupMemory {
  std::string zone_evictions;
  std::string evictions;
  std::string loss;

  bool empty() const { return zone_evictions.empty() && evictions.empty() && loss.empty(); }
  bool operator==(const GroupMemory&) const = default;
};

// What is worth keeping of the group "namespace/name", of which somebody is evicted now. Zones are
// those that were emptied of somebody at `now`.
GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group, Timestamp now);
// The same with every zone whose clock runs, whenever it was started.
GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group);
// Adds to `memory` what is later than what it knows. What cannot be read is passed over.
void Recall(const GroupMemory& texts, std::string_view group, CycleMemory& memory);

}  // namespace krafla
