#include "kube_rules/affinity_scores.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

std::string Preferred(std::string_view kind, std::string_view app, int weight) {
  return "\"affinity\":{\"" + std::string(kind) +
         R"(":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":)" +
         std::to_string(weight) +
         R"(,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":")" +
         std::string(app) + "\"}}}}]}}";
}

Objects ThreeZones() {
  return Objects().Node("a", "zone: a").Node("b", "zone: b").Node("c", "zone: c");
}

TEST(AffinityScores, WishesOfBothSidesAddUpAndAreStretchedOverTheRange) {
  KubeWorld world(ThreeZones()
                      .Pod("web", "app: web", "a")
                      .Pod("fan", "app: x", "b", Preferred("podAffinity", "db", 5))
                      .Pod("foe", "app: y", "c", Preferred("podAntiAffinity", "db", 10))
                      .Pod("new", "app: db", "", Preferred("podAffinity", "web", 20)));
  // 20, 5 and -10.
  EXPECT_EQ(world.Scores(ScorePart::kInterPodAffinity, "new"), (std::vector<int64_t>{100, 50, 0}));
}

TEST(AffinityScores, WithoutAnyWishInReachThereIsNoScore) {
  KubeWorld world(ThreeZones()
                      .Pod("fan", "app: x", "b", Preferred("podAffinity", "db", 5))
                      .Pod("db", "app: db")
                      .Pod("web", "app: web")
                      .Pod("lonely", "app: z", "", Preferred("podAffinity", "nobody", 20)));
  const auto local = [&](std::string_view pod) {
    return world.scores.BatchIsNodeLocal(world.cluster.tasks[world.Task(pod)].cls);
  };
  EXPECT_EQ(world.Scores(ScorePart::kInterPodAffinity, "db"), (std::vector<int64_t>{0, 100, 0}));
  EXPECT_FALSE(local("db"));
  EXPECT_TRUE(world.Scores(ScorePart::kInterPodAffinity, "web").empty());
  EXPECT_TRUE(local("web"));
  EXPECT_TRUE(world.Scores(ScorePart::kInterPodAffinity, "lonely").empty());
  EXPECT_FALSE(local("lonely"));
}

TEST(AffinityScores, WishesOfPodsPlacedNowAreHeardOnlyOnNodesThatHadSomeBefore) {
  Objects objects = ThreeZones();
  objects.Pod("fan", "app: x", "", Preferred("podAffinity", "db", 5)).Pod("db", "app: db");
  objects.Pod("wisher", "app: db", "", Preferred("podAffinity", "nobody", 20));
  KubeWorld world(objects);
  world.session.Place(world.Task("fan"), world.Node("b"), TaskStatus::kAllocated);
  EXPECT_TRUE(world.Scores(ScorePart::kInterPodAffinity, "db").empty());
  // Who has wishes of its own hears everybody.
  EXPECT_EQ(world.Scores(ScorePart::kInterPodAffinity, "wisher"),
            (std::vector<int64_t>{0, 100, 0}));
}

}  // namespace
}  // namespace krafla::testing
