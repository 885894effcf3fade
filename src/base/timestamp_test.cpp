#include "base/timestamp.h"

#include <random>

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Timestamp, AbsentSortsBeforeEverything) {
  const Timestamp absent;
  EXPECT_FALSE(absent.Present());
  EXPECT_LT(absent, Timestamp::FromUnixSeconds(0));
  EXPECT_LT(absent, Timestamp::FromUnixSeconds(std::numeric_limits<int64_t>::min()));
  EXPECT_LT(absent, ParseRfc3339("1000-01-01T00:00:00Z")->time);
  EXPECT_EQ(absent, Timestamp{});
  EXPECT_TRUE(Timestamp{0}.Present());
}

TEST(Timestamp, ParsesTimesWithTheirOffset) {
  const struct {
    const char* text;
    int64_t ns;
    int offset_seconds;
  } rows[] = {
      {"1970-01-01T00:00:00Z", 0, 0},
      {"2026-03-15T08:00:00Z", 1'773'561'600'000'000'000, 0},
      {"2026-03-15T08:00:00+00:00", 1'773'561'600'000'000'000, 0},
      {"2026-03-15T16:00:00+08:00", 1'773'561'600'000'000'000, 28'800},
      {"2026-03-15T03:30:00-04:30", 1'773'561'600'000'000'000, -16'200},
      {"2026-03-16T07:59:00+23:59", 1'773'561'600'000'000'000, 86'340},
      {"2024-02-29T23:59:59Z", 1'709'251'199'000'000'000, 0},
      {"1969-12-31T23:59:59.5Z", -500'000'000, 0},
      {"1970-01-01T00:00:00.000000001Z", 1, 0},
      {"1970-01-01T00:00:00.1234567899999Z", 123'456'789, 0},
      {"1970-01-01T01:00:00.25+01:00", 250'000'000, 3600},
      {"2262-04-11T23:47:16.854775807Z", kMax, 0},
      {"2262-04-11T23:47:16.854775808Z", kMax, 0},
      {"9999-12-31T23:59:59Z", kMax, 0},
      {"0000-01-01T00:00:00Z", Timestamp::kAbsentNs + 1, 0},
      {"0001-01-01T00:00:00Z", Timestamp::kAbsentNs, 0},
      {"0001-01-01T08:00:00+08:00", Timestamp::kAbsentNs, 28'800},
  };
  for (const auto& row : rows) {
    const Result<ZonedTimestamp> parsed = ParseRfc3339(row.text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(parsed->time.ns, row.ns) << row.text;
    EXPECT_EQ(parsed->offset_seconds, row.offset_seconds) << row.text;
  }
}

TEST(Timestamp, RefusesOtherNotations) {
  for (const char* text : {"",
                           "now",
                           "2026-03-15",
                           "2026-03-15T08:00:00",
                           "2026-03-15 08:00:00Z",
                           "2026-03-15t08:00:00Z",
                           "2026-03-15T08:00:00z",
                           "2026-03-15T8:00:00Z",
                           "2026-03-15T08:00Z",
                           "2026-03-15T08:00:00.Z",
                           "2026-03-15T08:00:00,5Z",
                           "2026-03-15T08:00:00ZZ",
                           "2026-03-15T08:00:00+08",
                           "2026-03-15T08:00:00+0800",
                           "2026-03-15T08:00:00+08:0",
                           "2026-03-15T08:00:00+24:00",
                           "2026-03-15T08:00:00+08:60",
                           "2026-03-15T08:00:00 08:00",
                           "2026-00-15T08:00:00Z",
                           "2026-13-15T08:00:00Z",
                           "2026-03-00T08:00:00Z",
                           "2026-03-32T08:00:00Z",
                           "2026-02-29T08:00:00Z",
                           "2026-03-15T24:00:00Z",
                           "2026-03-15T08:60:00Z",
                           "2026-03-15T08:00:60Z",
                           "202a-03-15T08:00:00Z",
                           "-026-03-15T08:00:00Z",
                           " 2026-03-15T08:00:00Z",
                           "12026-03-15T08:00:00Z"}) {
    EXPECT_FALSE(ParseRfc3339(text).has_value()) << '"' << text << '"';
  }
  EXPECT_EQ(ParseRfc3339("tomorrow").error().message,
            "\"tomorrow\" is not a time; write 2026-03-15T08:00:00Z or 2026-03-15T08:00:00+08:00");
}

TEST(Timestamp, FormatsInUtcWithoutDecimals) {
  EXPECT_EQ(FormatRfc3339({0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339({1'773'561'600'999'999'999}), "2026-03-15T08:00:00Z");
  EXPECT_EQ(FormatRfc3339({-1}), "1969-12-31T23:59:59Z");
  EXPECT_EQ(FormatRfc3339({kMax}), "2262-04-11T23:47:16Z");
  EXPECT_EQ(FormatRfc3339({Timestamp::kAbsentNs + 1}), "1677-09-21T00:12:43Z");
  EXPECT_EQ(FormatRfc3339({}), "0001-01-01T00:00:00Z");
}

TEST(Timestamp, FormattedTimesAreReadBack) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const Timestamp time{static_cast<int64_t>(random())};
    const Timestamp back = ParseRfc3339(FormatRfc3339(time))->time;
    // The earliest second begins before the earliest instant.
    EXPECT_EQ(back.UnixSeconds(), time.UnixSeconds());
    EXPECT_LE(back, time);
  }
}

TEST(Timestamp, SecondsAreCountedDownwardsBefore1970) {
  EXPECT_EQ(Timestamp{-1}.UnixSeconds(), -1);
  EXPECT_EQ(Timestamp{-1'000'000'000}.UnixSeconds(), -1);
  EXPECT_EQ(Timestamp{-1'000'000'001}.UnixSeconds(), -2);
  EXPECT_EQ(Timestamp{999'999'999}.UnixSeconds(), 0);
}

TEST(Timestamp, ElapsedTimeSaturates) {
  EXPECT_EQ(ElapsedNs({5}, {7}), 2);
  EXPECT_EQ(ElapsedNs({7}, {5}), -2);
  EXPECT_EQ(ElapsedNs({}, {1}), kMax);
  EXPECT_EQ(ElapsedNs({1}, {}), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ElapsedNs({}, {}), 0);
}

}  // namespace
}  // namespace krafla
