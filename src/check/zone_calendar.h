// When a zone is open in the days to come, in instants and in local time. Asks the same question as
// the scheduler, minute by minute, so that it is right for whatever a window may say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/timestamp.h"
#include "session/tdm_settings.h"

namespace krafla {

// Open from `from` up to and without `to`.
struct OpenSpan {
  Timestamp from;
  Timestamp to;
  bool began_before = false;  // it was open already when the calendar begins
  bool ends_after = false;    // it is still open when the calendar ends

  int64_t DurationNs() const { return to.ns - from.ns; }
};

// Whole minutes; `now` is rounded down to one.
std::vector<OpenSpan> OpenSpans(const TdmSettings& tdm, const TdmZone& zone, Timestamp from,
                                Timestamp to);

struct ZoneWeek {
  std::vector<OpenSpan> spans;  // of the eight days from now
  bool never_opens = false;
  bool never_closes = false;
  // Of spans and gaps that lie within the eight days as a whole; 0 when there is none.
  int64_t longest_open_ns = 0;
  int64_t shortest_closed_ns = 0;
};
ZoneWeek WeekOf(const TdmSettings& tdm, const TdmZone& zone, Timestamp now);

// What the clock of the zone does: local time jumps at `at`.
struct ClockChange {
  Timestamp at;
  int before_seconds = 0;  // offset from UTC
  int after_seconds = 0;
};
// Those after `from` and up to `to`.
std::vector<ClockChange> ClockChanges(const TimeZone& zone, Timestamp from, Timestamp to);

// "Mon 2026-11-16 22:00"
std::string LocalText(Timestamp at, const TimeZone& zone);

// "open Mon 2026-11-16 22:00 to Tue 2026-11-17 06:00 Asia/Shanghai (8h)"
std::string DescribeSpan(const OpenSpan& span, const TimeZone& clock);

// When the zone is open in the next two days, a line each, and what the clock does meanwhile.
std::vector<std::string> TwoDays(const TdmSettings& tdm, const TdmZone& zone, Timestamp now);

}  // namespace krafla
