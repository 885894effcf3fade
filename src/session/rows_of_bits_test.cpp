#include "session/rows_of_bits.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace krafla {
namespace {

using Row = std::vector<uint64_t>;

// Whole groups of words, and what is left behind them.
constexpr size_t kLengths[] = {0, 1, 3, 4, 5, 8, 11, 64, 313};

class RowsOfBits : public ::testing::Test {
 protected:
  Row Draw(size_t words) {
    Row row(words);
    for (uint64_t& word : row) word = random_();
    return row;
  }

  using Operation = std::function<void(std::span<uint64_t> row, RowOfBits a, RowOfBits b)>;
  using OfWord = std::function<uint64_t(uint64_t row, uint64_t a, uint64_t b)>;
  void Compare(const std::string& name, const Operation& operation, const OfWord& expected) {
    for (const size_t words : kLengths) {
      const Row before = Draw(words);
      const Row a = Draw(words);
      const Row b = Draw(words);
      Row row = before;
      operation(row, a, b);
      for (size_t i = 0; i < words; ++i)
        ASSERT_EQ(row[i], expected(before[i], a[i], b[i]))
            << name << ", word " << i << " of " << words;
    }
  }

  std::mt19937_64 random_{7};
};

TEST_F(RowsOfBits, EachOperationIsThatOfItsWords) {
  Compare(
      "SetToBoth", [](auto row, RowOfBits a, RowOfBits b) { SetToBoth(row, a, b); },
      [](uint64_t, uint64_t a, uint64_t b) { return a & b; });
  Compare(
      "SetToOthers", [](auto row, RowOfBits a, RowOfBits) { SetToOthers(row, a); },
      [](uint64_t, uint64_t a, uint64_t) { return ~a; });
  Compare(
      "KeepThese", [](auto row, RowOfBits a, RowOfBits) { KeepThese(row, a); },
      [](uint64_t row, uint64_t a, uint64_t) { return row & a; });
  Compare(
      "KeepEither", [](auto row, RowOfBits a, RowOfBits b) { KeepEither(row, a, b); },
      [](uint64_t row, uint64_t a, uint64_t b) { return row & (a | b); });
  Compare(
      "TakeOff", [](auto row, RowOfBits a, RowOfBits) { TakeOff(row, a); },
      [](uint64_t row, uint64_t a, uint64_t) { return row & ~a; });
  Compare(
      "AddThese", [](auto row, RowOfBits a, RowOfBits) { AddThese(row, a); },
      [](uint64_t row, uint64_t a, uint64_t) { return row | a; });
}

TEST_F(RowsOfBits, ASingleBitIsFoundAndCountedWhereverItIs) {
  for (const size_t words : kLengths) {
    Row row(words, 0);
    EXPECT_FALSE(AnyBit(row));
    EXPECT_EQ(CountBits(row), 0U);
    for (size_t i = 0; i < words; ++i) {
      row[i] = uint64_t{1} << (i * 7 % 64);
      EXPECT_TRUE(AnyBit(row));
      EXPECT_EQ(CountBits(row), 1U);
      row[i] = 0;
    }
  }
  EXPECT_EQ(CountBits(Row(5, ~uint64_t{0})), 320U);
}

}  // namespace
}  // namespace krafla
