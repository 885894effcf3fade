// K30: when zones are open. Everything is asked of the calendar, which asks what the scheduler
// asks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "check/check_input.h"
#include "check/check_rule.h"
#include "check/zone_calendar.h"

namespace krafla {

namespace {

constexpr int64_t kDay = 86'400;

std::string ZoneTitle(const TdmZone& zone) {
  return "zone " + Printable(zone.name);
}

void NoZones(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured() || !input.tdm.zones.empty()) return;
  report.Add(
      {.place = input.InConfig(input.tdm.option->location),
       .object = "plugin tdm",
       .message = "no zone has a window",
       .consequence = "nodes with the label volcano.sh/revocable-zone take no pods at any "
                      "time; on other nodes only pods that offer themselves can be victims "
                      "where tdm is asked",
       .fix = "add tdm.revocable-zone.<zone>: \"08:00-21:00\" for each zone, or take tdm out"});
}

void NeverOpens(const CheckInput& input, RuleReport& report) {
  for (const TdmZone& zone : input.tdm.zones) {
    // A window that cannot be read has its own finding.
    if (!zone.readable() || !WeekOf(input.tdm, zone, input.now).never_opens) continue;
    const bool several = !input.tdm.whole_windows && !ParseZoneWindow(zone.text);
    report.Add({.place = input.InConfig(zone.location),
                .object = ZoneTitle(zone),
                .message = several
                               ? fmt::format("with windows: false (profile volcano) the zone never "
                                             "opens: {} is more than one daily window",
                                             Quoted(zone.text))
                               : fmt::format("the window {} does not open in the next eight days",
                                             Quoted(zone.text)),
                .consequence = "nobody is placed on the zone's nodes, and whoever offers itself is "
                               "taken off them",
                .fix = several ? "say compatibility: {windows: true}, or write one daily window"
                               : "correct the window, or take the zone out",
                .details = TwoDays(input.tdm, zone, input.now)});
  }
}

void NeverCloses(const CheckInput& input, RuleReport& report) {
  for (const TdmZone& zone : input.tdm.zones) {
    if (!WeekOf(input.tdm, zone, input.now).never_closes) continue;
    report.Add({.place = input.InConfig(zone.location),
                .object = ZoneTitle(zone),
                .message = fmt::format("the window {} is always open", Quoted(zone.text)),
                .consequence = "the zone's nodes are never given back: nobody is taken off them",
                .fix = "if that is not meant, let start and end differ"});
  }
}

// A span that begins on one local day and ends on a later one, its last minute counted.
bool PassesMidnight(const OpenSpan& span, const TimeZone& clock) {
  if (span.began_before || span.ends_after) return false;
  const Timestamp last = Timestamp::FromUnixSeconds(span.to.UnixSeconds() - 60);
  return LocalText(span.from, clock).substr(0, 14) != LocalText(last, clock).substr(0, 14);
}

void PastMidnight(const CheckInput& input, RuleReport& report) {
  for (const TdmZone& zone : input.tdm.zones) {
    const ZoneWeek week = WeekOf(input.tdm, zone, input.now);
    const auto passing = std::ranges::find_if(week.spans, [&](const OpenSpan& span) {
      return PassesMidnight(span, input.tdm.time_zone);
    });
    if (passing == week.spans.end()) continue;
    std::vector<std::string> hours = TwoDays(input.tdm, zone, input.now);
    // Windows by day: the one that is meant may be days away.
    std::string line = DescribeSpan(*passing, input.tdm.time_zone);
    if (std::ranges::find(hours, line) == hours.end()) hours.push_back(std::move(line));
    report.Add({.place = input.InConfig(zone.location),
                .object = ZoneTitle(zone),
                .message = fmt::format("the window {} goes past midnight", Quoted(zone.text)),
                .consequence = "it is open from one day into the next; the hours are shown below",
                .fix = "nothing, if these are the hours you mean",
                .details = std::move(hours)});
  }
}

// Volcano looks at the start on today's date alone.
void CutAtMidnight(const CheckInput& input, RuleReport& report) {
  if (input.tdm.whole_windows) return;
  TdmSettings whole = input.tdm;
  whole.whole_windows = true;
  for (const TdmZone& zone : input.tdm.zones) {
    if (!zone.readable()) continue;
    const ZoneWeek wrapped = WeekOf(whole, zone, input.now);
    const ZoneWeek cut = WeekOf(input.tdm, zone, input.now);
    if (cut.never_opens) continue;  // has a finding of its own
    int64_t wrapped_ns = 0;
    int64_t cut_ns = 0;
    for (const OpenSpan& span : wrapped.spans) wrapped_ns += span.DurationNs();
    for (const OpenSpan& span : cut.spans) cut_ns += span.DurationNs();
    if (cut_ns >= wrapped_ns) continue;
    report.Add({.place = input.InConfig(zone.location),
                .object = ZoneTitle(zone),
                .message = fmt::format("with windows: false (profile volcano) the window {} closes "
                                       "at midnight",
                                       Quoted(zone.text)),
                .consequence = "after midnight the zone is closed until the window's start, and is "
                               "emptied in the middle of its hours",
                .fix = "say compatibility: {windows: true}",
                .details = TwoDays(input.tdm, zone, input.now)});
  }
}

// ---- daylight saving

int64_t OpenSeconds(const TdmSettings& tdm, const TdmZone& zone, int64_t from, int64_t to) {
  int64_t seconds = 0;
  for (const OpenSpan& span :
       OpenSpans(tdm, zone, Timestamp::FromUnixSeconds(from), Timestamp::FromUnixSeconds(to)))
    seconds += span.DurationNs() / Timestamp::kNsPerSecond;
  return seconds;
}

// The day of the change, and the same day of the week before, from midnight to midnight.
struct OpenHours {
  int64_t on_the_day = 0;
  int64_t a_week_before = 0;
};
OpenHours HoursAround(const TdmSettings& tdm, const TdmZone& zone, const ClockChange& change) {
  const int64_t at = change.at.UnixSeconds();
  const int64_t local = at - 1 + change.before_seconds;
  const int64_t midnight = local - local % kDay;  // of the local clock
  const int64_t from = midnight - change.before_seconds;
  const int64_t to = midnight + kDay - change.after_seconds;
  return {.on_the_day = OpenSeconds(tdm, zone, from, to),
          .a_week_before = OpenSeconds(tdm, zone, from - 7 * kDay, from - 6 * kDay)};
}

void ClockChangeInWindow(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured()) return;
  const Timestamp in_a_year = Timestamp::FromUnixSeconds(input.now.UnixSeconds() + 366 * kDay);
  const std::vector<ClockChange> changes = ClockChanges(input.tdm.time_zone, input.now, in_a_year);
  for (const TdmZone& zone : input.tdm.zones) {
    if (!zone.readable() || WeekOf(input.tdm, zone, input.now).never_closes) continue;
    std::vector<std::string> lines;
    bool skipped = false;
    for (const ClockChange& change : changes) {
      const OpenHours hours = HoursAround(input.tdm, zone, change);
      if (hours.on_the_day == hours.a_week_before) continue;
      skipped |= hours.on_the_day == 0;
      const auto text = [](int64_t seconds) {
        return FormatShortDuration(seconds * Timestamp::kNsPerSecond);
      };
      const std::string before = LocalText(change.at, FixedOffset(change.before_seconds));
      const std::string after = LocalText(change.at, FixedOffset(change.after_seconds));
      lines.push_back(fmt::format("{} becomes {} {}: open {} that day instead of {}", before,
                                  after.substr(15), input.tdm.time_zone.name(),
                                  text(hours.on_the_day), text(hours.a_week_before)));
    }
    if (lines.empty()) continue;
    report.AddAs(skipped ? FindingLevel::kWarning : FindingLevel::kNote,
                 {.place = input.InConfig(zone.location),
                  .object = ZoneTitle(zone),
                  .message = fmt::format("the clock of {} is changed inside the window {}",
                                         input.tdm.time_zone.name(), Quoted(zone.text)),
                  .consequence = skipped ? "on such a day the zone does not open at all"
                                         : "on such days the zone is open longer or shorter",
                  .fix = "move the ends of the window away from the change, or name a zone without "
                         "daylight saving in tdm.timezone",
                  .details = std::move(lines)});
  }
}

void LeadTooLong(const CheckInput& input, RuleReport& report) {
  if (input.tdm.drain_lead_ns == 0) return;
  for (const TdmZone& zone : input.tdm.zones) {
    const ZoneWeek week = WeekOf(input.tdm, zone, input.now);
    if (week.longest_open_ns == 0 || input.tdm.drain_lead_ns < week.longest_open_ns) continue;
    report.Add(
        {.place = input.InConfig(input.tdm.drain_lead_location),
         .object = ZoneTitle(zone),
         .message = fmt::format("tdm.drain-lead {} is not shorter than the zone is ever open "
                                "({})",
                                FormatShortDuration(input.tdm.drain_lead_ns),
                                FormatShortDuration(week.longest_open_ns)),
         .consequence = "the zone is being emptied from the moment it opens: only pods that "
                        "say with krafla.io/expected-run-time that they will be done in time "
                        "are placed there",
         .fix = "shorten tdm.drain-lead, or lengthen the window",
         .details = TwoDays(input.tdm, zone, input.now)});
  }
}

void PeriodNotPositive(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured() || input.tdm.evict_period_ns > 0) return;
  report.Add({.place = input.InConfig(input.tdm.evict_period_location),
              .object = "plugin tdm",
              .message = fmt::format("tdm.evict.period: {} is not above zero",
                                     FormatGoDuration(input.tdm.evict_period_ns)),
              .consequence =
                  "a closed zone is emptied in every cycle without a pause: a job without "
                  "a budget loses a pod per cycle",
              .fix = "write a duration such as 1m, or take the argument out: the default is 1m"});
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;
constexpr FindingLevel kNote = FindingLevel::kNote;

constexpr std::array kRules = {
    CheckRule{"K301", "no-zones", kWarning, RuleNeeds::kConfig, "tdm has no zone.", &NoZones},
    CheckRule{"K302", "never-opens", kWarning, RuleNeeds::kNothing, "A zone's window never opens.",
              &NeverOpens},
    CheckRule{"K303", "never-closes", kNote, RuleNeeds::kNothing, "A zone's window never closes.",
              &NeverCloses},
    CheckRule{"K304", "past-midnight", kNote, RuleNeeds::kNothing,
              "A zone's window goes past midnight.", &PastMidnight},
    CheckRule{"K305", "cut-at-midnight", kWarning, RuleNeeds::kNothing,
              "A window past midnight is cut off at midnight by profile volcano.", &CutAtMidnight},
    CheckRule{"K306", "clock-change", kNote, RuleNeeds::kNothing,
              "Daylight saving makes a window longer, shorter or skips it.", &ClockChangeInWindow},
    CheckRule{"K307", "evict-period-not-positive", kWarning, RuleNeeds::kNothing,
              "tdm.evict.period is zero or negative.", &PeriodNotPositive},
    CheckRule{"K308", "drain-lead-too-long", kWarning, RuleNeeds::kNothing,
              "tdm.drain-lead is longer than a zone is open.", &LeadTooLong},
};

}  // namespace

std::span<const CheckRule> WindowRules() {
  return kRules;
}

}  // namespace krafla
