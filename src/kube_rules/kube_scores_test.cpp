#include "kube_rules/kube_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

// Pods of several shapes are placed one after the other; at each step both ways of scoring are held
// together.
TEST(KubeScores, NodeByNodeAndAllAtOnceGiveTheSame) {
  constexpr std::string_view kShapes[] = {"", "cpu: 250m", "cpu: 1, memory: 1Gi",
                                          "memory: 3Gi, nvidia.com/gpu: 1"};
  Objects objects;
  for (int n = 0; n < 7; ++n)
    objects.Node("n" + std::to_string(n), "", "",
                 R"("allocatable":{"cpu":")" + std::to_string(4 + n) +
                     R"(","memory":"16Gi","nvidia.com/gpu":"2","pods":"50"})");
  for (int p = 0; p < 60; ++p) objects.Pod("p" + std::to_string(p), "", "", "", kShapes[p % 4]);
  KubeWorld world(objects);
  KubeScores scores(world.cluster, world.session.kube, {.most_allocated = 5});
  std::mt19937 random(1);
  for (int p = 0; p < 60; ++p) {
    const TaskId task = world.Task("p" + std::to_string(p));
    const ClassId cls = world.cluster.tasks[task].cls;
    ASSERT_TRUE(scores.BatchIsNodeLocal(cls));
    std::vector<NodeId> some = world.Nodes();
    std::shuffle(some.begin(), some.end(), random);
    some.resize(1 + random() % some.size());
    std::vector<double> batch(some.size(), 0);
    scores.Batch(task, some, batch);
    std::vector<double> each(some.size(), 0);
    scores.BatchEach(cls, some, each);
    EXPECT_EQ(batch, each) << p;
    world.session.Place(task, some[0], TaskStatus::kAllocated);
  }
}

TEST(KubeScores, WeightsMultiplyAndZeroSwitchesOff) {
  KubeWorld world(Objects().Node("n").Pod("p", "", "", "", "cpu: 4, memory: 8Gi"));
  const TaskId task = world.Task("p");
  const std::vector<NodeId> nodes = world.Nodes();
  const auto sum = [&](const ScoreWeights& weights) {
    std::vector<double> batch(1, 0);
    KubeScores(world.cluster, world.session.kube, weights).Batch(task, nodes, batch);
    return batch[0];
  };
  EXPECT_EQ(sum({}), 50 + 75 + 3 * 100);
  EXPECT_EQ(sum({.least_allocated = 10, .balanced_allocation = 0, .taint_toleration = 0}), 500);
  EXPECT_EQ(sum({.least_allocated = 0, .most_allocated = 2, .taint_toleration = 0}), 2 * 50 + 75);
}

TEST(KubeScores, APreferenceThatCannotBeReadLeavesNoScoreAtAll) {
  constexpr std::string_view kWord =
      R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"weight":1,"preference":{"matchExpressions":[)"
      R"({"key":"gen","operator":"Gt","values":["new"]}]}}]}})";
  KubeWorld world(Objects().Node("n").Pod("p", "", "", kWord));
  const TaskId task = world.Task("p");
  std::vector<double> batch(1, 0);
  world.scores.Batch(task, world.Nodes(), batch);
  EXPECT_TRUE(std::isnan(batch[0]));
  EXPECT_FALSE(world.scores.BatchIsNodeLocal(world.cluster.tasks[task].cls));
  KubeScores unweighted(world.cluster, world.session.kube, {.node_affinity = 0});
  batch[0] = 0;
  unweighted.Batch(task, world.Nodes(), batch);
  EXPECT_GT(batch[0], 0);
}

}  // namespace
}  // namespace krafla::testing
