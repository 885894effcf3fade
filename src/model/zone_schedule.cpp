#include "model/zone_schedule.h"

#include <algorithm>
#include <array>
#include <limits>

#include <date/date.h>
#include <fmt/format.h>

#include "model/local_clock.h"

namespace krafla {

using namespace local_clock;

namespace {

constexpr std::array<std::string_view, 7> kDays = {"monday", "tuesday",  "wednesday", "thursday",
                                                   "friday", "saturday", "sunday"};
constexpr std::array<std::string_view, 7> kShortDays = {"Mon", "Tue", "Wed", "Thu",
                                                        "Fri", "Sat", "Sun"};
constexpr std::string_view kExample =
    "write it as HH:MM-HH:MM, with days before it where needed, for example Mon-Fri 08:00-21:00; "
    "Sat,Sun 10:00-14:00";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The text up to the first `separator`, which is taken off `rest` together with it.
std::string_view TakeUpTo(char separator, std::string_view& rest) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return Trim(part);
}

constexpr bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Result<int> ParseDay(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (size_t day = 0; day < kDays.size(); ++day)
    if (lower == kDays[day] || lower == kDays[day].substr(0, 3)) return static_cast<int>(day);
  return Fail(fmt::format(
      "\"{}\" is not a day of the week; write Mon, Tue, Wed, Thu, Fri, Sat, Sun", text));
}

Result<uint8_t> ParseDays(std::string_view text) {
  unsigned days = 0;
  std::string_view rest = text;
  do {
    std::string_view item = TakeUpTo(',', rest);
    const bool is_range = item.find('-') != std::string_view::npos;
    const Result<int> first = ParseDay(TakeUpTo('-', item));
    if (!first) return Fail(first.error().message);
    Result<int> last = is_range ? ParseDay(Trim(item)) : first;
    if (!last) return Fail(last.error().message);
    for (int day = *first;; day = (day + 1) % 7) {
      days |= 1U << day;
      if (day == *last) break;
    }
  } while (!rest.empty());
  if (text.ends_with(',')) return Fail("a day is missing after the last comma");
  return static_cast<uint8_t>(days);
}

Result<ZoneSchedule::Part> ParsePart(std::string_view text) {
  ZoneSchedule::Part part;
  if (!text.empty() && IsLetter(text.front())) {
    // Days end where the first digit is: "Mon-Fri 08:00-21:00".
    const size_t digit = std::min(text.find_first_of("0123456789"), text.size());
    const Result<uint8_t> days = ParseDays(Trim(text.substr(0, digit)));
    if (!days) return Fail(fmt::format("{}: {}", text, days.error().message));
    if (digit == text.size())
      return Fail(fmt::format("{}: the hours are missing; {}", text, kExample));
    part.days = *days;
    text.remove_prefix(digit);
  }
  const Result<ZoneWindow> window = ParseZoneWindow(text);
  if (!window) return Fail(window.error().message);
  part.window = *window;
  return part;
}

bool HasDay(const ZoneSchedule::Part& part, int64_t day) {
  return (part.days >> WeekdayOf(day) & 1) != 0;
}

bool ContainsSecond(const ZoneSchedule& schedule, int64_t local) {
  const int64_t day = DayOf(local);
  const int64_t minute = SecondOfDay(local) / kSecondsPerMinute;
  return std::any_of(
      schedule.parts.begin(), schedule.parts.end(), [&](const ZoneSchedule::Part& part) {
        const ZoneWindow& window = part.window;
        if (window.start_minute < window.end_minute)
          return HasDay(part, day) && window.start_minute <= minute && minute < window.end_minute;
        return (HasDay(part, day) && window.start_minute <= minute) ||
               (HasDay(part, day - 1) && minute < window.end_minute);
      });
}

// The next second of the local clock after `local` at which a window begins or ends, or a day.
int64_t NextBoundary(const ZoneSchedule& schedule, int64_t local) {
  const int64_t midnight = DayOf(local) * kSecondsPerDay;
  int64_t next = midnight + kSecondsPerDay;
  for (const ZoneSchedule::Part& part : schedule.parts)
    for (const int minute : {part.window.start_minute, part.window.end_minute})
      if (const int64_t at = midnight + minute * kSecondsPerMinute; at > local)
        next = std::min(next, at);
  return next;
}

}  // namespace

const ZoneWindow* ZoneSchedule::Daily() const {
  return parts.size() == 1 && parts[0].days == kEveryDay ? &parts[0].window : nullptr;
}

Result<ZoneSchedule> ParseZoneSchedule(std::string_view text) {
  ZoneSchedule schedule;
  std::string_view rest = Trim(text);
  if (rest.ends_with(';')) rest = Trim(rest.substr(0, rest.size() - 1));
  do {
    const Result<ZoneSchedule::Part> part = ParsePart(TakeUpTo(';', rest));
    if (!part) return Fail(part.error().message);
    schedule.parts.push_back(*part);
  } while (!rest.empty());
  return schedule;
}

bool IsOpen(const ZoneSchedule& schedule, Timestamp now, const TimeZone& zone) {
  return ContainsSecond(schedule, LocalSeconds(now.UnixSeconds(), zone));
}

std::optional<Timestamp> NextChange(const ZoneSchedule& schedule, Timestamp now,
                                    const TimeZone& zone) {
  if (const ZoneWindow* daily = schedule.Daily()) return NextChange(*daily, now, zone);
  const bool open = IsOpen(schedule, now, zone);
  int64_t at = now.UnixSeconds();
  // A jump of the clock can leave out a week's only window, but not those of three.
  const int64_t horizon = at + 22 * kSecondsPerDay;
  TimeZone::Offset offset = zone.OffsetAt(at);
  while (at < horizon) {
    const int64_t boundary = NextBoundary(schedule, at + offset.seconds) - offset.seconds;
    if (boundary < offset.until) {
      at = boundary;
    } else {
      at = offset.until;
      offset = zone.OffsetAt(at);
    }
    if (ContainsSecond(schedule, at + offset.seconds) != open)
      return Timestamp::FromUnixSeconds(at);
  }
  return std::nullopt;
}

std::string DescribeClosed(std::string_view zone_name, const ZoneSchedule& schedule, Timestamp now,
                           const TimeZone& zone) {
  if (const ZoneWindow* daily = schedule.Daily())
    return DescribeClosed(zone_name, *daily, now, zone);
  const std::optional<Timestamp> opening = NextChange(schedule, now, zone);
  if (!opening) return fmt::format("zone {} is closed", zone_name);
  const int64_t local = LocalSeconds(opening->UnixSeconds(), zone);
  const int64_t minute = SecondOfDay(local) / kSecondsPerMinute;
  const date::year_month_day civil{date::sys_days{date::days{static_cast<int>(DayOf(local))}}};
  return fmt::format("zone {} is closed until {} {:04}-{:02}-{:02} {:02}:{:02} {}", zone_name,
                     kShortDays[static_cast<size_t>(WeekdayOf(DayOf(local)))],
                     static_cast<int>(civil.year()), static_cast<unsigned>(civil.month()),
                     static_cast<unsigned>(civil.day()), minute / 60, minute % 60, zone.name());
}

std::string DescribeTime(Timestamp at, const TimeZone& zone) {
  const int64_t second = SecondOfDay(LocalSeconds(at.UnixSeconds(), zone));
  std::string text = fmt::format("{:02}:{:02}", second / kSecondsPerHour,
                                 second % kSecondsPerHour / kSecondsPerMinute);
  if (second % kSecondsPerMinute != 0) text += fmt::format(":{:02}", second % kSecondsPerMinute);
  return text.append(" ").append(zone.name());
}

}  // namespace krafla
