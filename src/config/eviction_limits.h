// How many pods may be evicted in a cycle and within a minute, as the configuration or flags say.
// Used by SchedulingLoop and Session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace krafla {

struct EvictionLimits {
  int32_t per_minute = 0;      // 0: no limit
  int32_t per_cycle = 0;       // 0: no limit
  bool exempt_drains = false;  // drains of closed zones do not count

  bool Any() const { return per_minute > 0 || per_cycle > 0; }
  // How many evictions fit at most, however long they wait.
  int32_t Most() const {
    constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
    return std::min(per_minute > 0 ? per_minute : kNone, per_cycle > 0 ? per_cycle : kNone);
  }

  friend bool operator==(const EvictionLimits&, const EvictionLimits&) = default;
};

}  // namespace krafla
