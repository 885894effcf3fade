// The best of the nodes that fit is the one that looking at all of them finds, whatever changes.
#include "session/fitting_nodes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/score_columns.h"

namespace krafla {
namespace {

TEST(FittingNodes, TheBestFollowsEveryChange) {
  std::mt19937 random(5);
  for (const uint32_t nodes : {1U, 64U, 130U, 5000U}) {
    const size_t blocks = (nodes + 63) / 64;
    ScoreColumn scores = testing::ColumnOf(std::vector<double>(nodes, 0));
    for (uint32_t p = 0; p < nodes; ++p)
      testing::SetScore(scores, p, static_cast<double>(random() % 6));
    FittingNodes fitting;
    fitting.Begin(blocks);
    fitting.later.assign(blocks, 0);
    fitting.now.assign(blocks, 0);
    const auto draw = [&](uint32_t p) {
      const bool later = random() % 4 == 0;
      SetBit(fitting.later, p, later);
      SetBit(fitting.now, p, later && random() % 2 == 0);
    };
    for (uint32_t p = 0; p < nodes; ++p) draw(p);
    fitting.FollowAll(scores);
    for (int change = 0; change < 300; ++change) {
      uint32_t expected = FittingNodes::kNowhere;
      for (uint32_t p = 0; p < nodes; ++p)
        if (HasBit(fitting.now, p) && !HasBit(fitting.refuses, p) &&
            (expected == FittingNodes::kNowhere || scores[p] > scores[expected]))
          expected = p;
      ASSERT_EQ(fitting.Best(scores), expected) << nodes << " nodes, change " << change;
      fitting.VerifyBest(scores);
      // The best refuses, or any node changes.
      const uint32_t p = expected != FittingNodes::kNowhere && change % 2 == 0
                             ? expected
                             : static_cast<uint32_t>(random() % nodes);
      if (change % 4 == 0) {
        SetBit(fitting.refuses, p, true);
      } else {
        fitting.Forget(p);
        testing::SetScore(scores, p, static_cast<double>(random() % 6));
        draw(p);
      }
      fitting.Follow(p, scores);
    }
  }
}

TEST(FittingNodes, NobodyFitsBeforeAnythingIsKnown) {
  const FittingNodes fitting;
  EXPECT_EQ(fitting.Best(ScoreColumn(0)), FittingNodes::kNowhere);
}

// A few nodes are looked at again; many are asked all at once.
TEST(FittingNodes, ManyChangesAreBetterAskedAboutAtOnce) {
  FittingNodes fitting;
  fitting.later.assign(10, ~uint64_t{0});
  EXPECT_FALSE(fitting.IsBetterAsked(9));
  EXPECT_FALSE(fitting.IsBetterAsked(20));
  EXPECT_TRUE(fitting.IsBetterAsked(30));
  fitting.later.assign(10, 0);
  EXPECT_TRUE(fitting.IsBetterAsked(10)) << "where nearly nobody fits, asking is cheap";
}

}  // namespace
}  // namespace krafla
