#include "base/strong_id.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace krafla {
namespace {

struct RowTag;
using RowId = StrongId<RowTag>;

struct TwoLines {
  double numbers[16] = {};
};

bool BeginsWithALine(const TwoLines& item) {
  return reinterpret_cast<uintptr_t>(&item) % 64 == 0;
}

// Where nothing else sees to it: these have the alignment of a number.
TEST(Table, ItemsThatFillLinesLieOnThem) {
  static_assert(alignof(TwoLines) == alignof(double));
  Table<RowId, TwoLines> table;
  for (uint32_t i = 0; i < 100; ++i) {
    TwoLines item;
    item.numbers[15] = i;
    const RowId id = table.Add(item);
    EXPECT_TRUE(BeginsWithALine(table[id])) << i;
  }
  const Table<RowId, TwoLines> copy = table;
  EXPECT_TRUE(BeginsWithALine(copy[RowId(99)]));
  const Table<RowId, TwoLines> moved = std::move(table);
  EXPECT_TRUE(BeginsWithALine(moved[RowId(0)]));
  EXPECT_EQ(moved[RowId(99)].numbers[15], 99);
}

}  // namespace
}  // namespace krafla
