#include "fair_share/dominant_share.h"

#include <gtest/gtest.h>

#include "support/amounts.h"

namespace krafla {
namespace {

TEST(DominantShare, IsTheLargestFraction) {
  Amounts amounts;
  const Resource whole = amounts("cpu 10000, memory 1000, a 4");
  EXPECT_EQ(DominantShare(amounts("cpu 1000, memory 500, a 1"), whole), 0.5);
  EXPECT_EQ(DominantShare(amounts("cpu 1000, a 3"), whole), 0.75);
  EXPECT_EQ(DominantShare(amounts("cpu 20000"), whole), 2);
}

TEST(DominantShare, IgnoresKindsTheWholeHasNothingOf) {
  Amounts amounts;
  EXPECT_EQ(DominantShare(amounts("cpu 100, a 5"), amounts("cpu 1000, a 0, b 3")), 0.1);
  EXPECT_EQ(DominantShare(amounts("a 5"), Resource()), 0);
}

TEST(DominantShare, IsNeverNegative) {
  Amounts amounts;
  EXPECT_EQ(DominantShare(amounts("cpu -100"), amounts("cpu 1000")), 0);
}

}  // namespace
}  // namespace krafla
