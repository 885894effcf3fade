#include "sim/draws.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(Draws, DependOnSeedPurposeNameAndNumberAndNothingElse) {
  const Draws draws(1);
  const double first = draws.Unit("run time", "team/a-0", 0);
  draws.Unit("run time", "team/b-0", 0);
  EXPECT_EQ(draws.Unit("run time", "team/a-0", 0), first);
  EXPECT_NE(draws.Unit("run time", "team/a-0", 1), first);
  EXPECT_NE(draws.Unit("run time", "team/a-1", 0), first);
  EXPECT_NE(draws.Unit("start-up", "team/a-0", 0), first);
  EXPECT_NE(Draws(2).Unit("run time", "team/a-0", 0), first);
}

TEST(Draws, AreSpreadEvenly) {
  const Draws draws(7);
  int tenths[10] = {};
  for (uint64_t i = 0; i < 10'000; ++i)
    ++tenths[static_cast<int>(draws.Unit("run time", "team/a-0", i) * 10)];
  for (const int count : tenths) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
}

TEST(Draws, RunTimesFollowTheirKind) {
  constexpr int64_t kHour = 3'600 * Timestamp::kNsPerSecond;
  EXPECT_EQ(DrawRunTimeNs({}, 0.5), kForeverNs);
  EXPECT_EQ(DrawRunTimeNs({.kind = RunTime::Kind::kFixed, .mean_ns = kHour}, 0.9), kHour);
  const RunTime uniform{.kind = RunTime::Kind::kUniform, .low_ns = kHour, .high_ns = 3 * kHour};
  EXPECT_EQ(DrawRunTimeNs(uniform, 0), kHour);
  EXPECT_EQ(DrawRunTimeNs(uniform, 0.5), 2 * kHour);
  const RunTime exponential{.kind = RunTime::Kind::kExponential, .mean_ns = kHour};
  EXPECT_EQ(DrawRunTimeNs(exponential, 0), 0);
  EXPECT_NEAR(static_cast<double>(DrawRunTimeNs(exponential, 0.5)), 0.693147 * kHour, 1e9);
  EXPECT_GT(DrawRunTimeNs(exponential, 1 - 0x1p-53), 30 * kHour);
}

TEST(Draws, JitterStaysWithinItsBounds) {
  constexpr int64_t kSecond = Timestamp::kNsPerSecond;
  EXPECT_EQ(WithJitterNs(10 * kSecond, 0, 0.9), 10 * kSecond);
  EXPECT_EQ(WithJitterNs(10 * kSecond, 0.3, 0), 7 * kSecond);
  EXPECT_EQ(WithJitterNs(10 * kSecond, 0.3, 0.5), 10 * kSecond);
  EXPECT_LE(WithJitterNs(10 * kSecond, 0.3, 1 - 0x1p-53), 13 * kSecond);
}

}  // namespace
}  // namespace krafla
