// Going on from one task to the next gives the nodes that sorting all of them anew would give.
#include "actions/nodes_in_turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "base/words_of_bits.h"
#include "session/block_maxima.h"
#include "support/score_columns.h"

namespace krafla {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Nodes with scores, of which there are few different ones so that there are ties.
class World {
 public:
  World(std::mt19937& random, uint32_t nodes)
      : random_(random),
        scores_(testing::ColumnOf(std::vector<double>(nodes, 0))),
        allowed_((nodes + 63) / 64),
        room_(allowed_.size()),
        block_best_(allowed_.size(), kNone),
        region_best_((allowed_.size() + 63) / 64, kNone) {
    for (uint32_t p = 0; p < nodes; ++p) {
      SetBit(allowed_, p, random() % 5 != 0);
      Change(p);
    }
  }

  // Another score, and room or none.
  void Change(uint32_t p) {
    testing::SetScore(scores_, p, static_cast<double>(random_() % 7));
    SetBit(room_, p, random_() % 3 != 0);
    block_best_[p / 64] = std::max(block_best_[p / 64], scores_[p]);
    region_best_[p / 4096] = std::max(region_best_[p / 4096], scores_[p]);
  }
  bool MayCome(uint32_t p) const { return HasBit(allowed_, p) && HasBit(room_, p); }
  NodeRanking Ranking() const {
    return {.scores = &scores_,
            .block_best = block_best_,
            .region_best = region_best_,
            .allowed = allowed_};
  }
  std::vector<uint32_t> InOrder(const std::vector<uint64_t>& kept) const {
    std::vector<uint32_t> all;
    for (uint32_t p = 0; p < scores_.size(); ++p)
      if (MayCome(p) && HasBit(kept, p)) all.push_back(p);
    std::stable_sort(all.begin(), all.end(),
                     [&](uint32_t a, uint32_t b) { return scores_[a] > scores_[b]; });
    return all;
  }
  const std::vector<uint64_t>& room() const { return room_; }
  uint32_t size() const { return static_cast<uint32_t>(scores_.size()); }

 private:
  std::mt19937& random_;
  ScoreColumn scores_;
  std::vector<uint64_t> allowed_;
  std::vector<uint64_t> room_;
  std::vector<double> block_best_;
  std::vector<double> region_best_;
};

// Whoever is tried in vain is tried again by the next task, and whoever is passed over comes again;
// whoever is not kept is gone for good, unless something changes there.
TEST(NodesInTurn, GoingOnIsAsGoodAsSortingAnew) {
  std::mt19937 random(11);
  size_t came = 0;
  size_t waited = 0;
  for (const uint32_t nodes : {1U, 64U, 65U, 300U, 5000U}) {
    for (int round = 0; round < 20; ++round) {
      World world(random, nodes);
      NodesInTurn in_turn;
      in_turn.among() = world.room();
      in_turn.Start(world.Ranking());
      std::vector<uint64_t> kept(world.room().size(), ~uint64_t{0});  // by bounds, of this gang
      for (int task = 0; task < 12; ++task) {
        // Some nodes, and then it is content with the next one.
        // From some moment on others are passed over.
        const std::vector<uint32_t> expected = world.InOrder(kept);
        const size_t tried = random() % 6;
        const size_t pass_from = random() % 6;
        const uint32_t third = static_cast<uint32_t>(random() % 3);
        std::vector<uint64_t> passed(kept.size());
        for (uint32_t p = 0; p < nodes; ++p) SetBit(passed, p, p % 3 == third);
        std::vector<uint32_t> passed_over;
        const uint32_t end = NodesInTurn::kEnd;
        uint32_t done = end;
        size_t tries = 0;
        for (const uint32_t p : expected) {
          if (tries == pass_from) in_turn.PassOver(passed);
          if (tries >= pass_from && HasBit(passed, p)) {
            passed_over.push_back(p);
            continue;
          }
          ASSERT_EQ(in_turn.Next(), p) << nodes << " nodes, task " << task;
          if (tries++ == tried) {
            done = p;
            break;
          }
          in_turn.KeepForNext(p);
        }
        if (done == end) {
          ASSERT_EQ(in_turn.Next(), end) << nodes << " nodes, task " << task;
        }
        // Whether they are still kept need not be asked of those that do not come anyway.
        std::vector<uint32_t> seen(in_turn.PassedOver().begin(), in_turn.PassedOver().end());
        std::erase_if(seen, [&](uint32_t p) { return !HasBit(kept, p); });
        ASSERT_EQ(seen, passed_over);
        if (done == end) break;
        came += tries;
        waited += passed_over.size();
        // Something changes where it was done and in some other places, which may be kept again.
        std::vector<uint32_t> again{done};
        for (size_t i = random() % 4; i > 0; --i)
          again.push_back(static_cast<uint32_t>(random() % nodes));
        for (const uint32_t p : again) {
          world.Change(p);
          SetBit(kept, p, true);
        }
        // Others are kept no longer.
        for (size_t i = random() % (nodes / 4 + 1); i > 0; --i) {
          const auto p = static_cast<uint32_t>(random() % nodes);
          if (std::find(again.begin(), again.end(), p) == again.end()) SetBit(kept, p, false);
        }
        in_turn.GoOn(again);
        std::vector<uint32_t> sorted = again;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
        std::erase_if(again, [&](uint32_t p) { return !world.MayCome(p) || !HasBit(kept, p); });
        in_turn.ComeAgain(again, [&](size_t block, uint64_t left) { return left & kept[block]; });
      }
    }
  }
  EXPECT_GT(came, 2'000U);
  EXPECT_GT(waited, 500U);
}

TEST(NodesInTurn, WithoutAFilterAllOthersMayCome) {
  const ScoreColumn scores = testing::ColumnOf({1, 3, 2});
  const std::vector<uint64_t> allowed{7};
  const std::vector<double> best{3};
  const NodeRanking ranking{
      .scores = &scores, .block_best = best, .region_best = best, .allowed = allowed};
  NodesInTurn in_turn;
  in_turn.among() = {7};
  in_turn.Start(ranking);
  EXPECT_EQ(in_turn.Next(), 1U);
  std::vector<uint32_t> again;
  in_turn.GoOn(again);
  EXPECT_TRUE(again.empty()) << "nothing has changed, nobody was tried in vain";
  in_turn.ComeAgain(again, nullptr);
  EXPECT_EQ(in_turn.Next(), 2U);
  EXPECT_EQ(in_turn.Next(), 0U);
  EXPECT_EQ(in_turn.Next(), NodesInTurn::kEnd);
}

}  // namespace
}  // namespace krafla
