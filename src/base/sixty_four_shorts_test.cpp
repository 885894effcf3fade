#include "base/sixty_four_shorts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace krafla {
namespace {

int16_t HighestShort(const int16_t* numbers, uint64_t some) {
  const std::array<uint32_t, 1> first{0};
  int16_t highest = -1;
  HighestShortsOf(numbers, first, {&some, 1}, {&highest, 1});
  return highest;
}

// At any place of the memory: a block of scores begins where its column does.
TEST(SixtyFourShorts, AreWhatAPlainListSays) {
  std::mt19937_64 random(4);
  for (const int range : {2, 100, int{std::numeric_limits<int16_t>::max()} + 1}) {
    for (int round = 0; round < 500; ++round) {
      std::array<int16_t, 96> memory;
      for (int16_t& number : memory)
        number = static_cast<int16_t>(random() % static_cast<uint64_t>(range));
      const int16_t* numbers = &memory[random() % 32];
      uint64_t some = random() & (round % 2 == 0 ? random() : ~uint64_t{0});
      if (round % 5 == 0) some = uint64_t{1} << random() % 64;
      if (some == 0) continue;
      int16_t highest = 0;
      for (int i = 0; i < 64; ++i)
        if ((some >> i & 1) != 0) highest = std::max(highest, numbers[i]);
      ASSERT_EQ(HighestShort(numbers, some), highest);
      const int16_t wanted = round % 3 == 0 ? int16_t{0} : highest;
      uint64_t with_it = 0;
      for (int i = 0; i < 64; ++i) with_it |= uint64_t{numbers[i] == wanted} << i;
      ASSERT_EQ(ShortsThatAre(numbers, some, wanted), with_it & some);
    }
  }
}

TEST(SixtyFourShorts, AreFoundOfSeveralBlocks) {
  std::mt19937_64 random(5);
  constexpr size_t kBlocks = 40;
  std::array<int16_t, kBlocks * 64> numbers;
  std::array<uint64_t, kBlocks> some;
  std::vector<uint32_t> blocks;
  for (int16_t& number : numbers) number = static_cast<int16_t>(random() % 3000);
  for (uint32_t block = 0; block < kBlocks; ++block) {
    some[block] = random() & random() & random();
    if (some[block] != 0 && random() % 3 != 0) blocks.push_back(block);
  }
  std::vector<int16_t> highest(blocks.size());
  HighestShortsOf(numbers.data(), blocks, some, highest);
  for (size_t i = 0; i < blocks.size(); ++i)
    EXPECT_EQ(highest[i], HighestShort(&numbers[blocks[i] * 64], some[blocks[i]])) << blocks[i];
}

// The first and the last, of which the rest has more.
TEST(SixtyFourShorts, LeaveOutWhoIsNotMeant) {
  std::array<int16_t, 64> numbers;
  numbers.fill(std::numeric_limits<int16_t>::max());
  numbers.front() = 0;
  numbers.back() = 7;
  EXPECT_EQ(HighestShort(numbers.data(), 1), 0);
  EXPECT_EQ(HighestShort(numbers.data(), uint64_t{1} << 63), 7);
  EXPECT_EQ(HighestShort(numbers.data(), 1 | uint64_t{1} << 63), 7);
  EXPECT_EQ(ShortsThatAre(numbers.data(), ~uint64_t{0}, 7), uint64_t{1} << 63);
  EXPECT_EQ(ShortsThatAre(numbers.data(), ~uint64_t{0}, 1), 0U);
  EXPECT_EQ(ShortsThatAre(numbers.data(), 1, 7), 0U);
}

// Wherever one stands that is not.
TEST(SixtyFourShorts, AreMadeOfNumbersThatAreWholeAndFit) {
  constexpr double kMost = std::numeric_limits<int16_t>::max();
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double no_end = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(5);
  for (size_t count = 0; count <= 64; ++count) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = static_cast<double>(random() % 0x8000);
    if (count > 1) numbers.front() = 0;
    if (count > 0) numbers.back() = kMost;
    std::vector<int16_t> shorts(count);
    ASSERT_TRUE(ToShorts(numbers, shorts.data())) << count;
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(shorts[i], numbers[i]) << i << " of " << count;
    for (const double other :
         {-1.0, 0.5, kMost + 1, kMost + 0.5, 1e300, -1e300, none, no_end, -no_end})
      for (size_t i = 0; i < count; i += 1 + random() % 5) {
        const double before = std::exchange(numbers[i], other);
        ASSERT_FALSE(ToShorts(numbers, shorts.data())) << other << ", " << i << " of " << count;
        numbers[i] = before;
      }
  }
}

}  // namespace
}  // namespace krafla
