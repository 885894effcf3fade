#include "actions/highest_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace krafla {
namespace {

bool MayHave(const HighestLevels& levels, uint32_t position, double needed) {
  return (levels.MayHave(needed)[position / 64] >> position % 64 & 1) != 0;
}

bool HasMore(const HighestLevels& levels, uint32_t position, double needed) {
  return (levels.HaveMore(needed)[position / 64] >> position % 64 & 1) != 0;
}

TEST(HighestLevels, WhatIsNeededIsBetweenTwoRows) {
  std::mt19937 random(7);
  constexpr uint32_t kNodes = 200;
  std::vector<double> truth(kNodes, 0);
  HighestLevels levels;
  levels.Begin(kNodes);
  const auto draw = [&] {
    const int at = static_cast<int>(random() % 10'000);
    return at < 1'000 ? 0.0 : std::exp2(-40.0 + 45.0 * at / 10'000);
  };
  size_t left_out = 0;
  size_t with_more = 0;
  for (int round = 0; round < 300; ++round) {
    if (round == 150) levels.Begin(kNodes);  // known levels are forgotten, rows stay right
    for (uint32_t p = 0; p < kNodes; ++p) {
      const bool unknown = (levels.Unknown(p / 64) >> p % 64 & 1) != 0;
      if (!unknown && random() % 10 != 0) continue;
      truth[p] = draw();
      levels.Set(p, truth[p]);
    }
    // As much as somebody has, every now and then.
    const double needed = round % 3 == 0 ? truth[random() % kNodes] : draw();
    for (uint32_t p = 0; p < kNodes; ++p) {
      ASSERT_EQ(levels.At(p), truth[p]);
      const bool may = MayHave(levels, p, needed);
      ASSERT_TRUE(may || truth[p] < needed) << truth[p] << " of " << needed;
      const bool more = HasMore(levels, p, needed);
      ASSERT_FALSE(more && (!may || truth[p] <= needed)) << truth[p] << " of " << needed;
      // Half an octave is told apart where rows are.
      const bool is_told = needed > std::exp2(-30) && needed < 0.5;
      ASSERT_FALSE(may && is_told && truth[p] < needed / 1.6) << truth[p] << " of " << needed;
      ASSERT_FALSE(!more && is_told && truth[p] > needed * 1.6) << truth[p] << " of " << needed;
      left_out += may ? 0 : 1;
      with_more += more ? 1 : 0;
    }
  }
  EXPECT_GT(left_out, 10'000);
  EXPECT_GT(with_more, 10'000);
}

TEST(HighestLevels, ForgottenIsUnknown) {
  HighestLevels levels;
  levels.Begin(70);
  EXPECT_EQ(levels.Unknown(1), ~uint64_t{0});
  levels.Set(65, 0.5);
  EXPECT_EQ(levels.Unknown(1), ~uint64_t{2});
  levels.Forget(65);
  EXPECT_EQ(levels.Unknown(1), ~uint64_t{0});
}

TEST(HighestLevels, NobodyThereHasLessThanAnythingNeeded) {
  HighestLevels levels;
  levels.Begin(3);
  levels.Set(1, -std::numeric_limits<double>::infinity());
  levels.Set(2, 0.25);
  EXPECT_FALSE(MayHave(levels, 1, 0.25));
  EXPECT_TRUE(MayHave(levels, 2, 0.25));
  EXPECT_LT(levels.At(1), 0);
}

// Above the last row there are no others: the number tells.
TEST(HighestLevels, NobodyIsKnownToHaveMoreThanTheHighestRow) {
  HighestLevels levels;
  levels.Begin(2);
  levels.Set(0, 4);
  levels.Set(1, 1);
  for (const uint32_t p : {0U, 1U}) {
    EXPECT_TRUE(MayHave(levels, p, 2));
    EXPECT_FALSE(HasMore(levels, p, 2));
  }
}

}  // namespace
}  // namespace krafla
