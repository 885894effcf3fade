// When a revocable zone is open, in full: one or more daily windows, each on all or on some days of
// the week. "08:00-21:00", "Mon-Fri 08:00-21:00; Sat,Sun 10:00-14:00".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/timestamp.h"
#include "model/zone_window.h"

namespace krafla {

struct ZoneSchedule {
  static constexpr uint8_t kEveryDay = 0b111'1111;

  struct Part {
    ZoneWindow window;
    // Bit 0 is Monday. A window past midnight belongs to the day on which it starts; one whose ends
    // are equal lasts from there to the same time of the next day.
    uint8_t days = kEveryDay;

    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;  // at least one; open is when any of them is

  // The one window of every day; null when there is more to it. Only this is Volcano's too.
  const ZoneWindow* Daily() const;

  friend bool operator==(const ZoneSchedule&, const ZoneSchedule&) = default;
};

// Windows are separated by semicolons. Before a window there may be days: names and ranges of
// names, separated by commas ("Mon-Fri", "Sat,Sun", "Fri-Mon", "Mon,Wed-Fri"); upper and lower case
// are the same, the first three letters or the whole name. Blanks around everything are ignored.
Result<ZoneSchedule> ParseZoneSchedule(std::string_view text);

// As for a single window: what the local clock shows counts.
bool IsOpen(const ZoneSchedule& schedule, Timestamp now, const TimeZone& zone);

// The next instant after `now` at which IsOpen changes; none if it never does.
std::optional<Timestamp> NextChange(const ZoneSchedule& schedule, Timestamp now,
                                    const TimeZone& zone);

// "zone rz1 is closed until 08:00 Asia/Shanghai"; with the day where the windows differ by day:
// "zone rz1 is closed until Mon 2026-03-16 08:00 Asia/Shanghai".
std::string DescribeClosed(std::string_view zone_name, const ZoneSchedule& schedule, Timestamp now,
                           const TimeZone& zone);

// "21:00 Asia/Shanghai"; with seconds where there are some.
std::string DescribeTime(Timestamp at, const TimeZone& zone);

}  // namespace krafla
