#include "session/node_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "support/score_columns.h"

namespace krafla {
namespace {

struct World {
  ScoreColumn scores{0};
  std::vector<uint64_t> allowed;
  std::vector<uint64_t> among;
  std::vector<bool> left_out;
  std::vector<double> block_best;
  std::vector<double> region_best;

  static bool Has(const std::vector<uint64_t>& bits, uint32_t p) {
    return ((bits[p / 64] >> (p % 64)) & 1) != 0;
  }
  NodeRanking Ranking() const {
    return {.scores = &scores,
            .block_best = block_best,
            .region_best = region_best,
            .allowed = allowed,
            .left_out = &left_out};
  }
};

World RandomWorld(std::mt19937& random, uint32_t nodes) {
  World world;
  std::vector<double> scores(nodes);
  // Few different scores, so that there are ties within and between blocks; whole ones or not.
  const double step = random() % 2 == 0 ? 1 : 0.1;
  for (double& score : scores) score = static_cast<double>(random() % 5) * step;
  world.scores = testing::ColumnOf(scores);
  const size_t words = (nodes + 63) / 64;
  world.allowed.resize(words);
  world.among.resize(words);
  world.left_out.resize(nodes);
  for (uint32_t p = 0; p < nodes; ++p) {
    if (random() % 4 != 0) world.allowed[p / 64] |= uint64_t{1} << (p % 64);
    if (random() % 3 != 0) world.among[p / 64] |= uint64_t{1} << (p % 64);
    world.left_out[p] = random() % 8 == 0;
  }
  world.block_best.assign(words, -std::numeric_limits<double>::infinity());
  for (uint32_t p = 0; p < nodes; ++p)
    if (World::Has(world.allowed, p))
      world.block_best[p / 64] = std::max(world.block_best[p / 64], world.scores[p]);
  world.region_best.assign((words + 63) / 64, -std::numeric_limits<double>::infinity());
  for (size_t block = 0; block < words; ++block)
    world.region_best[block / 64] =
        std::max(world.region_best[block / 64], world.block_best[block]);
  return world;
}

TEST(BestFirst, GoesThroughNodesAsIfTheyWereSorted) {
  std::mt19937 random(7);
  for (const uint32_t nodes : {0U, 1U, 63U, 64U, 65U, 300U, 1000U, 9000U}) {
    const World world = RandomWorld(random, nodes);
    std::vector<uint32_t> expected;
    for (uint32_t p = 0; p < nodes; ++p)
      if (World::Has(world.allowed, p) && World::Has(world.among, p) && !world.left_out[p])
        expected.push_back(p);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](uint32_t a, uint32_t b) { return world.scores[a] > world.scores[b]; });
    BestFirst best_first;
    best_first.Start(world.Ranking(), world.among);
    std::vector<uint32_t> seen;
    for (uint32_t p = best_first.Next(); p != BestFirst::kEnd; p = best_first.Next())
      seen.push_back(p);
    EXPECT_EQ(seen, expected) << nodes << " nodes";
  }
}

TEST(NodeRanking, CountsWhatIsAllowedAndNotLeftOut) {
  World world;
  world.scores = testing::ColumnOf(std::vector<double>(70, 0));
  world.allowed = {uint64_t{1} << 3, uint64_t{1} << 5};
  world.block_best = {0, 0};
  world.left_out.assign(70, false);
  EXPECT_EQ(world.Ranking().Count(), 2U);
  world.left_out[3] = true;
  EXPECT_EQ(world.Ranking().Count(), 1U);
  EXPECT_TRUE(world.Ranking().AnyAllowed());
  EXPECT_TRUE(world.Ranking().IsAllowed(69));
  world.left_out[69] = true;
  EXPECT_FALSE(world.Ranking().AnyAllowed());
}

}  // namespace
}  // namespace krafla
