#include "kube_rules/kube_filters.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kRoomForOne = R"("allocatable":{"cpu":"8","memory":"16Gi","pods":"1"})";

TEST(KubeFilters, APipelinedPodTakesAPlaceAndAnEvictedOneGivesItBack) {
  KubeWorld world(Objects().Node("n", "", "", kRoomForOne).Pod("old", "", "n").Pod("a").Pod("b"));
  const NodeId node = world.Node("n");
  const auto full = [&] { return world.filters.Current(world.Task("b"), node); };
  EXPECT_EQ(world.Words(full()), "node(s) pod number exceeded");
  EXPECT_FALSE(full().unresolvable());
  world.session.MarkReleasing(world.Task("old"));
  EXPECT_FALSE(full().refused());
  world.session.Place(world.Task("a"), node, TaskStatus::kPipelined);
  EXPECT_TRUE(full().refused());
}

TEST(KubeFilters, KindsOfNoAreJoinedAndTheFirstReasonIsNamed) {
  constexpr std::string_view kPort =
      R"("containers":[{"name":"c","ports":[{"containerPort":1,"hostPort":80}]}],)"
      R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
      R"("whenUnsatisfiable":"DoNotSchedule"}])";
  KubeWorld world(Objects()
                      .Node("n", "", "", kRoomForOne)
                      .Pod("old", "", "n", kPort)
                      .Pod("new", "", "", kPort));
  world.filters.Prepare(world.Task("new"));
  const Refusal refusal = world.filters.Current(world.Task("new"), world.Node("n"));
  EXPECT_EQ(refusal.codes, Refusal::kUnschedulable | Refusal::kUnschedulableAndUnresolvable);
  EXPECT_EQ(world.Words(refusal), "node(s) pod number exceeded");
}

TEST(KubeFilters, AFilterThatIsOffSaysNothing) {
  KubeWorld world(Objects()
                      .Node("n", "", R"("taints":[{"key":"a","effect":"NoSchedule"}])")
                      .Pod("p", "", "", R"("nodeSelector":{"disk":"ssd"})"));
  std::vector<Refusal> by_node(1);
  KubeFilters off(world.cluster, world.session.kube, world.session.reasons,
                  {.node_affinity = false, .taint_toleration = false});
  off.Fixed(world.cluster.tasks[world.Task("p")].cls, by_node);
  EXPECT_FALSE(by_node[0].refused());
  world.filters.Fixed(world.cluster.tasks[world.Task("p")].cls, by_node);
  EXPECT_TRUE(by_node[0].refused());
}

// Counts of so many tasks are kept. Those of one that came before them are made anew when it is
// asked about, and may say nothing by then.
TEST(KubeFilters, CountsThatWereDroppedAndSayNothingByNowAreNotThoseOfAnother) {
  constexpr std::string_view kMindsWeb =
      R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}}]}})";
  constexpr int kTasks = 600;
  const auto name = [](int i) { return "web-" + std::to_string(i); };
  Objects objects;
  objects.Node("n", "zone: a").Pod("loner", "app: db", "n", kMindsWeb);
  for (int i = 0; i < kTasks; ++i) objects.Pod(name(i), "app: web");
  KubeWorld world(objects);
  const NodeId node = world.Node("n");
  for (int i = 0; i < kTasks; ++i) {
    world.filters.Prepare(world.Task(name(i)));
    EXPECT_TRUE(world.filters.Current(world.Task(name(i)), node).refused());
  }
  world.session.MarkReleasing(world.Task("loner"));
  EXPECT_FALSE(world.filters.Current(world.Task(name(0)), node).refused());
  // What was counted before is good until the next Prepare.
  EXPECT_TRUE(world.filters.Current(world.Task(name(kTasks - 1)), node).refused());
}

}  // namespace
}  // namespace krafla::testing
