// Times as scenario files write them, and as people read them back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/timestamp.h"
#include "model/zone_window.h"

namespace krafla {

// What a time in a scenario is relative to.
struct ScenarioClock {
  Timestamp start;
  Timestamp until;  // absent while it is being read
  TimeZone zone;
};

// Go's notation, with weeks and days in front: "7d", "1d12h", "2w", "90s".
Result<int64_t> ParseLongDuration(std::string_view text);

// "30/h", "2/m", "1/s", "500/d": the distance between two of them.
Result<int64_t> ParseRate(std::string_view text);

// An instant without a clock to be relative to: RFC 3339, or "2026-03-10 08:00[:00]" in `zone`.
Result<Timestamp> ParseAbsoluteTime(std::string_view text, const TimeZone& zone);

// An instant of a scenario:
//   "12:00", "12:00:30"        local time of the first day
//   "day 2 12:00"              … of the second
//   "Tue 12:00"                … of the first Tuesday from the start on
//   "+90m", "+1d2h"            after the start
//   "start", "end"
//   and what ParseAbsoluteTime reads.
// Must not be before the start.
Result<Timestamp> ParseScenarioTime(std::string_view text, const ScenarioClock& clock);

// "2026-03-10 12:00:03" in local time.
std::string FormatLocalTime(Timestamp time, const TimeZone& zone);

// "12:00:03" on the day of `start`, "day 2 12:00:03" on the next: as ParseScenarioTime reads it.
std::string FormatScenarioTime(Timestamp time, const ScenarioClock& clock);

}  // namespace krafla
