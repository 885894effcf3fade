#include "session/shared_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/score_columns.h"

namespace krafla {
namespace {

constexpr double kNone = BlockMaxima::kNone;

TEST(BlockMaxima, FollowTheBestOfEachBlockAndRegion) {
  std::mt19937 random(11);
  for (const uint32_t nodes : {1U, 64U, 65U, 4096U, 9000U}) {
    const size_t blocks = (nodes + 63) / 64;
    BlockMaxima best;
    best.Reset(blocks);
    ScoreColumn scores = testing::ColumnOf(std::vector<double>(nodes, 0));
    std::vector<uint64_t> counted(blocks, 0);
    for (int step = 0; step < 2000; ++step) {
      const auto p = static_cast<uint32_t>(random() % nodes);
      const uint64_t bit = BitOf(p);
      const bool held = (counted[p / 64] & bit) != 0 && scores[p] == best.Of(p / 64);
      counted[p / 64] &= ~bit;
      if (random() % 3 != 0) {
        counted[p / 64] |= bit;
        testing::SetScore(scores, p, static_cast<double>(random() % 6));
      }
      // Whoever does not hold the best of a block may go without looking for another.
      if (held) best.Set(p / 64, scores.HighestOf(p / 64, counted[p / 64]));
      if ((counted[p / 64] & bit) != 0) best.Raise(p, scores[p]);
      const double highest = scores.HighestOf(p / 64, counted[p / 64]);
      ASSERT_EQ(best.Of(p / 64), highest);
      const auto first = std::max_element(best.blocks().begin(), best.blocks().end());
      ASSERT_EQ(best.First(), static_cast<size_t>(first - best.blocks().begin()));
      const size_t region = p / 4096;
      const auto in_region =
          best.blocks().subspan(region * 64, std::min<size_t>(64, blocks - region * 64));
      ASSERT_EQ(best.regions()[region], *std::max_element(in_region.begin(), in_region.end()));
    }
  }
}

TEST(BlockMaxima, TheHighestOfAWholeBlockIsFoundWhereverItIs) {
  for (size_t at = 0; at < 64; ++at) {
    std::vector<double> scores(3 * 64, 9);
    std::fill_n(scores.begin() + 64, 64, kNone);
    EXPECT_EQ(BlockMaxima::HighestOfAll(scores.data(), 1), kNone);
    scores[64 + at] = -2.5;
    EXPECT_EQ(BlockMaxima::HighestOfAll(scores.data(), 1), -2.5);
    scores[64 + (at + 5) % 64] = 1;
    EXPECT_EQ(BlockMaxima::HighestOfAll(scores.data(), 1), 1);
  }
}

// A bound may stay too high until somebody wants it tight, but never be too low.
TEST(SharedScores, ABoundIsLoweredWhenItIsTightened) {
  SharedScores scores(100);
  scores.Set(3, 5);
  scores.Set(4, 7);
  scores.Set(70, 6);
  ChangedPositions changed(100);
  changed.push_back(4);
  scores.CatchUp(changed);
  EXPECT_GE(scores.best().Of(0), 5);
  scores.Tighten(std::vector<uint64_t>{0, 1});
  EXPECT_EQ(scores.best().Of(0), 7) << "nobody asks about that block";
  scores.Tighten(std::vector<uint64_t>{1, 0});
  EXPECT_EQ(scores.best().Of(0), 5);
  EXPECT_EQ(scores.best().regions()[0], 6);
  scores.Set(4, 8);
  EXPECT_EQ(scores.best().Of(0), 8);
  EXPECT_EQ(scores.best().regions()[0], 8);
}

// What is known, and how good it can be, after any course of events is what a plain list says.
TEST(SharedScores, FollowChangesLikeAPlainList) {
  std::mt19937 random(5);
  for (const uint32_t nodes : {1U, 64U, 100U, 5000U}) {
    SharedScores scores(nodes);
    std::vector<double> plain(nodes, kNone);  // kNone: not known
    ChangedPositions changed(nodes);
    for (int step = 0; step < 300; ++step) {
      // Now and then very many more than there are nodes: then all is begun anew. Or so many that
      // they are followed as a row.
      const size_t kind = random() % 16;
      const size_t news = kind == 0   ? 2 * nodes + 1
                          : kind <= 2 ? random() % (nodes + 1)
                                      : random() % 20;
      for (size_t i = 0; i < news; ++i) {
        const auto p = static_cast<uint32_t>(random() % nodes);
        changed.push_back(p);
        plain[p] = kNone;
      }
      if (news > 2 * nodes) std::fill(plain.begin(), plain.end(), kNone);
      scores.CatchUp(changed);
      for (int asked = 0; asked < 40; ++asked) {
        const auto p = static_cast<uint32_t>(random() % nodes);
        ASSERT_EQ(scores.Knows(p), plain[p] != kNone);
        if (!scores.Knows(p)) scores.Set(p, plain[p] = static_cast<double>(random() % 10));
        ASSERT_EQ(scores.At(p), plain[p]);
      }
      std::vector<uint64_t> tight(scores.best().size());
      for (uint64_t& nodes_of : tight) nodes_of = random() % 2;
      scores.Tighten(tight);
      for (size_t block = 0; block < scores.best().size(); ++block) {
        double highest = kNone;
        for (size_t p = block * 64; p < std::min<size_t>(nodes, block * 64 + 64); ++p)
          highest = std::max(highest, plain[p]);
        ASSERT_TRUE(tight[block] != 0 ? scores.best().Of(block) == highest
                                      : scores.best().Of(block) >= highest);
        ASSERT_GE(scores.best().regions()[block / 64], scores.best().Of(block));
      }
    }
  }
}

}  // namespace
}  // namespace krafla
