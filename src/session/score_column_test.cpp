#include "session/score_column.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "support/score_columns.h"

namespace krafla {
namespace {

using testing::ColumnOf;
using testing::SetScore;

TEST(ScoreColumn, TheHighestOfABlockIsThatOfTheNodesInQuestion) {
  for (const double step : {1.0, 0.1}) {
    ScoreColumn scores = ColumnOf(std::vector<double>(128, 9 * step));
    SetScore(scores, 64 + 3, 2 * step);
    SetScore(scores, 64 + 7, 4 * step);
    EXPECT_EQ(scores.HighestOf(1, uint64_t{1} << 3), 2 * step);
    EXPECT_EQ(scores.HighestOf(1, uint64_t{1} << 3 | uint64_t{1} << 7), 4 * step);
    EXPECT_EQ(scores.HighestOf(1, 0), ScoreColumn::kNone);
    EXPECT_EQ(scores.FirstThatHas(1, ~uint64_t{0}, 4 * step), 64U + 7);
    EXPECT_EQ(scores.FirstThatHas(1, ~uint64_t{0}, 9 * step), 64U);
    EXPECT_EQ(scores.FirstThatHas(1, ~uint64_t{1}, 9 * step), 65U);
  }
}

TEST(ScoreColumn, TheHighestAndTheFirstAreWhatAPlainListSays) {
  std::mt19937_64 random(2);
  for (const size_t nodes : {1, 63, 64, 65, 130, 192}) {
    for (const double step : {1.0, 4095.0, -1.0, 0.1}) {
      std::vector<double> plain(nodes);
      for (double& score : plain) score = static_cast<double>(random() % 9) * step;
      const ScoreColumn scores = ColumnOf(plain);
      for (int round = 0; round < 400; ++round) {
        const size_t block = random() % ((nodes + 63) / 64);
        uint64_t some = random();
        for (uint64_t i = random() % 5; i > 0; --i)
          some = random() % 2 == 0 ? some & random() : some | random();
        if (nodes - block * 64 < 64) some &= (uint64_t{1} << (nodes - block * 64)) - 1;
        double highest = ScoreColumn::kNone;
        uint32_t first = 0;
        for (uint32_t p = static_cast<uint32_t>(block * 64); p < nodes && p / 64 == block; ++p)
          if ((some >> p % 64 & 1) != 0 && plain[p] > highest) {
            highest = plain[p];
            first = p;
          }
        ASSERT_EQ(scores.HighestOf(block, some), highest);
        // Of several blocks, of which the others have nobody.
        std::vector<uint64_t> rows((nodes + 63) / 64, 0);
        rows[block] = some;
        std::vector<uint32_t> blocks(rows.size());
        std::iota(blocks.begin(), blocks.end(), 0U);
        std::vector<double> of_each;
        scores.HighestOfEach(blocks, rows, of_each);
        ASSERT_EQ(of_each.size(), rows.size());
        for (size_t b = 0; b < rows.size(); ++b)
          ASSERT_EQ(of_each[b], b == block ? highest : ScoreColumn::kNone);
        if (some != 0) {
          ASSERT_EQ(scores.FirstThatHas(block, some, highest), first);
        }
      }
    }
  }
}

// Every number comes back to the last bit, however many before it were short ones.
TEST(ScoreColumn, GivesBackWhatWasSet) {
  std::mt19937 random(9);
  const std::vector<double> odd = {0.1,
                                   16777217,
                                   1e300,
                                   -1e-300,
                                   std::nextafter(7, 8),
                                   1.0 / 3,
                                   32767,
                                   32768,
                                   9007199254740991.0,
                                   100.00000001,
                                   -1,
                                   0.5,
                                   65536};
  for (const double number : odd) {
    std::vector<double> plain(200);
    for (size_t p = 0; p < plain.size(); ++p) plain[p] = static_cast<double>(p) * 160;
    ScoreColumn scores = ColumnOf(plain);
    for (int step = 0; step < 300; ++step) {
      const auto p = static_cast<uint32_t>(random() % plain.size());
      plain[p] = step == 100 ? number : static_cast<double>(random() % 500);
      SetScore(scores, p, plain[p]);
      for (size_t at = 0; at < plain.size(); ++at) ASSERT_EQ(scores[at], plain[at]);
    }
    EXPECT_EQ(scores.size(), plain.size());
  }
}

// One of several that are set together does not fit: those before it, and those that were set
// earlier and are still wanted, are as they were.
TEST(ScoreColumn, WidensInTheMiddleOfWhatIsSetTogether) {
  ScoreColumn scores(200);
  const std::vector<uint32_t> early = {3, 64, 199};
  scores.Set(early, std::vector<double>{1, 2, 3}, {});
  const std::vector<uint64_t> wanted = {uint64_t{1} << 3, 1, 0, 0};
  const std::vector<uint32_t> late = {5, 6, 70};
  scores.Set(late, std::vector<double>{7, 0.1, 8}, wanted);
  EXPECT_EQ(scores[3], 1);
  EXPECT_EQ(scores[64], 2);
  EXPECT_EQ(scores[5], 7);
  EXPECT_EQ(scores[6], 0.1);
  EXPECT_EQ(scores[70], 8);
}

TEST(ScoreColumn, AScoreThatIsNoNumberIsAMistake) {
  for (const double first : {1.0, 0.5}) {  // narrow and wide
    ScoreColumn scores = ColumnOf(std::vector<double>(70, first));
    for (const double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      EXPECT_DEATH(SetScore(scores, 3, wrong), "cannot tell");
  }
}

}  // namespace
}  // namespace krafla
