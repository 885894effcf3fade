#include "base/go_duration.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(GoDuration, ParsesWhatGoParses) {
  const struct {
    const char* text;
    int64_t ns;
  } rows[] = {
      {"0", 0},
      {"+0", 0},
      {"-0", 0},
      {"0s", 0},
      {"5s", 5 * kSecond},
      {"+5s", 5 * kSecond},
      {"-5s", -5 * kSecond},
      {"1478s", 1478 * kSecond},
      {"5.0s", 5 * kSecond},
      {"5.6s", 5'600'000'000},
      {"5.s", 5 * kSecond},
      {".5s", 500'000'000},
      {"1.004s", 1'004'000'000},
      {"100.00100s", 100'001'000'000},
      {"10ns", 10},
      {"11us", 11'000},
      {"12\u00b5s", 12'000},
      {"12\u03bcs", 12'000},
      {"13ms", 13'000'000},
      {"14s", 14 * kSecond},
      {"15m", 900 * kSecond},
      {"16h", 57600 * kSecond},
      {"3h30m", 12600 * kSecond},
      {"10.5s4m", 250'500'000'000},
      {"-2m3.4s", -123'400'000'000},
      {"1h2m3s4ms5us6ns", 3'723'004'005'006},
      {"39h9m14.425s", 140'954'425'000'000},
      {"1s1s1s", 3 * kSecond},
      {"007s", 7 * kSecond},
      {"52763797000ns", 52'763'797'000},
      {"0.3333333333333333333h", 1200 * kSecond},
      {"0.100000000000000000000h", 360 * kSecond},
      {"0.9223372036854775808h", 3'320'413'933'267},
      {"9007199254740993ns", 9'007'199'254'740'993},
      {"9223372036854775807ns", kMax},
      {"9223372036854775.807us", kMax},
      {"9223372036s854ms775us807ns", kMax},
      {"-9223372036854775808ns", kMin},
      {"-9223372036854775.808us", kMin},
      {"-2562047h47m16.854775808s", kMin},
  };
  for (const auto& row : rows) {
    const Result<int64_t> parsed = ParseGoDuration(row.text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(*parsed, row.ns) << row.text;
  }
}

TEST(GoDuration, RefusesWhatGoRefuses) {
  for (const char* text : {"",
                           "+",
                           "-",
                           "s",
                           ".",
                           "-.",
                           ".s",
                           "+.s",
                           "3",
                           "1.5",
                           "5 minutes",
                           " 1s",
                           "1s ",
                           "1 s",
                           "1x",
                           "1S",
                           "1H",
                           "1d",
                           "1h-2m",
                           "--1s",
                           "1e3s",
                           "\x85\x85",
                           "1\xff",
                           "1\xc2s",
                           "1\u00b5",
                           "1\u00b5s1",
                           "1_000s",
                           "9223372036854775808ns",
                           "9223372036854775.808us",
                           "-9223372036854775809ns",
                           "9223372036854ms775us808ns",
                           "3000000h",
                           "99999999999999999999999s",
                           "9223372036854775808ns9223372036854775808ns"}) {
    EXPECT_FALSE(ParseGoDuration(text).has_value()) << '"' << text << '"';
  }
}

TEST(GoDuration, ErrorsAreSentencesThatShowTheWay) {
  EXPECT_EQ(ParseGoDuration("5 minutes").error().message,
            "\"5 minutes\" is not a duration; write 90s, 5m or 1h30m");
  EXPECT_EQ(ParseGoDuration("90").error().message,
            "\"90\" is not a duration, the unit is missing; write 90s, 5m or 1h30m");
  EXPECT_EQ(ParseGoDuration("3000000h").error().message,
            "\"3000000h\" is too long for a duration; the limit is about 292 years");
}

TEST(GoDuration, FormatsLikeGo) {
  const struct {
    int64_t ns;
    const char* text;
  } rows[] = {
      {0, "0s"},
      {1, "1ns"},
      {-1, "-1ns"},
      {999, "999ns"},
      {1'000, "1\u00b5s"},
      {1'100, "1.1\u00b5s"},
      {999'999, "999.999\u00b5s"},
      {2'200'000, "2.2ms"},
      {999'999'999, "999.999999ms"},
      {kSecond, "1s"},
      {3'300'000'000, "3.3s"},
      {60 * kSecond, "1m0s"},
      {245 * kSecond, "4m5s"},
      {245'001'000'000, "4m5.001s"},
      {3600 * kSecond, "1h0m0s"},
      {18'367'001'000'000, "5h6m7.001s"},
      {8 * 60 * kSecond + 1, "8m0.000000001s"},
      {-90 * kSecond, "-1m30s"},
      {kMax, "2562047h47m16.854775807s"},
      {kMin, "-2562047h47m16.854775808s"},
  };
  for (const auto& row : rows) EXPECT_EQ(FormatGoDuration(row.ns), row.text);
}

TEST(GoDuration, FormattedDurationsAreReadBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const int64_t ns = static_cast<int64_t>(random()) >> (random() % 63);
    const Result<int64_t> back = ParseGoDuration(FormatGoDuration(ns));
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(*back, ns);
    const Result<int64_t> short_back = ParseGoDuration(FormatShortDuration(ns));
    ASSERT_TRUE(short_back.has_value()) << short_back.error().message;
    EXPECT_EQ(*short_back, ns / kSecond * kSecond);
  }
}

TEST(GoDuration, ShortFormDropsPartsThatAreZero) {
  EXPECT_EQ(FormatShortDuration(192 * kSecond), "3m12s");
  EXPECT_EQ(FormatShortDuration(3600 * kSecond), "1h");
  EXPECT_EQ(FormatShortDuration(3605 * kSecond), "1h5s");
  EXPECT_EQ(FormatShortDuration(5400 * kSecond), "1h30m");
  EXPECT_EQ(FormatShortDuration(100 * 3600 * kSecond), "100h");
  EXPECT_EQ(FormatShortDuration(59'999'999'999), "59s");
  EXPECT_EQ(FormatShortDuration(999'999'999), "0s");
  EXPECT_EQ(FormatShortDuration(-999'999'999), "0s");
  EXPECT_EQ(FormatShortDuration(-90 * kSecond), "-1m30s");
  EXPECT_EQ(FormatShortDuration(kMin), "-2562047h47m16s");
}

}  // namespace
}  // namespace krafla
