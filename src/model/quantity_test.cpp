#include "model/quantity.h"

#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Quantity Parsed(std::string_view text) {
  const Result<Quantity> parsed = ParseQuantity(text);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed.value_or(Quantity());
}

struct Row {
  const char* text;
  int64_t value;
  int64_t milli_value;
};

// The answers are those of k8s.io/apimachinery v0.36.1.
TEST(Quantity, ReadsWhatKubernetesReads) {
  const Row rows[] = {
      {"0", 0, 0},
      {"1", 1, 1'000},
      {"007", 7, 7'000},
      {"1000m", 1, 1'000},
      {"100m", 1, 100},
      {"1500m", 2, 1'500},
      {"1.5", 2, 1'500},
      {"0.1m", 1, 1},
      {"1n", 1, 1},
      {"1u", 1, 1},
      {"999u", 1, 1},
      {"1001u", 1, 2},
      {"1k", 1'000, 1'000'000},
      {"1M", 1'000'000, 1'000'000'000},
      {"1G", 1'000'000'000, 1'000'000'000'000},
      {"1P", 1'000'000'000'000'000, 1'000'000'000'000'000'000},
      {"9223372036854775", 9'223'372'036'854'775, 9'223'372'036'854'775'000},
      {"1Ki", 1'024, 1'024'000},
      {"1Mi", 1'048'576, 1'048'576'000},
      {"512Mi", 536'870'912, 536'870'912'000},
      {"1Gi", 1'073'741'824, 1'073'741'824'000},
      {"64Gi", 68'719'476'736, 68'719'476'736'000},
      {"1Ti", 1'099'511'627'776, 1'099'511'627'776'000},
      {"1Pi", 1'125'899'906'842'624, 1'125'899'906'842'624'000},
      {"0.5Ki", 512, 512'000},
      {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
      {"0.1Ki", 103, 102'400},
      {"0.00001Ki", 1, 11},
      {"1.1Mi", 1'153'434, 1'153'433'600},
      {".5", 1, 500},
      {"1.", 1, 1'000},
      {"1.Gi", 1'073'741'824, 1'073'741'824'000},
      {"+1", 1, 1'000},
      {"+.5e1", 5, 5'000},
      {"-1", -1, -1'000},
      {"-1.5", -2, -1'500},
      {"-100m", -1, -100},
      {"-64Gi", -68'719'476'736, -68'719'476'736'000},
      {"-0", 0, 0},
      {"1e3", 1'000, 1'000'000},
      {"1E3", 1'000, 1'000'000},
      {"12e-3", 1, 12},
      {"1e-9", 1, 1},
      {"1e-10", 1, 1},
      {"1e-400", 1, 1},
      {"1e+2", 100, 100'000},
      {"0e400", 0, 0},
      {"0.000e400", 0, 0},
      {"1.0000000001", 2, 1'001},
      {"0.9999999999", 1, 1'000},
      {"1.0000000000000000000000000000000000000000000000001", 2, 1'001},
      {"0.00000000000000000000000000000000000000000000000000000001", 1, 1},
      {"1234567890123456", 1'234'567'890'123'456, 1'234'567'890'123'456'000},
      {"00000000000000000000000000000000000000001", 1, 1'000},
      {"1.000000000000000000000000000000000000000000Ki", 1'024, 1'024'000},
      {"0.0009765625Ki", 1, 1'000},
      {"0.00097656250000000000000000001Ki", 2, 1'001},
  };
  for (const Row& row : rows) {
    const Quantity quantity = Parsed(row.text);
    EXPECT_EQ(quantity.Value(), row.value) << row.text;
    EXPECT_EQ(quantity.MilliValue(), row.milli_value) << row.text;
  }
}

TEST(Quantity, WhatDoesNotFitSaturates) {
  const Row rows[] = {
      {"1E", 1'000'000'000'000'000'000, kMax},
      {"1Ei", 1'152'921'504'606'846'976, kMax},
      {"9223372036854775808m", 9'223'372'036'854'776, kMax},
      {"9223372036854775807", kMax, kMax},
      {"9223372036854775808", kMax, kMax},
      {"-9223372036854775808", kMin, kMin},
      {"-9223372036854775809", kMin, kMin},
      {"100000000000000000000", kMax, kMax},
      {"-1e20", kMin, kMin},
      {"1e29", kMax, kMax},
  };
  for (const Row& row : rows) {
    const Quantity quantity = Parsed(row.text);
    EXPECT_EQ(quantity.Value(), row.value) << row.text;
    EXPECT_EQ(quantity.MilliValue(), row.milli_value) << row.text;
  }
}

TEST(Quantity, BinarySuffixesAreCapped) {
  const Quantity cap = Parsed("9223372036854775807");
  for (const char* text : {"8Ei", "7.9999999999999999999999999Ei", "10000000000000000Ki",
                           "999999999999999999Ei", "99999999999999999999999999999999999999999Ki",
                           "9223372036854775807.5Ki", "9007199254740991.9999999999999Ki"}) {
    EXPECT_EQ(Parsed(text), cap) << text;
  }
  EXPECT_EQ(Parsed("-8Ei"), Parsed("-9223372036854775807"));
  EXPECT_LT(Parsed("9007199254740991.9Ki"), cap);
  // Decimal ones are not.
  EXPECT_GT(Parsed("10E"), cap);
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  for (const char* text : {"",      "1K",  "1ki", "1 Gi",  "abc",  "1_000",
                           "1m5",   "1mi", "1ui", "1ni",   "1i",   "1KiB",
                           "1GB",   "1e",  "1e-", "1e+-3", "1e3m", "1e1.5",
                           "1.2.3", "--1", "+-1", "1-",    "0x10", "1Ee5",
                           " 1",    "1 ",  "NaN", "inf",   "1,5",  "1e99999999999999999999"}) {
    EXPECT_FALSE(ParseQuantity(text).has_value()) << '"' << text << '"';
  }
}

TEST(Quantity, ANumberNeedsADigit) {
  for (const char* text : {"-", "+", ".", "-.", "m", "Ki", "e3", ".E", "+.Ki"}) {
    EXPECT_FALSE(ParseQuantity(text).has_value()) << '"' << text << '"';
  }
}

TEST(Quantity, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(ParseQuantity("lots").error().message,
            "\"lots\" is not a quantity; write 500m, 2, 64Gi or 1e3");
  EXPECT_EQ(ParseQuantity("64GB").error().message,
            "\"64GB\" is not a quantity, the suffix \"GB\" is not valid; "
            "write 500m, 2, 64Gi or 1e3");
  for (const char* text :
       {"1e400", "-1e400", "1e30", "0.001e9999999", "999999999999999999999999999999999999999999"}) {
    const Result<Quantity> parsed = ParseQuantity(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().message, fmt::format("\"{}\" is too large for a quantity", text));
  }
}

TEST(Quantity, SignIsKept) {
  EXPECT_TRUE(Parsed("-1").Negative());
  EXPECT_TRUE(Parsed("-1n").Negative());
  EXPECT_FALSE(Parsed("-0").Negative());
  EXPECT_FALSE(Parsed("1").Negative());
  EXPECT_TRUE(Parsed("-0Gi").IsZero());
  EXPECT_FALSE(Parsed("1n").IsZero());
}

TEST(Quantity, NotationDoesNotMatterForComparisons) {
  EXPECT_EQ(Parsed("1000m"), Parsed("1"));
  EXPECT_EQ(Parsed("1024Mi"), Parsed("1Gi"));
  EXPECT_EQ(Parsed("1.5k"), Parsed("15e2"));
  EXPECT_EQ(Parsed("1e-10"), Parsed("1n"));
  EXPECT_LT(Parsed("999999999n"), Parsed("1"));
  EXPECT_LT(Parsed("-2"), Parsed("-1"));
  EXPECT_GT(Parsed("1Gi"), Parsed("1G"));
}

// Leading zeros, a sign or a point keep a text off the short way; both ways must agree.
TEST(Quantity, ShortAndLongWayAgree) {
  std::mt19937_64 random(3);
  const char* suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                            "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t number = random() % 1'000'000'000'000'000'000 >> random() % 60;
    const char* suffix = suffixes[random() % std::size(suffixes)];
    const Result<Quantity> short_way = ParseQuantity(fmt::format("{}{}", number, suffix));
    const Result<Quantity> long_way = ParseQuantity(fmt::format("+{}.000{}", number, suffix));
    ASSERT_EQ(short_way.has_value(), long_way.has_value()) << number << suffix;
    if (short_way) {
      EXPECT_EQ(*short_way, *long_way) << number << suffix;
    }
  }
}

}  // namespace
}  // namespace krafla
