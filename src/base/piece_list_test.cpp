#include "base/piece_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace krafla {
namespace {

TEST(PieceList, HasWhatWasAdded) {
  PieceList<int, 4> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  std::vector<int> expected;
  for (int i = 0; i < 11; ++i) {
    list.push_back(i * i);
    expected.push_back(i * i);
    ASSERT_EQ(list.size(), expected.size());
    EXPECT_EQ(list.back(), i * i);
    EXPECT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
  }
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(list[i], expected[i]);
}

TEST(PieceList, NothingMoves) {
  PieceList<int, 2> list;
  list.push_back(7);
  const int* first = &list[0];
  for (int i = 0; i < 100; ++i) list.push_back(i);
  EXPECT_EQ(first, &list[0]);
}

TEST(PieceList, BeginsAnewInTheSameMemory) {
  PieceList<int, 2> list;
  for (int i = 0; i < 5; ++i) list.push_back(i);
  const int* second_piece = &list[2];
  list.clear();
  EXPECT_TRUE(list.empty());
  for (int i = 0; i < 4; ++i) list.push_back(10 + i);
  EXPECT_EQ(list.size(), 4U);
  EXPECT_EQ(list[3], 13);
  EXPECT_EQ(second_piece, &list[2]);
}

TEST(PieceList, IsShortenedToAnyLength) {
  for (size_t length = 0; length <= 11; ++length) {
    PieceList<size_t, 4> list;
    for (size_t i = 0; i < 11; ++i) list.push_back(i);
    list.Shorten(length);
    ASSERT_EQ(list.size(), length);
    list.push_back(100);
    list.push_back(101);
    std::vector<size_t> expected(length);
    std::iota(expected.begin(), expected.end(), size_t{0});
    expected.insert(expected.end(), {100, 101});
    EXPECT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end())) << length;
  }
}

TEST(PieceList, GivesWhatIsBehindSoMany) {
  PieceList<size_t, 4> list;
  EXPECT_TRUE(list.From(0).empty());
  EXPECT_EQ(list.From(3).begin(), list.end());
  for (size_t i = 0; i < 11; ++i) list.push_back(i);
  // The last piece is partly filled, then full, then gone.
  for (const size_t size : {11U, 8U, 7U, 4U})
    for (size_t from = 0; from <= 9; ++from) {
      list.Shorten(size);
      const auto rest = list.From(from);
      const std::vector<size_t> got(rest.begin(), rest.end());
      ASSERT_EQ(got.size(), rest.size());
      ASSERT_EQ(got.size(), from < size ? size - from : 0);
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], from + i);
      std::vector<size_t> visited;
      rest.ForEach([&](size_t item) { visited.push_back(item); });
      EXPECT_EQ(visited, got);
    }
}

TEST(PieceList, IsHandedOver) {
  PieceList<int, 2> list;
  for (int i = 0; i < 5; ++i) list.push_back(i);
  const int* first = &list[0];
  PieceList<int, 2> taken = std::move(list);
  list = {};
  EXPECT_TRUE(list.empty());
  list.push_back(9);
  EXPECT_EQ(list[0], 9);
  EXPECT_EQ(taken.size(), 5U);
  EXPECT_EQ(&taken[0], first);
  list = std::move(taken);
  EXPECT_EQ(list.size(), 5U);
  EXPECT_EQ(list[4], 4);
}

}  // namespace
}  // namespace krafla
