#include "session/score_book.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace krafla {
namespace {

using DependsOn = std::function<void(ClassId, std::vector<uint64_t>&)>;

class Scorer final : public Plugin {
 public:
  explicit Scorer(DependsOn depends_on) : depends_on_(std::move(depends_on)) {}
  void Open(Session&, const PluginOption&, PluginHooks& hooks) override {
    hooks.score = ScoreHook{.node = [](ClassId, NodeId) { return 1.0; }, .depends_on = depends_on_};
  }

 private:
  DependsOn depends_on_;
};

// A session with some nodes, and scorers that say what they depend on.
struct World {
  explicit World(std::vector<DependsOn> scorers, size_t nodes = 3) {
    for (size_t i = 0; i < nodes; ++i) {
      Node node;
      node.name = cluster.strings.Intern("n" + std::to_string(i));
      cluster.nodes_by_name.push_back(cluster.nodes.Add(node));
      position_of.push_back(static_cast<uint32_t>(i));
    }
    for (auto* amounts : {&cluster.allocatable, &cluster.idle, &cluster.used, &cluster.releasing,
                          &cluster.pipelined})
      amounts->Reset(cluster.nodes.size());
    config.tiers.emplace_back();
    for (size_t i = 0; i < scorers.size(); ++i) {
      PluginOption option;
      option.name = std::to_string(i);
      config.tiers.back().plugins.push_back(option);
    }
    SessionOptions options;
    options.make_plugin = [&](std::string_view name) -> std::unique_ptr<Plugin> {
      return std::make_unique<Scorer>(scorers[static_cast<size_t>(std::stoi(std::string(name)))]);
    };
    log.CaptureTo(&muted);
    session = std::make_unique<Session>(cluster, config, options, log);
  }

  Cluster cluster;
  SchedulerConfig config;
  std::string muted;
  Log log;
  std::unique_ptr<Session> session;
  std::vector<uint32_t> position_of;  // by NodeId
};

constexpr ClassId kSmall(0);
constexpr ClassId kSmallToo(1);
constexpr ClassId kLarge(2);

// The first two classes are alike to it.
void BySize(ClassId cls, std::vector<uint64_t>& words) {
  words.push_back(cls == kLarge ? 2 : 1);
}

TEST(ScoreBook, ClassesThatNoScorerTellsApartShareTheirScores) {
  World world({BySize});
  ScoreBook book(*world.session);
  const auto small = book.Find(kSmall);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(book.Find(kSmallToo), small);
  EXPECT_EQ(book.Find(kSmall), small);
  EXPECT_NE(book.Find(kLarge), small);
}

TEST(ScoreBook, OneScorerThatTellsThemApartIsEnough) {
  World world(
      {BySize, [](ClassId cls, std::vector<uint64_t>& words) { words.push_back(cls.value); }});
  ScoreBook book(*world.session);
  EXPECT_NE(book.Find(kSmall), book.Find(kSmallToo));
}

TEST(ScoreBook, OneScorerThatDoesNotSayItEndsAllSharing) {
  World world({BySize, nullptr});
  ScoreBook book(*world.session);
  const auto small = book.Find(kSmall);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->scores().size(), 3U);
  EXPECT_NE(book.Find(kSmallToo), small);
  EXPECT_NE(book.Find(kSmall), small) << "whoever has some keeps them";
}

TEST(ScoreBook, WithoutScorersAllAreAlike) {
  World world({});
  ScoreBook book(*world.session);
  ASSERT_NE(book.Find(kSmall), nullptr);
  EXPECT_EQ(book.Find(kSmall), book.Find(kLarge));
}

// Two words of the first scorer and none of the second are not one word of each.
TEST(ScoreBook, WordsOfOneScorerAreNotTakenForThoseOfAnother) {
  World world({[](ClassId cls, std::vector<uint64_t>& words) {
                 words.push_back(7);
                 if (cls == kSmall) words.push_back(8);
               },
               [](ClassId cls, std::vector<uint64_t>& words) {
                 if (cls == kLarge) words.push_back(8);
               }});
  ScoreBook book(*world.session);
  EXPECT_NE(book.Find(kSmall), book.Find(kLarge));
}

TEST(ScoreBook, AScoreIsGoodUntilItsNodeChanges) {
  World world({BySize});
  ScoreBook book(*world.session);
  NodeChanges changes;
  changes.push_back(NodeId(1));  // before anybody asked
  book.Follow(changes, world.position_of);
  const auto scores = book.Find(kSmall);
  book.CatchUp(*scores);
  for (uint32_t p = 0; p < 3; ++p) {
    EXPECT_FALSE(scores->Knows(p)) << p;
    scores->Set(p, 10.0 + p);
  }
  for (const uint32_t node : {2U, 0U, 2U}) changes.push_back(NodeId(node));
  book.Follow(changes, world.position_of);
  book.CatchUp(*scores);
  EXPECT_FALSE(scores->Knows(0));
  EXPECT_TRUE(scores->Knows(1));
  EXPECT_EQ(scores->At(1), 11.0);
  EXPECT_FALSE(scores->Knows(2));
  scores->Set(2, 5);
  // Nothing new: nothing is asked again.
  book.Follow(changes, world.position_of);
  book.CatchUp(*scores);
  EXPECT_TRUE(scores->Knows(2));
  EXPECT_EQ(scores->At(2), 5.0);
}

TEST(ScoreBook, PositionsAreThoseOfTheSortedList) {
  World world({BySize});
  world.position_of = {2, 0, 1};
  ScoreBook book(*world.session);
  NodeChanges changes;
  book.Follow(changes, world.position_of);
  const auto scores = book.Find(kSmall);
  for (uint32_t p = 0; p < 3; ++p) scores->Set(p, p);
  changes.push_back(NodeId(0));
  book.Follow(changes, world.position_of);
  book.CatchUp(*scores);
  EXPECT_TRUE(scores->Knows(0));
  EXPECT_TRUE(scores->Knows(1));
  EXPECT_FALSE(scores->Knows(2));
}

// What changes over and over is listed once for all who have not read of it, and again for those
// who have.
TEST(ScoreBook, ListsAChangeOnceUntilSomebodyHasReadIt) {
  World world({BySize});
  ScoreBook book(*world.session);
  NodeChanges changes;
  book.Follow(changes, world.position_of);
  const auto small = book.Find(kSmall);
  const auto large = book.Find(kLarge);
  for (const auto& scores : {small, large})
    for (uint32_t p = 0; p < 3; ++p) scores->Set(p, p);
  for (const uint32_t node : {1U, 2U, 1U, 2U}) changes.push_back(NodeId(node));
  book.Follow(changes, world.position_of);
  changes.push_back(NodeId(1));
  book.Follow(changes, world.position_of);
  EXPECT_EQ(book.changes(), 2U);
  book.CatchUp(*small);
  EXPECT_FALSE(small->Knows(1));
  small->Set(1, 7);
  changes.push_back(NodeId(1));
  book.Follow(changes, world.position_of);
  EXPECT_EQ(book.changes(), 3U);
  book.CatchUp(*small);
  EXPECT_FALSE(small->Knows(1)) << "it has changed once more";
  EXPECT_TRUE(small->Knows(0));
  book.CatchUp(*large);
  EXPECT_TRUE(large->Knows(0));
  EXPECT_FALSE(large->Knows(1));
  EXPECT_FALSE(large->Knows(2));
}

TEST(ScoreBook, WhatIsForgottenIsAskedAgain) {
  World world({BySize});
  ScoreBook book(*world.session);
  NodeChanges changes;
  for (int i = 0; i < 2; ++i) changes.push_back(NodeId(1));
  book.Follow(changes, world.position_of);
  const auto before = book.Find(kSmall);
  book.CatchUp(*before);
  before->Set(0, 3);
  book.Forget();
  changes.clear();  // another list
  changes.push_back(NodeId(0));
  book.Follow(changes, world.position_of);
  const auto after = book.Find(kSmall);
  EXPECT_NE(after, before);
  book.CatchUp(*after);
  for (uint32_t p = 0; p < 3; ++p) EXPECT_FALSE(after->Knows(p)) << p;
  after->Set(0, 3);
  changes.push_back(NodeId(0));
  book.Follow(changes, world.position_of);
  book.CatchUp(*after);
  EXPECT_FALSE(after->Knows(0));
}

// Of many kinds of classes those go first that nobody holds; whoever holds some goes on with them.
TEST(ScoreBook, KeepsNoMoreThanFits) {
  constexpr size_t kNodes = 20'000;  // so that some hundreds fit
  World world({[](ClassId cls, std::vector<uint64_t>& words) { words.push_back(cls.value); }},
              kNodes);
  ScoreBook book(*world.session);
  const auto held = book.Find(ClassId(0));
  std::weak_ptr<SharedScores> let_go = book.Find(ClassId(1));
  EXPECT_FALSE(let_go.expired());
  for (uint32_t cls = 2; cls < 1000 && !let_go.expired(); ++cls) (void)book.Find(ClassId(cls));
  EXPECT_TRUE(let_go.expired()) << "nothing is ever given up";
  EXPECT_EQ(book.Find(ClassId(0)), held) << "what is in use stays";
}

}  // namespace
}  // namespace krafla
