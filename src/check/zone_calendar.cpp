#include "check/zone_calendar.h"

#include <date/date.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/go_duration.h"

namespace krafla {

namespace {

constexpr int64_t kMinute = 60;
constexpr int64_t kDay = 86'400;
// One day more than a week, so that every span and gap of a week is in it as a whole.
constexpr int64_t kWeekSeconds = 8 * kDay;

int64_t FloorTo(int64_t value, int64_t unit) {
  return value - ((value % unit) + unit) % unit;
}

Timestamp After(Timestamp at, int64_t seconds) {
  return Timestamp::FromUnixSeconds(at.UnixSeconds() + seconds);
}

std::string OffsetText(int seconds) {
  return FixedOffset(seconds).name();
}

std::string ClockText(Timestamp at, int offset_seconds) {
  return LocalText(at, FixedOffset(offset_seconds));
}

}  // namespace

std::vector<OpenSpan> OpenSpans(const TdmSettings& tdm, const TdmZone& zone, Timestamp from,
                                Timestamp to) {
  std::vector<OpenSpan> spans;
  const int64_t begin = FloorTo(from.UnixSeconds(), kMinute);
  const int64_t end = to.UnixSeconds();
  bool open = false;
  for (int64_t at = begin; at < end; at += kMinute) {
    // In the middle of the minute: whether its first second belongs to a window is not the matter.
    const bool now_open = tdm.IsOpen(zone, Timestamp::FromUnixSeconds(at + kMinute / 2));
    if (now_open && !open)
      spans.push_back({Timestamp::FromUnixSeconds(at), {}, at == begin, false});
    if (!now_open && open) spans.back().to = Timestamp::FromUnixSeconds(at);
    open = now_open;
  }
  if (open) {
    spans.back().to = to;
    spans.back().ends_after = true;
  }
  return spans;
}

ZoneWeek WeekOf(const TdmSettings& tdm, const TdmZone& zone, Timestamp now) {
  ZoneWeek week;
  week.spans = OpenSpans(tdm, zone, now, After(now, kWeekSeconds));
  week.never_opens = week.spans.empty();
  week.never_closes =
      week.spans.size() == 1 && week.spans[0].began_before && week.spans[0].ends_after;
  for (size_t i = 0; i < week.spans.size(); ++i) {
    const OpenSpan& span = week.spans[i];
    if (!span.began_before && !span.ends_after)
      week.longest_open_ns = std::max(week.longest_open_ns, span.DurationNs());
    if (i == 0) continue;
    const int64_t gap = span.from.ns - week.spans[i - 1].to.ns;
    if (week.shortest_closed_ns == 0 || gap < week.shortest_closed_ns)
      week.shortest_closed_ns = gap;
  }
  return week;
}

std::vector<ClockChange> ClockChanges(const TimeZone& zone, Timestamp from, Timestamp to) {
  std::vector<ClockChange> changes;
  int64_t at = from.UnixSeconds();
  while (at < to.UnixSeconds()) {
    const TimeZone::Offset offset = zone.OffsetAt(at);
    if (offset.until <= at || offset.until > to.UnixSeconds()) break;
    const int after = zone.OffsetAt(offset.until).seconds;
    if (after != offset.seconds)
      changes.push_back({Timestamp::FromUnixSeconds(offset.until), offset.seconds, after});
    at = offset.until;
  }
  return changes;
}

std::string LocalText(Timestamp at, const TimeZone& zone) {
  static constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                            "Thu", "Fri", "Sat"};
  const int64_t local = at.UnixSeconds() + zone.OffsetAt(at.UnixSeconds()).seconds;
  const int64_t day = FloorTo(local, kDay) / kDay;
  const date::sys_days days{date::days{static_cast<int>(day)}};
  const date::year_month_day civil{days};
  const int64_t minute = (local - day * kDay) / kMinute;
  return fmt::format("{} {:04}-{:02}-{:02} {:02}:{:02}", kDays[date::weekday{days}.c_encoding()],
                     static_cast<int>(civil.year()), static_cast<unsigned>(civil.month()),
                     static_cast<unsigned>(civil.day()), minute / 60, minute % 60);
}

std::string DescribeSpan(const OpenSpan& span, const TimeZone& clock) {
  if (span.began_before && span.ends_after) return "open all the time";
  if (span.began_before)
    return fmt::format("open now, until {} {}", LocalText(span.to, clock), clock.name());
  if (span.ends_after)
    return fmt::format("open from {} {} on", LocalText(span.from, clock), clock.name());
  return fmt::format("open {} to {} {} ({})", LocalText(span.from, clock),
                     LocalText(span.to, clock), clock.name(),
                     FormatShortDuration(span.DurationNs()));
}

std::vector<std::string> TwoDays(const TdmSettings& tdm, const TdmZone& zone, Timestamp now) {
  const TimeZone& clock = tdm.time_zone;
  const Timestamp end = After(now, 2 * kDay);
  std::vector<std::string> lines;
  for (const OpenSpan& span : WeekOf(tdm, zone, now).spans) {
    if (span.from >= end) break;
    lines.push_back(DescribeSpan(span, clock));
  }
  if (lines.empty()) lines.push_back("not open in the next two days");
  for (const ClockChange& change : ClockChanges(clock, now, end))
    lines.push_back(fmt::format(
        "clock change: {} becomes {} ({} to {})", ClockText(change.at, change.before_seconds),
        ClockText(change.at, change.after_seconds), OffsetText(change.before_seconds),
        OffsetText(change.after_seconds)));
  return lines;
}

}  // namespace krafla
