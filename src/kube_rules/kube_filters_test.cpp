#include "kube_rules/kube_filters.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace krafla::testing
