#include "check/zone_calendar.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr int64_t kHour = 3'600 * Timestamp::kNsPerSecond;

TdmSettings Settings(const std::string& window, const std::string& time_zone = "UTC") {
  TdmSettings tdm;
  tdm.time_zone = *FindTimeZone(time_zone);
  tdm.zones.push_back(MakeTdmZone("rz1", window, {}));
  return tdm;
}

Timestamp At(const char* text) {
  return ParseRfc3339(text)->time;
}

TEST(ZoneCalendar, ADayHasOneSpanOfAPlainWindow) {
  const TdmSettings tdm = Settings("08:00-21:00");
  const auto spans =
      OpenSpans(tdm, tdm.zones[0], At("2026-03-10T00:00:00Z"), At("2026-03-11T00:00:00Z"));
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].from, At("2026-03-10T08:00:00Z"));
  EXPECT_EQ(spans[0].to, At("2026-03-10T21:00:00Z"));
  EXPECT_FALSE(spans[0].began_before);
  EXPECT_FALSE(spans[0].ends_after);
}

TEST(ZoneCalendar, SpansThatReachOverTheEndsAreMarked) {
  const TdmSettings tdm = Settings("22:00-06:00");
  const auto spans =
      OpenSpans(tdm, tdm.zones[0], At("2026-03-10T03:00:20Z"), At("2026-03-10T23:00:00Z"));
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_TRUE(spans[0].began_before);
  EXPECT_EQ(spans[0].to, At("2026-03-10T06:00:00Z"));
  EXPECT_TRUE(spans[1].ends_after);
}

TEST(ZoneCalendar, AWeekKnowsItsLongestOpeningAndShortestGap) {
  const TdmSettings tdm = Settings("08:00-21:00");
  const ZoneWeek week = WeekOf(tdm, tdm.zones[0], At("2026-03-10T12:00:00Z"));
  EXPECT_EQ(week.longest_open_ns, 13 * kHour);
  EXPECT_EQ(week.shortest_closed_ns, 11 * kHour);
  EXPECT_FALSE(week.never_opens);
  EXPECT_FALSE(week.never_closes);
}

TEST(ZoneCalendar, EqualEndsNeverClose) {
  const TdmSettings tdm = Settings("08:00-08:00");
  const ZoneWeek week = WeekOf(tdm, tdm.zones[0], At("2026-03-10T12:00:00Z"));
  EXPECT_TRUE(week.never_closes);
  EXPECT_EQ(week.shortest_closed_ns, 0);
}

TEST(ZoneCalendar, AWindowThatCannotBeReadNeverOpens) {
  const TdmSettings tdm = Settings("8-21");
  EXPECT_FALSE(tdm.zones[0].readable());
  EXPECT_TRUE(WeekOf(tdm, tdm.zones[0], At("2026-03-10T12:00:00Z")).never_opens);
}

TEST(ZoneCalendar, VolcanosReadingIsAskedWhereItIsConfigured) {
  TdmSettings tdm = Settings("22:00-06:00");
  tdm.whole_windows = false;
  const ZoneWeek week = WeekOf(tdm, tdm.zones[0], At("2026-03-10T12:00:00Z"));
  EXPECT_EQ(week.longest_open_ns, 2 * kHour);
}

TEST(ZoneCalendar, ClockChangesOfAYear) {
  const auto changes = ClockChanges(*FindTimeZone("Europe/Berlin"), At("2026-01-01T00:00:00Z"),
                                    At("2027-01-01T00:00:00Z"));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].at, At("2026-03-29T01:00:00Z"));
  EXPECT_EQ(changes[0].after_seconds - changes[0].before_seconds, 3'600);
  EXPECT_EQ(changes[1].at, At("2026-10-25T01:00:00Z"));
  EXPECT_TRUE(
      ClockChanges(FixedOffset(3'600), At("2026-01-01T00:00:00Z"), At("2027-01-01T00:00:00Z"))
          .empty());
}

TEST(ZoneCalendar, LocalTimeHasTheDayOfTheWeek) {
  EXPECT_EQ(LocalText(At("2026-03-10T22:30:00Z"), *FindTimeZone("Asia/Shanghai")),
            "Wed 2026-03-11 06:30");
  EXPECT_EQ(LocalText(At("1969-12-31T23:59:00Z"), TimeZone()), "Wed 1969-12-31 23:59");
}

}  // namespace
}  // namespace krafla
