// What must outlive a restart is kept where a restarted scheduler finds it: on the PodGroups of
// those who were evicted. When a zone was last emptied of somebody (its evict period counts from
// then), and how often pods of the group were evicted at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/timestamp.h"
#include "session/session.h"

namespace krafla {

// "rz1=2026-03-10T22:30:00.000000001Z,rz2=…"
inline constexpr std::string_view kZoneEvictionsKey = "krafla.io/zone-evictions";
// "3"
inline constexpr std::string_view kEvictionsKey = "krafla.io/evictions";

std::string FormatZoneEvictions(const std::vector<CycleMemory::ZoneEviction>& evictions);
// Adds to `memory` what is later than what it knows. What cannot be read is passed over.
void RememberZoneEvictions(std::string_view annotation, CycleMemory& memory);

}  // namespace krafla
