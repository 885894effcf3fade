#include "model/zone_window.h"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace krafla {
namespace {

Timestamp At(std::string_view rfc3339) {
  const Result<ZonedTimestamp> parsed = ParseRfc3339(rfc3339);
  EXPECT_TRUE(parsed.has_value()) << rfc3339;
  return parsed ? parsed->time : Timestamp{};
}

ZoneWindow Window(std::string_view text) {
  const Result<ZoneWindow> parsed = ParseZoneWindow(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(ZoneWindow{});
}

TimeZone Zone(std::string_view name) {
  const Result<TimeZone> zone = FindTimeZone(name);
  EXPECT_TRUE(zone.has_value()) << (zone ? "" : zone.error().message);
  return zone.value_or(TimeZone());
}

std::string NextChangeText(std::string_view window, std::string_view now, const TimeZone& zone) {
  const std::optional<Timestamp> change = NextChange(Window(window), At(now), zone);
  return change ? FormatRfc3339(*change) : "never";
}

// Sets TZ for one test.
class LocalZoneGuard {
 public:
  explicit LocalZoneGuard(const char* value) {
    if (const char* old = std::getenv("TZ")) old_ = old;
    setenv("TZ", value, 1);
  }
  ~LocalZoneGuard() {
    if (old_) {
      setenv("TZ", old_->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    LocalTimeZone();
  }

 private:
  std::optional<std::string> old_;
};

TEST(ZoneWindow, ParsesHoursAndMinutes) {
  EXPECT_EQ(Window("08:00-21:00"), (ZoneWindow{480, 1260}));
  EXPECT_EQ(Window("8:00-21:30"), (ZoneWindow{480, 1290}));
  EXPECT_EQ(Window("0:00-23:59"), (ZoneWindow{0, 1439}));
  EXPECT_EQ(Window("22:00-6:00"), (ZoneWindow{1320, 360}));
  EXPECT_EQ(Window("23:59-23:59"), (ZoneWindow{1439, 1439}));
  EXPECT_EQ(Window("  \t1:00-0:00 \n"), (ZoneWindow{60, 0}));
}

TEST(ZoneWindow, BadWindowsAreExplained) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"25:00-26:00", "25:00-26:00: the hour must be 00 to 23"},
      {"63:59-23:59", "63:59-23:59: the hour must be 00 to 23"},
      {" 8:00-24:00 ", "8:00-24:00: the hour must be 00 to 23"},
      {"8:60-9:00", "8:60-9:00: the minute must be 00 to 59"},
      {"8:00-9:99", "8:00-9:99: the minute must be 00 to 59"},
  };
  for (const auto& row : rows) {
    const Result<ZoneWindow> parsed = ParseZoneWindow(row.text);
    ASSERT_FALSE(parsed.has_value()) << row.text;
    EXPECT_EQ(parsed.error().message, row.message);
  }
  for (const char* text : {"",
                           " ",
                           "-",
                           "0:00",
                           "00:00_01:00",
                           "1:0-0:0",
                           "8:00 - 20:00",
                           "008:00-20:00",
                           "8:000-20:00",
                           "8:00-20:00-21:00",
                           ":00-1:00",
                           "8-20",
                           "8:-20:00",
                           "a8:00-20:00",
                           "8:0a-20:00",
                           "+8:00-20:00",
                           "8:00-",
                           "-8:00",
                           "8.00-20.00",
                           "8:00:00-9:00:00"}) {
    const Result<ZoneWindow> parsed = ParseZoneWindow(text);
    ASSERT_FALSE(parsed.has_value()) << '"' << text << '"';
    EXPECT_NE(
        parsed.error().message.find(": write the window as HH:MM-HH:MM, for example 08:00-21:00"),
        std::string::npos)
        << parsed.error().message;
  }
}

TEST(TimeZone, NamesTellWhichZoneItIs) {
  EXPECT_EQ(TimeZone().name(), "UTC");
  EXPECT_EQ(FixedOffset(0).name(), "UTC");
  EXPECT_EQ(FixedOffset(28'800).name(), "UTC+08:00");
  EXPECT_EQ(FixedOffset(-12'600).name(), "UTC-03:30");
  EXPECT_EQ(FixedOffset(29'143).name(), "UTC+08:05:43");
  EXPECT_EQ(Zone("Asia/Shanghai").name(), "Asia/Shanghai");
  EXPECT_EQ(Zone("UTC").name(), "UTC");
}

TEST(TimeZone, UnknownNamesAreRefused) {
  EXPECT_EQ(FindTimeZone("Mars/Olympus").error().message,
            "\"Mars/Olympus\" is not a time zone of the tz database; "
            "write a name like Asia/Shanghai");
  for (const char* name : {"", "asia/shanghai", "../../etc/passwd", "/etc/localtime", "UTC+8"}) {
    EXPECT_FALSE(FindTimeZone(name).has_value()) << name;
  }
}

// The library takes zone files for complete lists of changes. A system with "slim" files, which end
// with the last irregular change and a rule, would show winter time here.
TEST(TimeZone, DatabaseReachesIntoTheFuture) {
  EXPECT_EQ(Zone("America/New_York").OffsetAt(At("2036-07-01T12:00:00Z").UnixSeconds()).seconds,
            -4 * 3600);
  EXPECT_EQ(Zone("America/New_York").OffsetAt(At("2036-01-01T12:00:00Z").UnixSeconds()).seconds,
            -5 * 3600);
}

TEST(TimeZone, LocalZoneIsTheOneOfTheProcess) {
  const int64_t summer = At("2026-07-01T12:00:00Z").UnixSeconds();
  const int64_t winter = At("2026-01-01T12:00:00Z").UnixSeconds();
  {
    const LocalZoneGuard guard("Europe/Berlin");
    const TimeZone zone = LocalTimeZone();
    EXPECT_EQ(zone.name(), "Europe/Berlin");
    EXPECT_EQ(zone.OffsetAt(summer).seconds, 7200);
    EXPECT_EQ(zone.OffsetAt(winter).seconds, 3600);
  }
  {
    const LocalZoneGuard guard(":Asia/Shanghai");
    EXPECT_EQ(LocalTimeZone().name(), "Asia/Shanghai");
    EXPECT_EQ(LocalTimeZone().OffsetAt(summer).seconds, 28'800);
  }
  {
    const LocalZoneGuard guard("");
    EXPECT_EQ(LocalTimeZone().name(), "UTC");
    EXPECT_EQ(LocalTimeZone().OffsetAt(summer).seconds, 0);
  }
}

TEST(TimeZone, LocalZoneFindsTheSecondOfAChange) {
  const LocalZoneGuard guard("Europe/Berlin");
  const TimeZone zone = LocalTimeZone();
  const int64_t change = At("2026-03-29T01:00:00Z").UnixSeconds();
  EXPECT_EQ(zone.OffsetAt(change - 10'000).until, change);
  EXPECT_EQ(zone.OffsetAt(change - 1).until, change);
  EXPECT_GT(zone.OffsetAt(change).until, change);
}

TEST(ZoneWindow, EndIsExclusive) {
  const ZoneWindow day = Window("08:00-21:00");
  EXPECT_FALSE(IsOpen(day, At("2026-03-15T07:59:59.999999999Z"), {}));
  EXPECT_TRUE(IsOpen(day, At("2026-03-15T08:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(day, At("2026-03-15T20:59:59.999999999Z"), {}));
  EXPECT_FALSE(IsOpen(day, At("2026-03-15T21:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(day, At("1969-12-31T08:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(day, At("1969-12-31T07:59:59.5Z"), {}));
}

TEST(ZoneWindow, WindowPastMidnightIsOpenAfterMidnight) {
  const ZoneWindow night = Window("22:00-06:00");
  EXPECT_TRUE(IsOpen(night, At("2026-03-15T22:00:00Z"), {}));
  EXPECT_TRUE(IsOpen(night, At("2026-03-15T03:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(night, At("2026-03-15T06:00:00Z"), {}));
  EXPECT_FALSE(IsOpen(night, At("2026-03-15T21:59:59Z"), {}));
}

TEST(ZoneWindow, EqualEndsAreTheWholeDay) {
  for (const char* text : {"0:00-0:00", "23:59-23:59", "8:00-8:00"}) {
    for (const char* now : {"2026-03-15T00:00:00Z", "2026-03-15T08:00:00Z", "2026-03-15T23:58:59Z",
                            "2026-03-15T23:59:59Z"}) {
      EXPECT_TRUE(IsOpen(Window(text), At(now), {})) << text << " at " << now;
      EXPECT_EQ(NextChangeText(text, now, {}), "never");
    }
  }
}

TEST(ZoneWindow, TheZoneSetsTheClock) {
  const ZoneWindow day = Window("08:00-21:00");
  const Timestamp now = At("2026-03-15T00:30:00Z");
  EXPECT_FALSE(IsOpen(day, now, {}));
  EXPECT_TRUE(IsOpen(day, now, FixedOffset(28'800)));
  EXPECT_TRUE(IsOpen(day, now, Zone("Asia/Shanghai")));
  EXPECT_TRUE(IsOpen(day, now, Zone("America/New_York")));  // 20:30
  EXPECT_FALSE(IsOpen(day, now, Zone("America/Halifax")));  // 21:30
}

TEST(ZoneWindow, NextChangeIsTheOtherEnd) {
  const TimeZone shanghai = Zone("Asia/Shanghai");
  EXPECT_EQ(NextChangeText("08:00-21:00", "2026-03-15T07:00:00Z", {}), "2026-03-15T08:00:00Z");
  EXPECT_EQ(NextChangeText("08:00-21:00", "2026-03-15T07:59:59.5Z", {}), "2026-03-15T08:00:00Z");
  EXPECT_EQ(NextChangeText("08:00-21:00", "2026-03-15T08:00:00Z", {}), "2026-03-15T21:00:00Z");
  EXPECT_EQ(NextChangeText("08:00-21:00", "2026-03-15T21:00:00Z", {}), "2026-03-16T08:00:00Z");
  EXPECT_EQ(NextChangeText("22:00-06:00", "2026-03-15T23:00:00Z", {}), "2026-03-16T06:00:00Z");
  EXPECT_EQ(NextChangeText("22:00-06:00", "2026-03-15T03:00:00Z", {}), "2026-03-15T06:00:00Z");
  EXPECT_EQ(NextChangeText("00:00-12:00", "2026-12-31T13:00:00Z", {}), "2027-01-01T00:00:00Z");
  EXPECT_EQ(NextChangeText("08:00-21:00", "2026-03-15T07:00:00Z", shanghai),
            "2026-03-15T13:00:00Z");
}

// Europe/Berlin, 2026-03-29: 01:59:59+01:00 is followed by 03:00:00+02:00.
TEST(ZoneWindow, SkippedMinutesDoNotHappen) {
  const TimeZone berlin = Zone("Europe/Berlin");
  // The window's own minutes are skipped: that day it does not open.
  EXPECT_EQ(NextChangeText("02:15-02:45", "2026-03-28T12:00:00Z", berlin), "2026-03-30T00:15:00Z");
  // The start is skipped: it opens at the jump.
  EXPECT_EQ(NextChangeText("02:30-04:00", "2026-03-28T12:00:00Z", berlin), "2026-03-29T01:00:00Z");
  EXPECT_EQ(NextChangeText("02:30-04:00", "2026-03-29T01:00:00Z", berlin), "2026-03-29T02:00:00Z");
  // The end is skipped: it closes at the jump.
  EXPECT_EQ(NextChangeText("01:00-02:30", "2026-03-29T00:10:00Z", berlin), "2026-03-29T01:00:00Z");
  // The jump goes from inside to inside: an hour less.
  EXPECT_EQ(NextChangeText("22:00-06:00", "2026-03-28T21:00:00Z", berlin), "2026-03-29T04:00:00Z");
  EXPECT_FALSE(IsOpen(Window("02:15-02:45"), At("2026-03-29T01:30:00Z"), berlin));
}

// Europe/Berlin, 2026-10-25: 02:59:59+02:00 is followed by 02:00:00+01:00.
TEST(ZoneWindow, RepeatedMinutesHappenTwice) {
  const TimeZone berlin = Zone("Europe/Berlin");
  const char* window = "02:15-02:45";
  EXPECT_EQ(NextChangeText(window, "2026-10-24T12:00:00Z", berlin), "2026-10-25T00:15:00Z");
  EXPECT_EQ(NextChangeText(window, "2026-10-25T00:15:00Z", berlin), "2026-10-25T00:45:00Z");
  EXPECT_EQ(NextChangeText(window, "2026-10-25T00:45:00Z", berlin), "2026-10-25T01:15:00Z");
  EXPECT_EQ(NextChangeText(window, "2026-10-25T01:15:00Z", berlin), "2026-10-25T01:45:00Z");
  EXPECT_EQ(NextChangeText(window, "2026-10-25T01:45:00Z", berlin), "2026-10-26T01:15:00Z");
  // The clock is set back into the window, and out of it.
  EXPECT_EQ(NextChangeText("02:30-03:00", "2026-10-25T00:30:00Z", berlin), "2026-10-25T01:00:00Z");
  EXPECT_EQ(NextChangeText("01:00-02:30", "2026-10-25T00:30:00Z", berlin), "2026-10-25T01:00:00Z");
  EXPECT_EQ(NextChangeText("01:00-02:30", "2026-10-25T01:00:00Z", berlin), "2026-10-25T01:30:00Z");
}

// Through a day and a half around a change of the clock.
void ExpectNextChangeMatchesTheClock(const ZoneWindow& window, int64_t begin, int64_t end,
                                     const TimeZone& zone) {
  bool open = IsOpen(window, Timestamp::FromUnixSeconds(begin), zone);
  int64_t asked = begin;
  std::optional<Timestamp> promised = NextChange(window, Timestamp::FromUnixSeconds(begin), zone);
  for (int64_t second = begin + 1; second < end; ++second) {
    const Timestamp now = Timestamp::FromUnixSeconds(second);
    const bool change_due = promised.has_value() && *promised == now;
    // Inside a minute nothing changes in these zones; look at the edges only.
    if (second % 60 > 1 && second % 60 < 59 && !change_due) continue;
    const bool now_open = IsOpen(window, now, zone);
    ASSERT_EQ(now_open != open, change_due)
        << window.start_minute << '-' << window.end_minute << " in " << zone.name() << " at "
        << FormatRfc3339(now) << ", asked at " << asked;
    if (!change_due) continue;
    open = now_open;
    asked = second;
    promised = NextChange(window, now, zone);
  }
}

TEST(ZoneWindow, NextChangeMatchesTheClockAroundJumps) {
  const LocalZoneGuard guard("America/New_York");
  const struct {
    TimeZone zone;
    const char* around;
  } rows[] = {
      {Zone("Europe/Berlin"), "2026-03-29T01:00:00Z"},
      {Zone("Europe/Berlin"), "2026-10-25T01:00:00Z"},
      {Zone("America/New_York"), "2026-11-01T06:00:00Z"},
      {LocalTimeZone(), "2026-03-08T07:00:00Z"},
      {LocalTimeZone(), "2026-11-01T06:00:00Z"},
      {Zone("Australia/Lord_Howe"), "2026-04-04T15:00:00Z"},  // half an hour
      {Zone("Pacific/Apia"), "2011-12-30T10:00:00Z"},         // a whole day left out
      {Zone("America/Sao_Paulo"), "2018-11-04T03:00:00Z"},    // midnight does not exist
      {FixedOffset(20'700), "2026-03-15T00:00:00Z"},
  };
  std::mt19937 random(17);
  for (const auto& row : rows) {
    const int64_t around = At(row.around).UnixSeconds();
    for (int i = 0; i < 12; ++i) {
      // Mostly near the usual hours of a change, where it hurts.
      const int span = i % 2 == 0 ? 240 : 1440;
      const ZoneWindow window{static_cast<int>(random() % span), static_cast<int>(random() % span)};
      ExpectNextChangeMatchesTheClock(window, around - 20 * 3600, around + 16 * 3600, row.zone);
    }
  }
}

TEST(ZoneWindow, VolcanoLooksAtTodaysStartOnly) {
  const ZoneWindow night = Window("22:00-06:00");
  EXPECT_TRUE(IsOpenVolcano(night, At("2026-03-15T22:00:00Z"), {}));
  EXPECT_TRUE(IsOpenVolcano(night, At("2026-03-15T23:59:59Z"), {}));
  EXPECT_FALSE(IsOpenVolcano(night, At("2026-03-16T00:00:00Z"), {}));
  EXPECT_FALSE(IsOpenVolcano(night, At("2026-03-16T03:00:00Z"), {}));

  const ZoneWindow equal = Window("23:59-23:59");
  EXPECT_FALSE(IsOpenVolcano(equal, At("2026-03-15T12:00:00Z"), {}));
  EXPECT_TRUE(IsOpenVolcano(equal, At("2026-03-15T23:59:00Z"), {}));
  EXPECT_TRUE(IsOpenVolcano(Window("0:00-0:00"), At("2026-03-15T12:00:00Z"), {}));
}

TEST(ZoneWindow, VolcanoIncludesTheEndToTheSecond) {
  const ZoneWindow day = Window("8:00-20:00");
  EXPECT_FALSE(IsOpenVolcano(day, At("2026-03-15T07:59:59.999Z"), {}));
  EXPECT_TRUE(IsOpenVolcano(day, At("2026-03-15T08:00:00Z"), {}));
  EXPECT_TRUE(IsOpenVolcano(day, At("2026-03-15T20:00:00.999Z"), {}));
  EXPECT_FALSE(IsOpenVolcano(day, At("2026-03-15T20:00:01Z"), {}));
}

TEST(ZoneWindow, VolcanoTakesTodayFromTheZone) {
  const ZoneWindow evening = Window("20:00-23:00");
  const Timestamp now = At("2026-03-15T13:00:00Z");  // 21:00 in Shanghai
  EXPECT_TRUE(IsOpenVolcano(evening, now, FixedOffset(28'800)));
  EXPECT_TRUE(IsOpenVolcano(evening, now, Zone("Asia/Shanghai")));
  EXPECT_FALSE(IsOpenVolcano(evening, now, {}));
  EXPECT_FALSE(IsOpenVolcano(evening, now, FixedOffset(-28'800)));
}

// The answers are those of Go's time.Date for times of the clock that are skipped or repeated.
TEST(ZoneWindow, VolcanoResolvesJumpsAsGoDoes) {
  const struct {
    const char* zone;
    const char* window;
    const char* opens;
  } rows[] = {
      {"Europe/Berlin", "02:30-06:00", "2026-03-29T01:30:00Z"},     // skipped: 03:30
      {"Europe/Berlin", "02:30-06:00", "2026-10-25T01:30:00Z"},     // repeated: the second
      {"America/New_York", "02:30-06:00", "2026-03-08T06:30:00Z"},  // skipped: 01:30
      {"America/New_York", "01:30-06:00", "2026-11-01T05:30:00Z"},  // repeated: the first
  };
  for (const auto& row : rows) {
    const Timestamp opens = At(row.opens);
    const TimeZone zone = Zone(row.zone);
    EXPECT_FALSE(IsOpenVolcano(Window(row.window), {opens.ns - 1}, zone)) << row.opens;
    EXPECT_TRUE(IsOpenVolcano(Window(row.window), opens, zone)) << row.opens;
  }
}

// Second by second, around jumps of the clock and windows of every kind.
TEST(ZoneWindow, VolcanosNextChangeMatchesTheClock) {
  const struct {
    TimeZone zone;
    const char* around;
  } rows[] = {
      {Zone("Europe/Berlin"), "2026-03-29T01:00:00Z"},
      {Zone("Europe/Berlin"), "2026-10-25T01:00:00Z"},
      {Zone("America/Sao_Paulo"), "2018-11-04T03:00:00Z"},  // midnight does not exist
      {Zone("America/Sao_Paulo"), "2019-02-17T02:00:00Z"},  // midnight is put off by an hour
      {Zone("Pacific/Apia"), "2011-12-30T10:00:00Z"},       // a whole day left out
      {FixedOffset(20'700), "2026-03-15T00:00:00Z"},
  };
  const ZoneWindow windows[] = {Window("08:00-21:00"), Window("22:00-06:00"), Window("00:30-02:30"),
                                Window("23:30-00:30"), Window("12:00-12:00"), Window("0:00-0:00"),
                                Window("0:00-23:59")};
  for (const auto& row : rows) {
    for (const ZoneWindow& window : windows) {
      const int64_t from = At(row.around).UnixSeconds() - 30 * 3600;
      const int64_t to = from + 60 * 3600;
      Timestamp asked = Timestamp::FromUnixSeconds(from);
      std::optional<Timestamp> promised = NextChangeVolcano(window, asked, row.zone);
      bool open = IsOpenVolcano(window, asked, row.zone);
      for (int64_t second = from + 1; second < to; ++second) {
        // Away from whole minutes nothing can happen but the end of the last second.
        if (second % 60 > 1) continue;
        const Timestamp now = Timestamp::FromUnixSeconds(second);
        const bool now_open = IsOpenVolcano(window, now, row.zone);
        const bool due = promised && *promised == now;
        ASSERT_EQ(now_open != open, due) << row.zone.name() << " " << window.start_minute << "-"
                                         << window.end_minute << " " << FormatRfc3339(now);
        ASSERT_FALSE(promised && *promised < now);
        if (!due) continue;
        open = now_open;
        promised = NextChangeVolcano(window, now, row.zone);
      }
    }
  }
}

TEST(ZoneWindow, ClosedZonesSayUntilWhen) {
  const ZoneWindow day = Window("08:00-21:00");
  const TimeZone shanghai = Zone("Asia/Shanghai");
  EXPECT_EQ(DescribeClosed("rz1", day, At("2026-03-15T07:00:00+08:00"), shanghai),
            "zone rz1 is closed until 08:00 Asia/Shanghai");
  EXPECT_EQ(DescribeClosed("rz1", day, At("2026-03-15T21:00:00+08:00"), shanghai),
            "zone rz1 is closed until 08:00 Asia/Shanghai");
  EXPECT_EQ(DescribeClosed("rz1", day, At("2026-03-15T22:00:00+08:00"), FixedOffset(28'800)),
            "zone rz1 is closed until 08:00 UTC+08:00");
  EXPECT_EQ(DescribeClosed("night", Window("22:00-6:05"), At("2026-03-15T07:00:00Z"), {}),
            "zone night is closed until 22:00 UTC");
}

TEST(ZoneWindow, OpeningsFarAwayHaveADate) {
  const TimeZone berlin = Zone("Europe/Berlin");
  // The window of the 29th falls into the skipped hour.
  EXPECT_EQ(DescribeClosed("rz1", Window("02:15-02:45"), At("2026-03-28T12:00:00Z"), berlin),
            "zone rz1 is closed until 2026-03-30 02:15 Europe/Berlin");
  EXPECT_EQ(DescribeClosed("rz1", Window("02:30-04:00"), At("2026-03-28T12:00:00Z"), berlin),
            "zone rz1 is closed until 03:00 Europe/Berlin");
}

TEST(ZoneWindow, VolcanosClosedWindowsOpenAtTheirStart) {
  EXPECT_EQ(DescribeClosed("rz1", Window("22:00-06:00"), At("2026-03-15T03:00:00Z"), {}),
            "zone rz1 is closed until 22:00 UTC");
  EXPECT_EQ(DescribeClosed("rz1", Window("23:59-23:59"), At("2026-03-15T12:00:00Z"), {}),
            "zone rz1 is closed until 23:59 UTC");
}

}  // namespace
}  // namespace krafla
