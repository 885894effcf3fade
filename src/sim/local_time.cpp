#include "sim/local_time.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace krafla {

namespace {

constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct WallTime {
  std::chrono::year_month_day date;
  unsigned weekday;
  int hour, minute, second;
};

WallTime Wall(int64_t local_seconds) {
  using namespace std::chrono;
  const sys_seconds time{seconds{local_seconds}};
  const sys_days day = floor<days>(time);
  const hh_mm_ss clock{time - day};
  return {year_month_day{day}, weekday{day}.c_encoding(), static_cast<int>(clock.hours().count()),
          static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count())};
}

}  // namespace

int LocalClock::OffsetAt(Timestamp time) {
  const int64_t now = time.UnixSeconds();
  if (now < known_from_ || now >= known_until_) {
    const TimeZone::Offset offset = zone_.OffsetAt(now);
    offset_seconds_ = offset.seconds;
    known_from_ = now;
    known_until_ = offset.until;
  }
  return offset_seconds_;
}

std::string LocalClock::Rfc3339(Timestamp time) {
  if (!time.Present()) return FormatRfc3339(time);
  if (time == last_time_) return last_text_;
  const int offset = OffsetAt(time);
  const WallTime wall = Wall(time.UnixSeconds() + offset);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(wall.date.year()),
                  static_cast<unsigned>(wall.date.month()), static_cast<unsigned>(wall.date.day()),
                  wall.hour, wall.minute, wall.second);
  if (const int64_t part = time.ns - time.UnixSeconds() * Timestamp::kNsPerSecond; part != 0) {
    text += fmt::format(".{:09}", part);
    while (text.back() == '0') text.pop_back();
  }
  // Offsets with seconds are of before 1972; RFC 3339 cannot write them.
  const int minutes = offset / 60;
  if (offset == 0) {
    text += 'Z';
  } else {
    text += fmt::format("{}{:02}:{:02}", minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                        std::abs(minutes) % 60);
  }
  last_time_ = time;
  last_text_ = text;
  return text;
}

std::string LocalClock::Short(Timestamp time) {
  if (!time.Present()) return "-";
  const WallTime wall = Wall(time.UnixSeconds() + OffsetAt(time));
  return fmt::format(
      "{} {} {} {:02}:{:02}:{:02}", kDays[wall.weekday], static_cast<unsigned>(wall.date.day()),
      kMonths[static_cast<unsigned>(wall.date.month()) - 1], wall.hour, wall.minute, wall.second);
}

std::string DurationText(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return "-" + DurationText(-seconds);
  if (seconds < 1 && seconds > 0) {
    return seconds < 0.005 ? "0s" : fmt::format("{:.2g}s", seconds);
  }
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3'600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{}h{:02}m", whole / 3'600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86'400, whole / 3'600 % 24);
}

}  // namespace krafla
