#include "base/piece_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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

}  // namespace
}  // namespace krafla
