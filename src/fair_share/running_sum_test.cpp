#include "fair_share/running_sum.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace krafla {
namespace {

Resource AddUp(const std::vector<Resource>& amounts) {
  Resource sum;
  for (const Resource& amount : amounts) sum.Add(amount);
  return sum;
}

TEST(RunningSum, IsWhatAddingUpWouldGive) {
  std::mt19937 random(11);
  std::vector<Resource> amounts;
  RunningSum running;
  for (int step = 0; step < 2000; ++step) {
    if (!amounts.empty() && random() % 5 < 2) {
      const size_t at = random() % amounts.size();
      running.Remove(amounts[at]);
      amounts.erase(amounts.begin() + static_cast<ptrdiff_t>(at));
    } else {
      Resource& amount = amounts.emplace_back();
      amount.Set(ResourceKinds::kCpu, static_cast<double>(random() % 64000));
      if (random() % 2 == 0)
        amount.Set(ResourceKinds::kMemory, static_cast<double>(random() % 512) * 0x1p30);
      // A kind that is named by few, also with 0 of it, must disappear with the last of them.
      if (random() % 4 == 0)
        amount.Set(3 + static_cast<int>(random() % 14), static_cast<double>(random() % 3));
      running.Add(amount);
    }
    ASSERT_TRUE(running.exact());
    const Resource sum = AddUp(amounts);
    ASSERT_TRUE(running.Sum().SameAs(sum)) << step;
    ASSERT_EQ(running.Sum().scalars_nil(), sum.scalars_nil());
  }
}

TEST(RunningSum, SaysWhenItCannotBeExact) {
  RunningSum running;
  Resource half;
  half.Set(ResourceKinds::kCpu, 0.5);
  running.Add(half);
  EXPECT_FALSE(running.exact());
  running.Remove(half);
  EXPECT_TRUE(running.exact());

  Resource large;
  large.Set(ResourceKinds::kMemory, 0x1p52);
  running.Add(large);
  EXPECT_TRUE(running.exact());
  running.Add(large);
  EXPECT_FALSE(running.exact()) << "2^53 and 1 are 2^53";
  running.Remove(large);
  EXPECT_TRUE(running.exact());

  Resource negative;
  negative.Set(ResourceKinds::kCpu, -1);
  running.Add(negative);
  EXPECT_FALSE(running.exact());
}

}  // namespace
}  // namespace krafla
