// The local clock as a count of seconds since 1970-01-01 00:00 on that clock.
#pragma once

#include <cstdint>

#include "model/zone_window.h"

namespace krafla::local_clock {

inline constexpr int64_t kSecondsPerMinute = 60;
inline constexpr int64_t kSecondsPerHour = 3'600;
inline constexpr int64_t kSecondsPerDay = 86'400;

constexpr int64_t DayOf(int64_t local) {
  return local / kSecondsPerDay - (local % kSecondsPerDay < 0 ? 1 : 0);
}
constexpr int64_t SecondOfDay(int64_t local) {
  return local - DayOf(local) * kSecondsPerDay;
}
// 0 is Monday.
constexpr int WeekdayOf(int64_t day) {
  return static_cast<int>(((day + 3) % 7 + 7) % 7);  // 1970-01-01 was a Thursday
}

inline int64_t LocalSeconds(int64_t unix_seconds, const TimeZone& zone) {
  return unix_seconds + zone.OffsetAt(unix_seconds).seconds;
}

}  // namespace krafla::local_clock
