// When a revocable zone is open: a daily window in local time, and the time zones to judge it by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/timestamp.h"

namespace date {
class time_zone;
}

namespace krafla {

// A time zone of the tz database, a fixed offset, or the zone of this process. A small value;
// UTC unless told otherwise.
class TimeZone {
 public:
  TimeZone() = default;

  // Local time is UTC plus `seconds`, and stays so at least until `until` (Unix seconds).
  struct Offset {
    int seconds = 0;
    int64_t until = 0;
  };
  Offset OffsetAt(int64_t unix_seconds) const;

  // "Asia/Shanghai", "UTC", "UTC+08:00".
  const std::string& name() const { return name_; }

 private:
  friend Result<TimeZone> FindTimeZone(std::string_view iana_name);
  friend TimeZone FixedOffset(int seconds);
  friend TimeZone LocalTimeZone();

  std::string name_ = "UTC";
  const date::time_zone* database_zone_ = nullptr;  // owned by the library, never freed
  bool local_ = false;
  int fixed_offset_seconds_ = 0;
};

// By its name in the tz database of the system.
Result<TimeZone> FindTimeZone(std::string_view iana_name);

TimeZone FixedOffset(int seconds);

// The zone of the process, as the C library sees it: TZ, else /etc/localtime. That one may be a
// file without a name (a mount from the host, usual in containers), which the tz database library
// cannot read.
TimeZone LocalTimeZone();

// "08:00-21:00" in minutes of the day, each 0 to 1439.
struct ZoneWindow {
  int start_minute = 0;
  int end_minute = 0;

  friend bool operator==(const ZoneWindow&, const ZoneWindow&) = default;
};

// Blanks around the window are ignored; hours have one or two digits, minutes two.
Result<ZoneWindow> ParseZoneWindow(std::string_view text);

// The window as a set of minutes of the local day: [start, end), past midnight when the start is
// later than the end, the whole day when they are equal. What counts is the reading of the local
// clock: minutes that daylight saving skips do not happen, those it repeats happen twice.
bool IsOpen(const ZoneWindow& window, Timestamp now, const TimeZone& zone);

// The next instant after `now` at which IsOpen changes; none if it never does.
std::optional<Timestamp> NextChange(const ZoneWindow& window, Timestamp now, const TimeZone& zone);

// Volcano's reading: from the start on today's date to the end, tomorrow's if that is not after
// the start; both ends belong to it, to the second. A window past midnight is therefore closed
// between midnight and its start.
bool IsOpenVolcano(const ZoneWindow& window, Timestamp now, const TimeZone& zone);

// The next instant after `now` at which IsOpenVolcano changes.
std::optional<Timestamp> NextChangeVolcano(const ZoneWindow& window, Timestamp now,
                                           const TimeZone& zone);

// "zone rz1 is closed until 08:00 Asia/Shanghai", for a window that either reading calls closed.
std::string DescribeClosed(std::string_view zone_name, const ZoneWindow& window, Timestamp now,
                           const TimeZone& zone);

}  // namespace krafla
