#include "session/call_column.h"

#include <gtest/gtest.h>

#include "model/ids.h"

namespace krafla {
namespace {

TEST(CallColumn, EachCallStartsEmpty) {
  CallColumn<JobId, int> column;
  const auto ten = [] { return 10; };
  const auto twenty = [] { return 20; };
  column.Begin(2);
  EXPECT_EQ(column.Get(JobId(1), ten)++, 10);
  EXPECT_EQ(column.Get(JobId(1), twenty), 11) << "made once per call";
  EXPECT_EQ(column.Get(JobId(0), twenty), 20) << "each id on its own";
  column.Begin(2);
  EXPECT_EQ(column.Get(JobId(1), twenty), 20);
}

TEST(CallColumn, GrowsWithItsTable) {
  CallColumn<JobId, int> column;
  column.Begin(1);
  EXPECT_EQ(column.Get(JobId(0), [] { return 1; }), 1);
  column.Begin(3);
  EXPECT_EQ(column.Get(JobId(0), [] { return 2; }), 2);
  EXPECT_EQ(column.Get(JobId(2), [] { return 3; }), 3);
}

}  // namespace
}  // namespace krafla
