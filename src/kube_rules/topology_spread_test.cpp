#include "kube_rules/topology_spread.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

constexpr const char* kSkewed = "node(s) didn't match pod topology spread constraints";
constexpr const char* kNoLabel =
    "node(s) didn't match pod topology spread constraints (missing required label)";

std::string Spread(std::string_view more,
                   std::string_view selector = R"({"matchLabels":{"app":"web"}})") {
  return R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
         R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":)" +
         std::string(selector) + std::string(more) + "}]";
}

Objects ThreeNodes() {
  return Objects().Node("a", "zone: a").Node("b", "zone: b").Node("bare");
}

TEST(TopologySpread, SkewIsMeasuredAgainstTheEmptiestDomain) {
  KubeWorld world(ThreeNodes().Pod("one", "app: web", "a").Pod("new", "app: web", "", Spread("")));
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), kSkewed);
  EXPECT_EQ(world.Says(Filter::kPodTopologySpread, "new", "b"), "");
  EXPECT_EQ(world.Says(Filter::kPodTopologySpread, "new", "bare"), kNoLabel);
}

TEST(TopologySpread, APodTheSelectorDoesNotTakeDoesNotAddToTheSkew) {
  KubeWorld world(ThreeNodes().Pod("one", "app: web", "a").Pod("new", "app: db", "", Spread("")));
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), "");
}

TEST(TopologySpread, MissingDomainsCountAsEmpty) {
  Objects objects = ThreeNodes();
  objects.Pod("one", "app: web", "a").Pod("two", "app: web", "b");
  objects.Pod("new", "app: web", "", Spread(R"(,"minDomains":2)"));
  objects.Pod("wide", "app: web", "", Spread(R"(,"minDomains":3)"));
  KubeWorld world(objects);
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), "");
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "wide", "a"), kSkewed);
}

TEST(TopologySpread, OnlyLivingPodsOfTheNamespaceCount) {
  KubeWorld world(ThreeNodes()
                      .PodIn("default", "dying", "app: web", "a", "", "",
                             R"(,"deletionTimestamp":"2026-03-10T11:59:00Z")")
                      .PodIn("other", "far", "app: web", "a", "")
                      .Pod("new", "app: web", "", Spread("")));
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), "");
}

TEST(TopologySpread, ASelectorForEverythingCountsNothing) {
  KubeWorld world(ThreeNodes()
                      .Pod("one", "app: web", "a")
                      .Pod("two", "app: web", "a")
                      .Pod("new", "app: web", "", Spread("", "{}")));
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), "");
}

TEST(TopologySpread, NodesThePodCannotUseCountOnlyWhenThePolicySaysSo) {
  Objects objects = ThreeNodes();
  objects.Node("c", "zone: c", R"("taints":[{"key":"x","effect":"NoSchedule"}])");
  objects.Pod("one", "app: web", "a").Pod("two", "app: web", "b");
  objects.Pod("new", "app: web", "", Spread(""));
  objects.Pod("picky", "app: web", "", Spread(R"(,"nodeTaintsPolicy":"Honor")"));
  KubeWorld world(objects);
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), kSkewed);  // zone c is empty
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "picky", "a"), "");
}

TEST(TopologySpread, CountsStayAsPreparedUntilPreparedAgain) {
  KubeWorld world(ThreeNodes().Pod("one", "app: web", "a").Pod("new", "app: web", "", Spread("")));
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), kSkewed);
  world.session.MarkReleasing(world.Task("one"));
  EXPECT_EQ(world.Says(Filter::kPodTopologySpread, "new", "a"), kSkewed);
  EXPECT_EQ(world.Asks(Filter::kPodTopologySpread, "new", "a"), "");
  EXPECT_FALSE(world.filters.CurrentIsNodeLocal(world.cluster.tasks[world.Task("new")].cls));
}

}  // namespace
}  // namespace krafla::testing
