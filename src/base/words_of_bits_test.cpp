#include "base/words_of_bits.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace krafla {
namespace {

using Found = std::vector<std::pair<size_t, uint64_t>>;

Found Visit(const std::vector<uint64_t>& words, size_t at_most) {
  Found found;
  ForEachWordNotZero(
      words.size(), [&](size_t i) { return words[i]; },
      [&](size_t i, uint64_t word) {
        found.emplace_back(i, word);
        return found.size() < at_most;
      });
  return found;
}

TEST(WordsOfBits, ThoseThatAreNotZeroComeInTheirOrder) {
  for (const size_t count : {0UL, 1UL, 7UL, 8UL, 9UL, 31UL, 100UL}) {
    std::vector<uint64_t> words(count, 0);
    Found expected;
    for (size_t i = 0; i < count; ++i) {
      if (i % 3 != 0 && i % 17 != 8) continue;
      words[i] = i + 1;
      expected.emplace_back(i, i + 1);
    }
    EXPECT_EQ(Visit(words, SIZE_MAX), expected) << count << " words";
  }
}

TEST(WordsOfBits, WhoeverHasEnoughIsNotCalledAgain) {
  const std::vector<uint64_t> words(20, 5);
  EXPECT_EQ(Visit(words, 3), (Found{{0, 5}, {1, 5}, {2, 5}}));
  EXPECT_EQ(Visit(words, 18).size(), 18U);
}

}  // namespace
}  // namespace krafla
