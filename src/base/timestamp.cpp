#include "base/timestamp.h"

#include <chrono>

#include <date/date.h>
#include <fmt/format.h>

namespace krafla {

namespace {

constexpr int64_t kSecondsPerDay = 86'400;
// 0001-01-01T00:00:00Z, the value of Go's uninitialised time.
constexpr int64_t kZeroTimeSeconds = -62'135'596'800;
constexpr int kNotANumber = -1;

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// kNotANumber also when out of bounds, so that one comparison per field is enough.
constexpr int TwoDigits(const char* at, int most) {
  if (!IsDigit(at[0]) || !IsDigit(at[1])) return kNotANumber;
  const int value = (at[0] - '0') * 10 + (at[1] - '0');
  return value <= most ? value : kNotANumber;
}

std::unexpected<Error> NotATime(std::string_view text) {
  return Fail(fmt::format(
      "\"{}\" is not a time; write 2026-03-15T08:00:00Z or 2026-03-15T08:00:00+08:00", text));
}

// Takes ".123" off `rest` and gives nanoseconds; zero when there is no fraction.
int64_t TakeFraction(std::string_view& rest) {
  if (rest.size() < 2 || rest[0] != '.' || !IsDigit(rest[1])) return 0;
  int64_t nanoseconds = 0;
  int64_t weight = Timestamp::kNsPerSecond / 10;
  size_t used = 1;
  for (; used < rest.size() && IsDigit(rest[used]); ++used) {
    nanoseconds += (rest[used] - '0') * weight;
    weight /= 10;
  }
  rest.remove_prefix(used);
  return nanoseconds;
}

}  // namespace

Timestamp Timestamp::FromUnixSeconds(int64_t seconds, int64_t nanoseconds) {
  int64_t total = 0;
  if (__builtin_mul_overflow(seconds, kNsPerSecond, &total) ||
      __builtin_add_overflow(total, nanoseconds, &total) || total == kAbsentNs) {
    return {seconds < 0 ? kAbsentNs + 1 : std::numeric_limits<int64_t>::max()};
  }
  return {total};
}

int64_t ElapsedNs(Timestamp from, Timestamp to) {
  int64_t elapsed = 0;
  if (!__builtin_sub_overflow(to.ns, from.ns, &elapsed)) return elapsed;
  return from < to ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

Result<ZonedTimestamp> ParseRfc3339(std::string_view text) {
  constexpr size_t kDateAndTime = std::string_view("2006-01-02T15:04:05").size();
  if (text.size() <= kDateAndTime) return NotATime(text);
  const char* const t = text.data();
  if (t[4] != '-' || t[7] != '-' || t[10] != 'T' || t[13] != ':' || t[16] != ':') {
    return NotATime(text);
  }
  const int century = TwoDigits(t, 99);
  const int year = TwoDigits(t + 2, 99);
  const int month = TwoDigits(t + 5, 12);
  const int day = TwoDigits(t + 8, 31);
  const int hour = TwoDigits(t + 11, 23);
  const int minute = TwoDigits(t + 14, 59);
  const int second = TwoDigits(t + 17, 59);
  if (century < 0 || year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) {
    return NotATime(text);
  }
  const date::year_month_day civil{date::year{century * 100 + year},
                                   date::month{static_cast<unsigned>(month)},
                                   date::day{static_cast<unsigned>(day)}};
  if (!civil.ok()) return NotATime(text);

  std::string_view rest = text.substr(kDateAndTime);
  const int64_t nanoseconds = TakeFraction(rest);
  ZonedTimestamp parsed;
  if (rest != "Z") {
    if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') {
      return NotATime(text);
    }
    const int offset_hours = TwoDigits(rest.data() + 1, 23);
    const int offset_minutes = TwoDigits(rest.data() + 4, 59);
    if (offset_hours < 0 || offset_minutes < 0) return NotATime(text);
    parsed.offset_seconds = (offset_hours * 3600 + offset_minutes * 60) * (rest[0] == '-' ? -1 : 1);
  }
  const int64_t days = date::sys_days{civil}.time_since_epoch().count();
  const int64_t seconds =
      days * kSecondsPerDay + hour * 3600 + minute * 60 + second - parsed.offset_seconds;
  if (seconds == kZeroTimeSeconds && nanoseconds == 0) return parsed;
  parsed.time = Timestamp::FromUnixSeconds(seconds, nanoseconds);
  return parsed;
}

std::string FormatRfc3339(Timestamp time) {
  const date::sys_seconds instant{
      std::chrono::seconds{time.Present() ? time.UnixSeconds() : kZeroTimeSeconds}};
  const auto day = date::floor<date::days>(instant);
  const date::year_month_day civil{day};
  const int64_t second_of_day = (instant - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(civil.year()),
                     static_cast<unsigned>(civil.month()), static_cast<unsigned>(civil.day()),
                     second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
}

}  // namespace krafla
