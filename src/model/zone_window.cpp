#include "model/zone_window.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include <date/tz.h>
#include <fmt/format.h>

#include "model/local_clock.h"

namespace krafla {

using namespace local_clock;

// The library is built this way; without the definition its classes have another layout here.
static_assert(USE_OS_TZDB, "link date::date-tz, it brings the definitions its headers need");

namespace {

int LocalOffsetSeconds(int64_t unix_seconds) {
  const std::time_t instant = unix_seconds;
  std::tm local{};
  if (localtime_r(&instant, &local) == nullptr) return 0;
  return static_cast<int>(local.tm_gmtoff);
}

// The C library tells the offset of an instant but not its end: probe ahead, and look for the
// change if there is one. Zones do not change twice within the probed time.
TimeZone::Offset LocalOffset(int64_t unix_seconds) {
  const int seconds = LocalOffsetSeconds(unix_seconds);
  int64_t same = unix_seconds;
  int64_t until = unix_seconds + 6 * kSecondsPerHour;
  if (LocalOffsetSeconds(until) == seconds) return {seconds, until};
  while (until - same > 1) {
    const int64_t middle = same + (until - same) / 2;
    (LocalOffsetSeconds(middle) == seconds ? same : until) = middle;
  }
  return {seconds, until};
}

// Only for people to read.
std::string LocalZoneName() {
  constexpr std::string_view kDatabase = "/zoneinfo/";
  std::string path = "/etc/localtime";
  if (const char* variable = std::getenv("TZ"); variable != nullptr) {
    std::string_view value = variable;
    if (value.starts_with(':')) value.remove_prefix(1);
    if (value.empty()) return "UTC";
    if (!value.starts_with('/')) return std::string(value);
    path = value;
  }
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error).string();
  const size_t at = target.rfind(kDatabase);
  if (error || at == std::string::npos) return "local time";
  return target.substr(at + kDatabase.size());
}

std::string FixedOffsetName(int offset_seconds) {
  if (offset_seconds == 0) return "UTC";
  const int magnitude = std::abs(offset_seconds);
  std::string name = fmt::format("UTC{}{:02}:{:02}", offset_seconds < 0 ? '-' : '+',
                                 magnitude / 3600, magnitude / 60 % 60);
  if (magnitude % 60 != 0) name += fmt::format(":{:02}", magnitude % 60);
  return name;
}

// The instant at which the local clock shows `local`. Where the clock jumps there is none, or
// there are two; the choice is that of Go's time.Date, so that Volcano's reading stays Volcano's.
int64_t InstantOf(int64_t local, const TimeZone& zone) {
  const int guess = zone.OffsetAt(local).seconds;
  if (guess == 0) return local;
  return local - zone.OffsetAt(local - guess).seconds;
}

bool ContainsSecond(const ZoneWindow& window, int64_t local) {
  const int64_t minute = SecondOfDay(local) / kSecondsPerMinute;
  if (window.start_minute < window.end_minute) {
    return window.start_minute <= minute && minute < window.end_minute;
  }
  // Equal ends make this true for every minute.
  return window.start_minute <= minute || minute < window.end_minute;
}

// The two readings differ in when a window closes; both open it when the clock shows the start.
Timestamp NextOpening(const ZoneWindow& window, Timestamp now, const TimeZone& zone) {
  if (!IsOpen(window, now, zone)) {
    const std::optional<Timestamp> change = NextChange(window, now, zone);
    if (change) return *change;
  }
  const int64_t today = DayOf(LocalSeconds(now.UnixSeconds(), zone));
  for (int64_t day = today;; ++day) {
    const int64_t start =
        InstantOf(day * kSecondsPerDay + window.start_minute * kSecondsPerMinute, zone);
    if (start > now.UnixSeconds()) return Timestamp::FromUnixSeconds(start);
  }
}

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// "8:05" or "08:05" in minutes of the day; an error says what is wrong, without the text.
Result<int> ParseMinuteOfDay(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view hours = text.substr(0, colon);
  const std::string_view minutes = colon < text.size() ? text.substr(colon + 1) : "";
  const auto is_number = [](std::string_view digits, size_t least) {
    return digits.size() >= least && digits.size() <= 2 && IsDigit(digits.front()) &&
           IsDigit(digits.back());
  };
  const auto number = [](std::string_view digits) {
    int value = 0;
    for (const char digit : digits) value = value * 10 + (digit - '0');
    return value;
  };
  if (!is_number(hours, 1) || !is_number(minutes, 2)) {
    return Fail("write the window as HH:MM-HH:MM, for example 08:00-21:00");
  }
  if (number(hours) > 23) return Fail("the hour must be 00 to 23");
  if (number(minutes) > 59) return Fail("the minute must be 00 to 59");
  return number(hours) * 60 + number(minutes);
}

}  // namespace

TimeZone::Offset TimeZone::OffsetAt(int64_t unix_seconds) const {
  if (local_) return LocalOffset(unix_seconds);
  if (database_zone_ == nullptr) {
    return {fixed_offset_seconds_, std::numeric_limits<int64_t>::max()};
  }
  const date::sys_info info =
      database_zone_->get_info(date::sys_seconds{std::chrono::seconds{unix_seconds}});
  return {static_cast<int>(info.offset.count()), info.end.time_since_epoch().count()};
}

Result<TimeZone> FindTimeZone(std::string_view iana_name) {
  try {
    const date::tzdb& database = date::get_tzdb();
    for (const date::time_zone& candidate : database.zones) {
      if (candidate.name() != iana_name) continue;
      // The zone's file is read at the first question; what is wrong with it must show here.
      candidate.get_info(date::sys_seconds{});
      TimeZone zone;
      zone.name_ = iana_name;
      zone.database_zone_ = &candidate;
      return zone;
    }
  } catch (const std::exception& error) {
    return Fail(fmt::format("the time zone \"{}\" cannot be read from the tz database: {}",
                            iana_name, error.what()));
  }
  return Fail(fmt::format(
      "\"{}\" is not a time zone of the tz database; write a name like Asia/Shanghai", iana_name));
}

TimeZone FixedOffset(int seconds) {
  TimeZone zone;
  zone.name_ = FixedOffsetName(seconds);
  zone.fixed_offset_seconds_ = seconds;
  return zone;
}

TimeZone LocalTimeZone() {
  tzset();  // localtime_r need not look at TZ again
  TimeZone zone;
  zone.name_ = LocalZoneName();
  zone.local_ = true;
  return zone;
}

Result<ZoneWindow> ParseZoneWindow(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  std::string_view trimmed = text;
  trimmed.remove_prefix(std::min(trimmed.find_first_not_of(kBlanks), trimmed.size()));
  trimmed = trimmed.substr(0, trimmed.find_last_not_of(kBlanks) + 1);

  const size_t dash = trimmed.find('-');
  const Result<int> start = ParseMinuteOfDay(trimmed.substr(0, dash));
  const Result<int> end =
      ParseMinuteOfDay(dash < trimmed.size() ? trimmed.substr(dash + 1) : std::string_view());
  for (const Result<int>* minute : {&start, &end}) {
    if (!*minute) {
      return Fail(
          fmt::format("{}: {}", trimmed.empty() ? "\"\"" : trimmed, minute->error().message));
    }
  }
  return ZoneWindow{*start, *end};
}

bool IsOpen(const ZoneWindow& window, Timestamp now, const TimeZone& zone) {
  return ContainsSecond(window, LocalSeconds(now.UnixSeconds(), zone));
}

std::optional<Timestamp> NextChange(const ZoneWindow& window, Timestamp now, const TimeZone& zone) {
  if (window.start_minute == window.end_minute) return std::nullopt;
  const bool open = IsOpen(window, now, zone);
  // While the offset stays the same the local clock runs evenly, and the next change is the minute
  // that ends the present state. A new offset may set the clock into or out of the window.
  int64_t at = now.UnixSeconds();
  // A jump of the clock can leave out a day's window, but not those of a week.
  const int64_t horizon = at + 7 * kSecondsPerDay;
  while (at < horizon) {
    const TimeZone::Offset offset = zone.OffsetAt(at);
    const int64_t local = at + offset.seconds;
    if (ContainsSecond(window, local) != open) return Timestamp::FromUnixSeconds(at);
    const int64_t boundary = (open ? window.end_minute : window.start_minute) * kSecondsPerMinute;
    const int64_t wait = SecondOfDay(boundary - SecondOfDay(local));
    if (at + wait < offset.until) return Timestamp::FromUnixSeconds(at + wait);
    at = offset.until;
  }
  return std::nullopt;
}

bool IsOpenVolcano(const ZoneWindow& window, Timestamp now, const TimeZone& zone) {
  const int64_t now_seconds = now.UnixSeconds();
  const int64_t today = DayOf(LocalSeconds(now_seconds, zone)) * kSecondsPerDay;
  const int64_t end_day = window.start_minute < window.end_minute ? today : today + kSecondsPerDay;
  const int64_t start = InstantOf(today + window.start_minute * kSecondsPerMinute, zone);
  const int64_t end = InstantOf(end_day + window.end_minute * kSecondsPerMinute, zone);
  return start <= now_seconds && now_seconds <= end;
}

std::optional<Timestamp> NextChangeVolcano(const ZoneWindow& window, Timestamp now,
                                           const TimeZone& zone) {
  const int64_t from = now.UnixSeconds();
  const int64_t horizon = from + 8 * kSecondsPerDay;
  // It can change where the window's ends are, where the local date changes, and where the clock is
  // set anew.
  std::vector<int64_t> instants;
  const int64_t today = DayOf(LocalSeconds(from, zone));
  for (int64_t day = today - 1; day <= today + 9; ++day) {
    const int64_t midnight = day * kSecondsPerDay;
    instants.push_back(InstantOf(midnight + window.start_minute * kSecondsPerMinute, zone));
    instants.push_back(InstantOf(midnight + window.end_minute * kSecondsPerMinute, zone) + 1);
  }
  for (int64_t at = from; at < horizon;) {
    const TimeZone::Offset offset = zone.OffsetAt(at);
    const int64_t end = std::min(offset.until, horizon);
    for (int64_t day = DayOf(at + offset.seconds) + 1;; ++day) {
      const int64_t midnight = day * kSecondsPerDay - offset.seconds;
      if (midnight >= end) break;
      instants.push_back(midnight);
    }
    instants.push_back(end);
    at = end;
  }
  std::sort(instants.begin(), instants.end());
  const bool open = IsOpenVolcano(window, now, zone);
  for (const int64_t instant : instants) {
    const Timestamp at = Timestamp::FromUnixSeconds(instant);
    if (instant > from && IsOpenVolcano(window, at, zone) != open) return at;
  }
  return std::nullopt;
}

std::string DescribeClosed(std::string_view zone_name, const ZoneWindow& window, Timestamp now,
                           const TimeZone& zone) {
  const Timestamp opening = NextOpening(window, now, zone);
  const int64_t local_now = LocalSeconds(now.UnixSeconds(), zone);
  const int64_t local_opening = LocalSeconds(opening.UnixSeconds(), zone);
  const int64_t minute = SecondOfDay(local_opening) / kSecondsPerMinute;
  std::string date;
  if (DayOf(local_now) != DayOf(local_opening) &&
      ElapsedNs(now, opening) > kSecondsPerDay * Timestamp::kNsPerSecond) {
    const date::year_month_day civil{
        date::sys_days{date::days{static_cast<int>(DayOf(local_opening))}}};
    date = fmt::format("{:04}-{:02}-{:02} ", static_cast<int>(civil.year()),
                       static_cast<unsigned>(civil.month()), static_cast<unsigned>(civil.day()));
  }
  return fmt::format("zone {} is closed until {}{:02}:{:02} {}", zone_name, date, minute / 60,
                     minute % 60, zone.name());
}

}  // namespace krafla
