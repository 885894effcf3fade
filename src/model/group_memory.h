// What a PodGroup's annotations tell of its past: a scheduler that evicts writes it there, and one
// that is started later, or a command that is given the PodGroup, reads it back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/timestamp.h"

namespace krafla {

// The texts of the three annotations; empty where there is nothing to say.
struct GroupMemory {
  // keys::kZoneEvictions, "rz1=2026-03-10T22:30:00.000000001Z,rz2=…": when the zones were last
  // emptied of somebody
  std::string zone_evictions;
  // keys::kEvictions, "2026-03-10T22:30:00.000000001Z,…": when pods of the group had to make room
  // for others
  std::string evictions;
  // keys::kLastLoss, "2026-03-10T22:30:00.000000001Z/4": the last loss of whatever kind, and the
  // size of the group then
  std::string loss;

  bool empty() const { return zone_evictions.empty() && evictions.empty() && loss.empty(); }
  bool operator==(const GroupMemory&) const = default;
};

// Parts that cannot be read are passed over; then `readable` is false.
struct ZoneEvictionTimes {
  std::vector<std::pair<std::string, Timestamp>> zones;
  bool readable = true;
};
ZoneEvictionTimes ReadZoneEvictions(std::string_view text);

struct EvictionTimes {
  std::vector<Timestamp> times;  // the earliest first
  bool readable = true;
};
EvictionTimes ReadEvictionTimes(std::string_view text);

struct GroupLoss {
  Timestamp at;
  int64_t size = 0;
};
std::optional<GroupLoss> ReadGroupLoss(std::string_view text);

}  // namespace krafla
