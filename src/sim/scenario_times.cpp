#include "sim/scenario_times.h"

#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>

#include <date/date.h>
#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"

namespace krafla {

namespace {

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kNs = Timestamp::kNsPerSecond;
constexpr std::array<std::string_view, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};

constexpr std::string_view kHowToWriteTimes =
    "write \"12:00\", \"day 2 12:00\", \"Tue 12:00\", \"+90m\", \"2026-03-10 12:00\" or "
    "\"2026-03-10T12:00:00+08:00\"";

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The whole of `text` as a number without a sign.
std::optional<int> Digits(std::string_view text, size_t least, size_t most) {
  if (text.size() < least || text.size() > most) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// "8:00", "08:00", "08:00:30" in seconds of the day; "24:00" is the next midnight.
std::optional<int64_t> ParseTimeOfDay(std::string_view text) {
  const size_t first = text.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = text.find(':', first + 1);
  const auto hour = Digits(text.substr(0, first), 1, 2);
  const auto minute = Digits(
      text.substr(first + 1, second == std::string_view::npos ? second : second - first - 1), 2, 2);
  const auto seconds = second == std::string_view::npos ? std::optional<int>(0)
                                                        : Digits(text.substr(second + 1), 2, 2);
  if (!hour || !minute || !seconds) return std::nullopt;
  if (*minute > 59 || *seconds > 59) return std::nullopt;
  const int64_t total = int64_t{*hour} * 3600 + *minute * 60 + *seconds;
  if (total > kSecondsPerDay) return std::nullopt;
  return total;
}

// "2026-03-10" in days since 1970.
std::optional<int64_t> ParseDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = Digits(text.substr(0, 4), 4, 4);
  const auto month = Digits(text.substr(5, 2), 2, 2);
  const auto day = Digits(text.substr(8, 2), 2, 2);
  if (!year || !month || !day) return std::nullopt;
  const date::year_month_day civil{date::year{*year}, date::month{static_cast<unsigned>(*month)},
                                   date::day{static_cast<unsigned>(*day)}};
  if (!civil.ok()) return std::nullopt;
  return date::sys_days{civil}.time_since_epoch().count();
}

struct LocalTime {
  int64_t day = 0;  // since 1970, of the local calendar
  int64_t second = 0;
};

LocalTime ToLocal(Timestamp time, const TimeZone& zone) {
  const int64_t local = time.UnixSeconds() + zone.OffsetAt(time.UnixSeconds()).seconds;
  const int64_t second = ((local % kSecondsPerDay) + kSecondsPerDay) % kSecondsPerDay;
  return {(local - second) / kSecondsPerDay, second};
}

std::string FormatDate(int64_t day) {
  const date::year_month_day civil{date::sys_days{date::days{static_cast<int>(day)}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(civil.year()),
                     static_cast<unsigned>(civil.month()), static_cast<unsigned>(civil.day()));
}

std::string FormatTimeOfDay(int64_t second) {
  return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

// The first instant at which the local clock shows that time. A clock that is set back shows some
// times twice; one that is set forward leaves some out.
Result<Timestamp> FromLocal(LocalTime time, const TimeZone& zone) {
  const int64_t local = time.day * kSecondsPerDay + time.second;
  // No zone changes its offset twice within two days, so the offset in force then is one of these.
  for (const int64_t around : {local - kSecondsPerDay, local + kSecondsPerDay}) {
    const int offset = zone.OffsetAt(around).seconds;
    if (zone.OffsetAt(local - offset).seconds == offset)
      return Timestamp::FromUnixSeconds(local - offset);
  }
  return Fail(fmt::format("{} {} does not exist in {}: the clock is set forward over it",
                          FormatDate(time.day), FormatTimeOfDay(time.second), zone.name()));
}

// Takes "12" and "d" off "12d…"; nothing when the text does not begin with a number and that unit.
std::optional<int64_t> TakeUnit(std::string_view& text, char unit) {
  const size_t end = text.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos || text[end] != unit) return std::nullopt;
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + end, value);
  if (error != std::errc() || value > 100'000) return std::nullopt;
  text.remove_prefix(end + 1);
  return value;
}

Result<Timestamp> AtOrAfterStart(Timestamp time, std::string_view text,
                                 const ScenarioClock& clock) {
  if (time >= clock.start) return time;
  return Fail(fmt::format("{} is before the start, {}", Quoted(text),
                          FormatLocalTime(clock.start, clock.zone)));
}

}  // namespace

// Sums of a few of them and an instant can always be held.
constexpr int64_t kLongestDays = 36500;

Result<int64_t> ParseLongDuration(std::string_view text) {
  std::string_view rest = text;
  int64_t days = 0;
  bool any = false;
  if (const auto weeks = TakeUnit(rest, 'w')) {
    days += *weeks * 7;
    any = true;
  }
  if (const auto more = TakeUnit(rest, 'd')) {
    days += *more;
    any = true;
  }
  int64_t ns = 0;
  if (!rest.empty() || !any) {
    const Result<int64_t> clock = ParseGoDuration(rest);
    if (!clock || (any && *clock < 0))
      return Fail(fmt::format("{} is not a duration; write 90s, 5m, 1h30m or 7d", Quoted(text)));
    ns = *clock;
  }
  int64_t total = 0;
  if (__builtin_mul_overflow(days, kSecondsPerDay * kNs, &total) ||
      __builtin_add_overflow(total, ns, &total))
    return Fail(fmt::format("{} is too long for a duration", Quoted(text)));
  if (total > kLongestDays * kSecondsPerDay * kNs)
    return Fail(fmt::format("{} is too long: at most {}d", Quoted(text), kLongestDays));
  return total;
}

Result<int64_t> ParseRate(std::string_view text) {
  const auto wrong = [&] {
    return Fail(fmt::format("{} is not a rate; write 30/h, 2/m, 1/s or 500/d", Quoted(text)));
  };
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return wrong();
  const std::string_view number = Trim(text.substr(0, slash));
  const std::string_view unit = Trim(text.substr(slash + 1));
  double count = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc() || stop != number.data() + number.size() || !(count > 0)) return wrong();
  int64_t seconds = 0;
  if (unit == "s") seconds = 1;
  if (unit == "m") seconds = 60;
  if (unit == "h") seconds = 3600;
  if (unit == "d") seconds = kSecondsPerDay;
  if (seconds == 0) return wrong();
  const double ns = static_cast<double>(seconds) * 1e9 / count;
  if (ns < 1 || ns > 1e18) return wrong();
  return static_cast<int64_t>(ns);
}

namespace {

// 2100-01-01
constexpr int64_t kLastDay = 47'482;

Result<Timestamp> OutOfRange(std::string_view text) {
  return Fail(fmt::format("{} is not between the years 1970 and 2100", Quoted(text)));
}

// Room for everything a scenario adds to an instant.
Result<Timestamp> InRange(Timestamp time, std::string_view text) {
  if (time < Timestamp::FromUnixSeconds(0) ||
      time > Timestamp::FromUnixSeconds(kLastDay * kSecondsPerDay))
    return OutOfRange(text);
  return time;
}

}  // namespace

Result<Timestamp> ParseAbsoluteTime(std::string_view text, const TimeZone& zone) {
  constexpr size_t kDate = 10;
  if (text.size() > kDate && (text[kDate] == ' ' || text[kDate] == 'T')) {
    const auto day = ParseDate(text.substr(0, kDate));
    const auto second = ParseTimeOfDay(text.substr(kDate + 1));
    if (day && second) {
      // Far beyond them there are no instants to ask about.
      if (*day < 0 || *day > kLastDay) return OutOfRange(text);
      const Result<Timestamp> time = FromLocal({*day, *second}, zone);
      return time ? InRange(*time, text) : time;
    }
  }
  const Result<ZonedTimestamp> zoned = ParseRfc3339(text);
  if (!zoned)
    return Fail(fmt::format(
        "{} is not a time; write 2026-03-10T08:00:00+08:00 or \"2026-03-10 08:00\"", Quoted(text)));
  return InRange(zoned->time, text);
}

Result<Timestamp> ParseScenarioTime(std::string_view written, const ScenarioClock& clock) {
  const std::string_view text = Trim(written);
  if (text == "start") return clock.start;
  if (text == "end" && clock.until.Present()) return clock.until;
  if (text.starts_with('+')) {
    const Result<int64_t> after = ParseLongDuration(text.substr(1));
    if (!after) return Fail(after.error().message);
    return Timestamp{clock.start.ns + *after};
  }
  const LocalTime first = ToLocal(clock.start, clock.zone);
  if (const auto second = ParseTimeOfDay(text)) {
    const Result<Timestamp> time = FromLocal({first.day, *second}, clock.zone);
    if (time && *time < clock.start)
      return Fail(fmt::format("{} is before the start, {}; of the next day it is \"day 2 {}\"",
                              Quoted(text), FormatLocalTime(clock.start, clock.zone), text));
    return time;
  }
  const size_t last_blank = text.rfind(' ');
  if (last_blank != std::string_view::npos) {
    const std::string_view front = Trim(text.substr(0, last_blank));
    const auto second = ParseTimeOfDay(text.substr(last_blank + 1));
    if (second && front.starts_with("day ")) {
      const auto number = Digits(Trim(front.substr(4)), 1, 5);
      if (!number || *number < 1)
        return Fail(fmt::format("{}: days are counted from 1", Quoted(text)));
      const Result<Timestamp> time = FromLocal({first.day + *number - 1, *second}, clock.zone);
      return time ? AtOrAfterStart(*time, text, clock) : time;
    }
    for (size_t weekday = 0; second && weekday < kWeekdays.size(); ++weekday) {
      if (kWeekdays[weekday] != front) continue;
      // 1970-01-01 was a Thursday.
      const int64_t today = (first.day + 4) % 7;
      int64_t day = first.day + (static_cast<int64_t>(weekday) - today + 7) % 7;
      Result<Timestamp> time = FromLocal({day, *second}, clock.zone);
      if (time && *time < clock.start) time = FromLocal({day + 7, *second}, clock.zone);
      return time;
    }
  }
  const Result<Timestamp> time = ParseAbsoluteTime(text, clock.zone);
  if (!time) {
    const bool says_why = time.error().message.find("is not a time") == std::string::npos;
    if (says_why) return time;
    return Fail(fmt::format("{} is not a time; {}", Quoted(text), kHowToWriteTimes));
  }
  return AtOrAfterStart(*time, text, clock);
}

std::string FormatLocalTime(Timestamp time, const TimeZone& zone) {
  const LocalTime local = ToLocal(time, zone);
  return FormatDate(local.day) + " " + FormatTimeOfDay(local.second);
}

std::string FormatScenarioTime(Timestamp time, const ScenarioClock& clock) {
  const LocalTime local = ToLocal(time, clock.zone);
  const int64_t day = local.day - ToLocal(clock.start, clock.zone).day;
  std::string text = FormatTimeOfDay(local.second);
  if (day != 0) text = fmt::format("day {} {}", day + 1, text);
  return text;
}

}  // namespace krafla
