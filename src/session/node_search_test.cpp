// What NodeSearch keeps from question to question gives the answers a new one would give, whatever
// happens to nodes in between: few changes or many, classes that share scores or not, and more
// classes than it may keep.
#include "session/node_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

using testing::ConfigYaml;
using testing::Cycle;
using testing::NodeYaml;
using testing::PodGroupYaml;
using testing::PodYaml;
using testing::QueueYaml;

constexpr int kNodes = 150;  // some blocks of nodes, the last of them not full
constexpr int kMovers = 120;
constexpr int kAskers = 80;  // each of a class of its own

// Every other pod wants a port, so that nodes with room may refuse.
std::string Container(int pod) {
  return pod % 2 == 0 ? "ports: [{containerPort: 80, hostPort: 8080}]" : "";
}

std::string ClusterYaml() {
  std::string text = QueueYaml() + PodGroupYaml();
  for (int i = 0; i < kNodes; ++i)
    text += NodeYaml({.name = "n" + std::to_string(1000 + i),
                      .has = "cpu " + std::to_string(1 + i % 5) + ", memory 64Gi, pods 3",
                      .labels = {{"kind", i % 7 == 0 ? "rare" : "common"}}});
  for (int i = 0; i < kMovers; ++i)
    text += PodYaml({.name = "mover-" + std::to_string(i),
                     .asks = "cpu " + std::to_string(1 + i % 3) + ", memory 1Gi",
                     .container = Container(i)});
  for (int i = 0; i < kAskers; ++i)
    text += PodYaml({.name = "asker-" + std::to_string(i),
                     .asks = "cpu " + std::to_string(1 + i / 2 % 4) + ", memory 1Gi",
                     .spec = "tolerations: [{key: t" + std::to_string(i) + ", operator: Exists}]" +
                             (i % 5 == 0 ? "\nnodeSelector: {kind: common}" : ""),
                     .container = Container(i)});
  return text;
}

class Play {
 public:
  // The scorer is a plugin that prefers empty nodes, or one that prefers full ones.
  Play(uint32_t seed, const std::string& scorer) : random_(seed) {
    cycle_ = std::make_unique<Cycle>(testing::CycleInput{
        .cluster = ClusterYaml(), .config = ConfigYaml({.tiers = {"gang predicates " + scorer}})});
    for (int i = 0; i < kMovers; ++i)
      movers_.push_back(cycle_->Find("default/mover-" + std::to_string(i)));
    for (int i = 0; i < kAskers; ++i)
      askers_.push_back(cycle_->Find("default/asker-" + std::to_string(i)));
    std::set<ClassId> classes;
    for (const TaskId task : askers_) classes.insert(session().cluster.tasks[task].cls);
    EXPECT_EQ(classes.size(), askers_.size());
    tight_ = std::make_unique<NodeSearch>(session(), NodeSearchLimits{1, 1});
  }

  Session& session() { return *cycle_->session; }
  uint32_t Below(size_t end) { return static_cast<uint32_t>(random_() % end); }

  // A pod goes where there is room, often where somebody would have gone, or leaves.
  void Move() {
    Cluster& cluster = session().cluster;
    const TaskId task = movers_[Below(movers_.size())];
    if (cluster.tasks[task].status != TaskStatus::kPending) return session().Unplace(task);
    const NodeId node =
        chosen_.valid() && Below(2) == 0 ? chosen_ : cluster.nodes_by_name[Below(kNodes)];
    if (cluster.Request(task).LessEqual(cluster.idle[node], Missing::kZero))
      session().Place(task, node, Below(4) == 0 ? TaskStatus::kPipelined : TaskStatus::kAllocated);
  }

  // Some ask again and again, so that little has changed since they did; others seldom.
  void AskAny(bool choices, bool rankings) {
    Ask(Below(Below(4) != 0 ? 3 : askers_.size()), choices, rankings);
  }

  void Ask(size_t asker, bool choices, bool rankings) {
    const TaskId task = askers_[asker];
    NodeSearch fresh(session());
    ASSERT_FALSE(fresh.Prepare(task).refused());
    ASSERT_TRUE(fresh.CanRank(task, nullptr));
    for (NodeSearch* kept : {&session().node_search(), tight_.get()}) {
      if (choices) CompareChoices(*kept, fresh, task);
      if (rankings) CompareRankings(*kept, fresh, task);
    }
  }

 private:
  void CompareChoices(NodeSearch& kept, NodeSearch& fresh, TaskId task) {
    FitError kept_error;
    FitError fresh_error;
    const NodeSearch::Choice a = kept.FindForAllocate(task, NodeId{}, nullptr, kept_error);
    const NodeSearch::Choice b = fresh.FindForAllocate(task, NodeId{}, nullptr, fresh_error);
    ASSERT_EQ(a.node, b.node);
    ASSERT_EQ(a.idle, b.idle);
    ASSERT_EQ(kept_error.reasons, fresh_error.reasons);
    ASSERT_EQ(kept_error.nodes, fresh_error.nodes);
    chosen_ = a.node;
  }

  // Some of the nodes, best first.
  void CompareRankings(NodeSearch& kept, NodeSearch& fresh, TaskId task) {
    std::vector<uint64_t> among((kNodes + 63) / 64, 0);
    ASSERT_TRUE(kept.CanRank(task, nullptr));
    const NodeRanking ranking = kept.RankForPreemption(task);
    std::vector<uint32_t> expected;
    for (uint32_t p = 0; p < kNodes; ++p) {
      if (Below(3) == 0) continue;
      among[p / 64] |= uint64_t{1} << p % 64;
      const NodeId node = session().cluster.nodes_by_name[p];
      if (!fresh.Check(task, node).refused_for_preemption()) expected.push_back(p);
    }
    std::vector<double> scores;
    fresh.Score(task, expected, scores);
    std::vector<double> by_position(kNodes, 0);
    for (size_t i = 0; i < expected.size(); ++i) by_position[expected[i]] = scores[i];
    std::stable_sort(expected.begin(), expected.end(),
                     [&](uint32_t a, uint32_t b) { return by_position[a] > by_position[b]; });
    kept.ScoreAllowed(task, among);
    BestFirst best_first;
    best_first.Start(ranking, among);
    std::vector<uint32_t> seen;
    for (uint32_t p = best_first.Next(); p != BestFirst::kEnd; p = best_first.Next())
      seen.push_back(p);
    ASSERT_EQ(seen, expected);
    const std::vector<uint32_t> some = {Below(kNodes), Below(kNodes)};
    fresh.Score(task, some, scores);
    kept.ScoreAt(task, some);
    for (size_t i = 0; i < some.size(); ++i) ASSERT_EQ((*ranking.scores)[some[i]], scores[i]);
  }

  std::mt19937 random_;
  std::unique_ptr<Cycle> cycle_;
  std::vector<TaskId> movers_;
  std::vector<TaskId> askers_;
  NodeId chosen_;                      // where the last one would have gone
  std::unique_ptr<NodeSearch> tight_;  // may keep next to nothing
};

TEST(NodeSearch, WhatIsKeptGivesTheAnswersOfANewOne) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Play play(seed, seed % 2 == 0 ? "binpack" : "nodeorder");
    for (int step = 0; step < 1200 && !::testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE(std::to_string(seed) + ", step " + std::to_string(step));
      const Session::Mark mark = play.session().MarkNow();
      // Mostly few changes, now and then many, or more than there are nodes.
      const uint32_t moves = play.Below(40) == 0 ? 400 : play.Below(play.Below(6) == 0 ? 60 : 4);
      for (uint32_t i = 0; i < moves; ++i) play.Move();
      const int phase = step / 100 % 3;
      for (uint32_t asks = play.Below(6); asks > 0; --asks) play.AskAny(phase != 0, phase != 1);
      if (play.Below(3) == 0) play.session().Rollback(mark);
      if (step % 16 == 0) play.session().node_search().Verify();
    }
  }
}

// Classes that are given up take along which nodes they fit: nobody is handed those later.
TEST(NodeSearch, GivesUpWhatHasNotBeenUsedLongest) {
  Play play(5, "nodeorder");
  for (size_t asker = 0; asker < 6; ++asker) play.Ask(asker, true, false);
  for (size_t asker = 6; asker < kAskers; ++asker) play.Ask(asker, false, true);
  for (size_t asker = 20; asker < 40; ++asker) {
    play.Move();
    play.Ask(asker, true, true);
  }
}

}  // namespace
}  // namespace krafla
