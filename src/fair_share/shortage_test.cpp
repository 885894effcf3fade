#include "fair_share/shortage.h"

#include <gtest/gtest.h>

#include "support/amounts.h"

namespace krafla {
namespace {

TEST(DescribeShortage, ListsWhatIsWantedAndMissing) {
  Amounts amounts;
  const Resource amount = amounts("cpu 5000, memory 100, z.io/z 2, a.io/a 2, pods 9");
  const Resource limit = amounts("cpu 4000, memory 50, z.io/z 1");
  EXPECT_EQ(DescribeShortage("no room", "insufficient", amount, limit,
                             amounts("cpu 1, z.io/z 1, a.io/a 1, pods 1"), amounts.kinds),
            "no room: insufficient cpu, insufficient a.io/a, insufficient z.io/z");
  EXPECT_EQ(
      DescribeShortage("no room", "overused", amount, limit, amounts("memory 1"), amounts.kinds),
      "no room: overused memory");
  EXPECT_EQ(DescribeShortage("no room", "overused", limit, amount, amounts("cpu 1"), amounts.kinds),
            "no room");
}

}  // namespace
}  // namespace krafla
