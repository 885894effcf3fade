#include "kube/clocks.h"

#include <ctime>

namespace krafla {

BootClock::time_point BootClock::now() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

ClockReading ReadClocks() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {.wall = {std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count()},
          .boot = BootClock::now(),
          .steady = ClockReading::Steady::now()};
}

}  // namespace krafla
