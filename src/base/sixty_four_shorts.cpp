#include "base/sixty_four_shorts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/four_doubles.h"
#include "base/four_words.h"

namespace krafla {

namespace {

#ifndef KRAFLA_VERIFY

using SixteenShorts = int16_t __attribute__((vector_size(32)));
using EightShorts = int16_t __attribute__((vector_size(16)));

KRAFLA_IN_PLACE int16_t HighestOfSome(const int16_t* numbers, uint64_t some) {
  constexpr size_t kShorts = 16;
  constexpr auto kLast = static_cast<int16_t>(-0x8000);
  const SixteenShorts bits = {1,   2,   4,    8,    16,   32,   64,     128,
                              256, 512, 1024, 2048, 4096, 8192, 0x4000, kLast};
  // What is left out counts as zero, than which nothing is lower.
  SixteenShorts highest{};
#pragma GCC unroll 4
  for (size_t at = 0; at < 64; at += kShorts) {
    SixteenShorts sixteen;
    std::memcpy(&sixteen, numbers + at, sizeof(sixteen));
    sixteen &= (bits & static_cast<int16_t>(some >> at)) == bits;
    highest = highest > sixteen ? highest : sixteen;
  }
  std::array<EightShorts, 2> halves;
  std::memcpy(&halves, &highest, sizeof(highest));
  EightShorts eight = halves[0] > halves[1] ? halves[0] : halves[1];
  EightShorts other = __builtin_shufflevector(eight, eight, 4, 5, 6, 7, 0, 1, 2, 3);
  eight = eight > other ? eight : other;
  other = __builtin_shufflevector(eight, eight, 2, 3, 0, 1, 6, 7, 4, 5);
  eight = eight > other ? eight : other;
  return std::max<int16_t>(eight[0], eight[1]);
}

#else

// Builds that verify go through the numbers one by one, so that tests run both.
int16_t HighestOfSome(const int16_t* numbers, uint64_t some) {
  int16_t highest = 0;
  for (; some != 0; some &= some - 1) highest = std::max(highest, numbers[std::countr_zero(some)]);
  return highest;
}

#endif

}  // namespace

KRAFLA_WIDE bool ToShorts(std::span<const double> numbers, int16_t* shorts) {
  constexpr double kMost = std::numeric_limits<int16_t>::max();
  constexpr size_t kFour = FourDoubles::kSize;
  FourAnswers same;
  // Of the last ones there may be fewer than four: zeros make up for them.
  for (size_t i = 0; i < numbers.size(); i += kFour) {
    const size_t count = std::min(kFour, numbers.size() - i);
    std::array<double, kFour> last{};
    if (count < kFour) std::copy_n(&numbers[i], count, last.begin());
    const FourDoubles four = FourDoubles::Load(count < kFour ? last.data() : &numbers[i]);
    // Also what is not a number becomes one.
    const FourInts whole = LowerOf(HigherOf(four, FourTimes(0.0)), FourTimes(kMost)).Whole();
    same = same & (FourDoubles::Of(whole) == four);
    const std::array<int16_t, kFour> narrow = whole.ToShorts();
    std::memcpy(shorts + i, narrow.data(), count * sizeof(int16_t));
  }
  return same.AllYes();
}

KRAFLA_WIDE void HighestShortsOf(const int16_t* numbers, std::span<const uint32_t> blocks,
                                 std::span<const uint64_t> some, std::span<int16_t> highest) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i + kAhead < blocks.size()) {
      __builtin_prefetch(numbers + size_t{blocks[i + kAhead]} * 64);
      __builtin_prefetch(numbers + size_t{blocks[i + kAhead]} * 64 + 32);
    }
    highest[i] = HighestOfSome(numbers + size_t{blocks[i]} * 64, some[blocks[i]]);
  }
}

}  // namespace krafla
