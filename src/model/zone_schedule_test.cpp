#include "model/zone_schedule.h"

#include <random>

#include <gtest/gtest.h>

#include "model/local_clock.h"

namespace krafla {
namespace {

Timestamp At(std::string_view rfc3339) {
  const Result<ZonedTimestamp> parsed = ParseRfc3339(rfc3339);
  EXPECT_TRUE(parsed.has_value()) << rfc3339;
  return parsed ? parsed->time : Timestamp{};
}

ZoneSchedule Schedule(std::string_view text) {
  const Result<ZoneSchedule> parsed = ParseZoneSchedule(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed.value_or(ZoneSchedule{});
}

TimeZone Zone(std::string_view name) {
  const Result<TimeZone> zone = FindTimeZone(name);
  EXPECT_TRUE(zone.has_value()) << name;
  return zone.value_or(TimeZone());
}

std::string NextChangeText(std::string_view schedule, std::string_view now,
                           const TimeZone& zone = {}) {
  const std::optional<Timestamp> change = NextChange(Schedule(schedule), At(now), zone);
  return change ? FormatRfc3339(*change) : "never";
}

constexpr uint8_t kMon = 1 << 0, kTue = 1 << 1, kWed = 1 << 2, kFri = 1 << 4, kSat = 1 << 5,
                  kSun = 1 << 6;

TEST(ZoneSchedule, ADailyWindowIsWhatItWas) {
  const ZoneSchedule schedule = Schedule(" 08:00-21:00 ");
  ASSERT_NE(schedule.Daily(), nullptr);
  EXPECT_EQ(*schedule.Daily(), (ZoneWindow{480, 1260}));
  EXPECT_EQ(NextChangeText("08:00-21:00", "2026-03-10T12:00:00Z"), "2026-03-10T21:00:00Z");
  EXPECT_EQ(Schedule("Mon-Sun 08:00-21:00"), schedule);
}

TEST(ZoneSchedule, DaysAreNamesAndRanges) {
  const struct {
    const char* text;
    uint8_t days;
  } rows[] = {
      {"Mon-Fri 08:00-21:00", 0b001'1111},
      {"Sat,Sun 08:00-21:00", kSat | kSun},
      {"Fri-Mon 08:00-21:00", kFri | kSat | kSun | kMon},
      {"mon , WED - fri 08:00-21:00", kMon | kWed | 1 << 3 | kFri},
      {"Tuesday 08:00-21:00", kTue},
      {"Sun-Sun 08:00-21:00", kSun},
      {"monday-FRIDAY 8:00-21:00", 0b001'1111},
      {"Mon08:00-21:00", kMon},
  };
  for (const auto& row : rows) {
    const ZoneSchedule schedule = Schedule(row.text);
    ASSERT_EQ(schedule.parts.size(), 1u) << row.text;
    EXPECT_EQ(schedule.parts[0].days, row.days) << row.text;
    EXPECT_EQ(schedule.parts[0].window, (ZoneWindow{480, 1260})) << row.text;
  }
}

TEST(ZoneSchedule, SeveralWindowsAreSeparatedBySemicolons) {
  const ZoneSchedule schedule = Schedule("Mon-Fri 08:00-21:00; Sat,Sun 10:00-14:00;");
  ASSERT_EQ(schedule.parts.size(), 2u);
  EXPECT_EQ(schedule.parts[1], (ZoneSchedule::Part{{600, 840}, kSat | kSun}));
  EXPECT_EQ(schedule.Daily(), nullptr);
  EXPECT_EQ(Schedule("08:00-10:00;12:00-14:00").parts.size(), 2u);
}

TEST(ZoneSchedule, BadSchedulesAreExplained) {
  const struct {
    const char* text;
    const char* says;
  } rows[] = {
      {"", "write the window as HH:MM-HH:MM"},
      {";", "write the window as HH:MM-HH:MM"},
      {"08:00-21:00;;10:00-11:00", "write the window as HH:MM-HH:MM"},
      {"Mon-Fri", "the hours are missing"},
      {"Mon-Fri 25:00-26:00", "the hour must be 00 to 23"},
      {"Mo-Fr 08:00-21:00", "\"Mo\" is not a day of the week"},
      {"Mon-Fri-Sun 08:00-21:00", "\"Fri-Sun\" is not a day of the week"},
      {"Mon, 08:00-21:00", "a day is missing after the last comma"},
      {"Mon,,Tue 08:00-21:00", "\"\" is not a day of the week"},
      {"Mon- 08:00-21:00", "\"\" is not a day of the week"},
      {"08:00-21:00 Mon", "write the window as HH:MM-HH:MM"},
      {"Mon 08:00-21:00 Tue", "write the window as HH:MM-HH:MM"},
  };
  for (const auto& row : rows) {
    const Result<ZoneSchedule> parsed = ParseZoneSchedule(row.text);
    ASSERT_FALSE(parsed.has_value()) << row.text;
    EXPECT_NE(parsed.error().message.find(row.says), std::string::npos)
        << row.text << ": " << parsed.error().message;
  }
}

// 2026-03-13 is a Friday.
TEST(ZoneSchedule, WindowsHoldOnTheirDays) {
  const ZoneSchedule schedule = Schedule("Mon-Fri 08:00-21:00; Sat,Sun 10:00-14:00");
  EXPECT_TRUE(IsOpen(schedule, At("2026-03-13T08:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-13T21:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-14T09:59:59Z"), {}));
  EXPECT_TRUE(IsOpen(schedule, At("2026-03-14T10:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-14T14:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(schedule, At("2026-03-16T08:00:00Z"), {}));
  // What day it is, the zone says: Saturday noon in Shanghai, when it is Friday in Los Angeles.
  EXPECT_TRUE(IsOpen(schedule, At("2026-03-14T04:00:00Z"), Zone("Asia/Shanghai")));
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-14T04:00:00Z"), Zone("America/Los_Angeles")));
}

TEST(ZoneSchedule, AWindowPastMidnightBelongsToTheDayOnWhichItStarts) {
  const ZoneSchedule schedule = Schedule("Fri 22:00-06:00");
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-13T05:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(schedule, At("2026-03-13T22:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(schedule, At("2026-03-14T05:59:59Z"), {}));
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-14T06:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(schedule, At("2026-03-14T22:00:00Z"), {}));
}

TEST(ZoneSchedule, EqualEndsLastOneDay) {
  const ZoneSchedule monday = Schedule("Mon 00:00-00:00");
  EXPECT_FALSE(IsOpen(monday, At("2026-03-15T23:59:59Z"), {}));
  EXPECT_TRUE(IsOpen(monday, At("2026-03-16T00:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(monday, At("2026-03-16T23:59:59Z"), {}));
  EXPECT_FALSE(IsOpen(monday, At("2026-03-17T00:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(Schedule("Mon 08:00-08:00"), At("2026-03-17T07:59:59Z"), {}));
}

TEST(ZoneSchedule, NextChangeLooksOverTheWeek) {
  constexpr const char* kWeek = "Mon-Fri 08:00-21:00; Sat,Sun 10:00-14:00";
  EXPECT_EQ(NextChangeText(kWeek, "2026-03-13T12:00:00Z"), "2026-03-13T21:00:00Z");
  EXPECT_EQ(NextChangeText(kWeek, "2026-03-13T21:00:00Z"), "2026-03-14T10:00:00Z");
  EXPECT_EQ(NextChangeText("Mon 08:00-09:00", "2026-03-16T09:00:00Z"), "2026-03-23T08:00:00Z");
  // Windows that meet are one.
  EXPECT_EQ(NextChangeText("Mon 08:00-12:00; Mon 12:00-18:00", "2026-03-16T09:00:00Z"),
            "2026-03-16T18:00:00Z");
  EXPECT_EQ(NextChangeText("Mon,Tue 00:00-00:00", "2026-03-16T09:00:00Z"), "2026-03-18T00:00:00Z");
  EXPECT_EQ(NextChangeText("Mon-Fri 00:00-00:00; Sat,Sun 00:00-00:00", "2026-03-16T09:00:00Z"),
            "never");
  // The only window of a week falls into an hour that daylight saving leaves out.
  EXPECT_EQ(NextChangeText("Sun 02:10-02:50", "2026-03-28T12:00:00Z", Zone("Europe/Berlin")),
            "2026-04-05T00:10:00Z");
}

TEST(ZoneSchedule, NextChangeMatchesTheClock) {
  const struct {
    TimeZone zone;
    const char* from;
  } rows[] = {{Zone("Europe/Berlin"), "2026-03-24T00:00:00Z"},
              {Zone("Europe/Berlin"), "2026-10-20T00:00:00Z"},
              {Zone("Australia/Lord_Howe"), "2026-04-01T00:00:00Z"},
              {Zone("Pacific/Apia"), "2011-12-26T00:00:00Z"},
              {Zone("America/Sao_Paulo"), "2018-10-31T00:00:00Z"},
              {FixedOffset(20'700), "2026-03-15T00:00:00Z"}};
  std::mt19937 random(17);
  for (const auto& row : rows) {
    for (int i = 0; i < 15; ++i) {
      ZoneSchedule schedule;
      for (size_t n = 1 + random() % 3; n > 0; --n)
        schedule.parts.push_back(
            {{static_cast<int>(random() % 1440), static_cast<int>(random() % 1440)},
             static_cast<uint8_t>(1 + random() % 127)});
      int64_t minute = At(row.from).UnixSeconds();
      const int64_t end = minute + 9 * 86'400;
      bool open = IsOpen(schedule, Timestamp::FromUnixSeconds(minute), row.zone);
      auto promised = NextChange(schedule, Timestamp::FromUnixSeconds(minute), row.zone);
      for (minute += 60; minute < end; minute += 60) {
        const Timestamp now = Timestamp::FromUnixSeconds(minute);
        const bool due = promised && *promised == now;
        ASSERT_EQ(IsOpen(schedule, now, row.zone) != open, due)
            << row.zone.name() << " " << FormatRfc3339(now);
        if (!due) continue;
        open = !open;
        promised = NextChange(schedule, now, row.zone);
      }
    }
  }
}

TEST(ZoneSchedule, ClosedZonesSayUntilWhen) {
  const TimeZone shanghai = Zone("Asia/Shanghai");
  EXPECT_EQ(DescribeClosed("rz1", Schedule("08:00-21:00"), At("2026-03-13T14:00:00Z"), shanghai),
            "zone rz1 is closed until 08:00 Asia/Shanghai");
  EXPECT_EQ(
      DescribeClosed("rz1", Schedule("Mon-Fri 08:00-21:00"), At("2026-03-13T14:00:00Z"), shanghai),
      "zone rz1 is closed until Mon 2026-03-16 08:00 Asia/Shanghai");
  EXPECT_EQ(DescribeTime(At("2026-03-13T13:00:00Z"), shanghai), "21:00 Asia/Shanghai");
  EXPECT_EQ(DescribeTime(At("2026-03-13T13:00:01Z"), shanghai), "21:00:01 Asia/Shanghai");
}

TEST(LocalClock, WeekdaysCountFromMonday) {
  EXPECT_EQ(local_clock::WeekdayOf(0), 3);  // Thursday, 1970-01-01
  EXPECT_EQ(local_clock::WeekdayOf(4), 0);
  EXPECT_EQ(local_clock::WeekdayOf(-3), 0);  // Monday, 1969-12-29
  EXPECT_EQ(local_clock::WeekdayOf(-4), 6);
}

}  // namespace
}  // namespace krafla
