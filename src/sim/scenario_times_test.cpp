#include "sim/scenario_times.h"

#include <gtest/gtest.h>

#include "sim/name_pattern.h"

namespace krafla {
namespace {

ScenarioClock Shanghai() {
  const TimeZone zone = *FindTimeZone("Asia/Shanghai");
  return {*ParseAbsoluteTime("2026-03-10 07:00", zone), {}, zone};  // a Tuesday
}

std::string Parsed(std::string_view text, const ScenarioClock& clock = Shanghai()) {
  const Result<Timestamp> time = ParseScenarioTime(text, clock);
  return time ? FormatLocalTime(*time, clock.zone) : "wrong";
}

TEST(ScenarioTimes, AllForms) {
  EXPECT_EQ(Parsed("12:00"), "2026-03-10 12:00:00");
  EXPECT_EQ(Parsed("7:00"), "2026-03-10 07:00:00");
  EXPECT_EQ(Parsed("12:00:30"), "2026-03-10 12:00:30");
  EXPECT_EQ(Parsed("24:00"), "2026-03-11 00:00:00");
  EXPECT_EQ(Parsed("day 3 06:00"), "2026-03-12 06:00:00");
  EXPECT_EQ(Parsed("Tue 08:00"), "2026-03-10 08:00:00");
  EXPECT_EQ(Parsed("Tue 06:00"), "2026-03-17 06:00:00");
  EXPECT_EQ(Parsed("Mon 06:00"), "2026-03-16 06:00:00");
  EXPECT_EQ(Parsed("+90m"), "2026-03-10 08:30:00");
  EXPECT_EQ(Parsed("+1d2h"), "2026-03-11 09:00:00");
  EXPECT_EQ(Parsed("start"), "2026-03-10 07:00:00");
  EXPECT_EQ(Parsed("2026-03-11 08:00"), "2026-03-11 08:00:00");
  EXPECT_EQ(Parsed("2026-03-11T00:00:00Z"), "2026-03-11 08:00:00");
  for (const char* wrong : {"", "25:00", "12:60", "12", "day 0 12:00", "06:00", "+soon",
                            "Foo 12:00", "2026-02-30 12:00", "2026-03-09 12:00", "end"})
    EXPECT_EQ(Parsed(wrong), "wrong") << wrong;
}

TEST(ScenarioTimes, LocalTimesAroundAChangeOfTheClock) {
  const TimeZone berlin = *FindTimeZone("Europe/Berlin");
  const ScenarioClock spring{*ParseAbsoluteTime("2026-03-28 12:00", berlin), {}, berlin};
  EXPECT_EQ(Parsed("day 2 02:30", spring), "wrong");
  EXPECT_EQ(Parsed("day 2 03:00", spring), "2026-03-29 03:00:00");
  EXPECT_EQ(ElapsedNs(spring.start, *ParseScenarioTime("day 2 12:00", spring)),
            23 * 3'600'000'000'000);
  // Shown twice: the first counts.
  const ScenarioClock autumn{*ParseAbsoluteTime("2026-10-24 12:00", berlin), {}, berlin};
  EXPECT_EQ(ElapsedNs(autumn.start, *ParseScenarioTime("day 2 02:30", autumn)),
            (14 * 60 + 30) * 60'000'000'000);
}

TEST(ScenarioTimes, DurationsAndRates) {
  EXPECT_EQ(*ParseLongDuration("2w1d1h"), (15 * 24 + 1) * 3'600'000'000'000);
  EXPECT_EQ(*ParseLongDuration("90s"), 90'000'000'000);
  for (const char* wrong : {"", "d", "1x", "1d-1h", "99999999999w"})
    EXPECT_FALSE(ParseLongDuration(wrong)) << wrong;
  EXPECT_EQ(*ParseRate("30/h"), 120'000'000'000);
  EXPECT_EQ(*ParseRate("0.5 / s"), 2'000'000'000);
  for (const char* wrong : {"30", "0/h", "-1/h", "1/w", "x/h"})
    EXPECT_FALSE(ParseRate(wrong)) << wrong;
}

TEST(ScenarioTimes, TheYearsBeyondAreRefusedInEitherForm) {
  for (const char* text : {"9999-01-01 00:00", "9999-01-01T00:00:00Z", "2100-01-01 00:01",
                           "1969-12-31 12:00", "0000-01-01 00:00"}) {
    const Result<Timestamp> time = ParseAbsoluteTime(text, {});
    ASSERT_FALSE(time) << text;
    EXPECT_NE(time.error().message.find("is not between the years 1970 and 2100"),
              std::string::npos)
        << time.error().message;
  }
  EXPECT_TRUE(ParseAbsoluteTime("2099-12-31 23:59", {}));
  EXPECT_TRUE(ParseAbsoluteTime("1970-01-02 00:00", {}));
}

TEST(ScenarioTimes, WrittenAsTheyAreRead) {
  const ScenarioClock clock = Shanghai();
  for (const char* text : {"12:00:03", "day 2 00:00:00"})
    EXPECT_EQ(FormatScenarioTime(*ParseScenarioTime(text, clock), clock), text);
}

TEST(NamePattern, AStarStandsForAnything) {
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("team-a/*", "team-a/train"));
  EXPECT_TRUE(MatchesPattern("*-1*", "a-1-12"));
  EXPECT_TRUE(MatchesPattern("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(MatchesPattern("a*b", "a-b-c"));
  EXPECT_FALSE(MatchesPattern("team-a", "team-a/train"));
  EXPECT_FALSE(MatchesPattern("", "x"));
}

}  // namespace
}  // namespace krafla
