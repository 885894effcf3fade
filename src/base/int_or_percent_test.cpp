#include "base/int_or_percent.h"

#include <limits>

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(IntOrPercent, TellsCountsFromPercentages) {
  const struct {
    const char* text;
    IntOrPercent parsed;
  } rows[] = {
      {"3", {3, false}},
      {"0", {0, false}},
      {"-1", {-1, false}},
      {"+7", {7, false}},
      {"007", {7, false}},
      {"25%", {25, true}},
      {"0%", {0, true}},
      {"150%", {150, true}},
      {"-5%", {-5, true}},
      {"+5%", {5, true}},
      {"5%%", {5, true}},
      {"9223372036854775807", {std::numeric_limits<int64_t>::max(), false}},
      {"-9223372036854775808", {std::numeric_limits<int64_t>::min(), false}},
  };
  for (const auto& row : rows) {
    const Result<IntOrPercent> parsed = ParseIntOrPercent(row.text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(*parsed, row.parsed) << row.text;
  }
}

TEST(IntOrPercent, RefusesEverythingElse) {
  for (const char* text : {"", "%", "%%", "abc", "1.5", "33.3%", "5 %", " 5", "5 ", "+", "-", "+-5",
                           "--5", "0x10", "1e3", "5%0", "%5", "1_0", "9223372036854775808"}) {
    EXPECT_FALSE(ParseIntOrPercent(text).has_value()) << '"' << text << '"';
  }
  EXPECT_EQ(ParseIntOrPercent("half").error().message,
            "\"half\" is neither a whole number nor a percentage; write 3 or 25%");
}

TEST(IntOrPercent, PercentagesAreRoundedUp) {
  const struct {
    const char* text;
    int64_t total;
    int64_t scaled;
  } rows[] = {
      {"3", 0, 3},
      {"3", 10, 3},
      {"-1", 5, -1},
      {"50%", 0, 0},
      {"50%", 1, 1},
      {"50%", 3, 2},
      {"50%", 10, 5},
      {"30%", 1, 1},
      {"30%", 3, 1},
      {"30%", 5, 2},
      {"30%", 10, 3},
      {"1%", 10, 1},
      {"99%", 10, 10},
      {"100%", 7, 7},
      {"150%", 3, 5},
      {"0%", 10, 0},
      {"-5%", 10, 0},
      {"-50%", 3, -1},
      {"5%%", 10, 1},
      {"100%", std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()},
  };
  for (const auto& row : rows) {
    const Result<int64_t> scaled = ScaledIntOrPercent(row.text, row.total);
    ASSERT_TRUE(scaled.has_value()) << scaled.error().message;
    EXPECT_EQ(*scaled, row.scaled) << row.text << " of " << row.total;
  }
  EXPECT_FALSE(ScaledIntOrPercent("abc", 10).has_value());
  EXPECT_EQ(ScaledIntOrPercent("101%", std::numeric_limits<int64_t>::max()).error().message,
            "101% of 9223372036854775807 is too large a number");
}

}  // namespace
}  // namespace krafla
