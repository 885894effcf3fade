// The clocks of this machine, read at one moment. Durations are measured by those that cannot be
// set; of these BootClock also runs while the machine is suspended.
#pragma once

#include <chrono>
#include <functional>

#include "base/timestamp.h"

namespace krafla {

// CLOCK_BOOTTIME: the time since the machine was booted, suspended or not.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  static time_point now();
};

struct ClockReading {
  using Steady = std::chrono::steady_clock;

  Timestamp wall;
  BootClock::time_point boot;
  Steady::time_point steady;

  // For how long the machine has been suspended since it was booted.
  std::chrono::nanoseconds suspended() const {
    return boot.time_since_epoch() - steady.time_since_epoch();
  }
  // Constant unless the clock is set.
  int64_t wall_minus_boot_ns() const { return wall.ns - boot.time_since_epoch().count(); }
};

ClockReading ReadClocks();
// For tests: other clocks.
using ReadClocksFn = std::function<ClockReading()>;

}  // namespace krafla
