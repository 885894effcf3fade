#include "kube_rules/spread_scores.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

std::string Wish(std::string_view key) {
  return R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":")" + std::string(key) +
         R"(","whenUnsatisfiable":"ScheduleAnyway",)"
         R"("labelSelector":{"matchLabels":{"app":"web"}}}])";
}

TEST(SpreadScores, EmptierDomainsScoreHigherAndNodesWithoutTheKeyNothing) {
  KubeWorld world(Objects()
                      .Node("a1", "zone: a")
                      .Node("a2", "zone: a")
                      .Node("b1", "zone: b")
                      .Node("bare")
                      .Pod("one", "app: web", "a1")
                      .Pod("two", "app: web", "a1")
                      .Pod("three", "app: web", "b1")
                      .Pod("new", "app: web", "", Wish("zone"))
                      .Pod("plain", "app: web"));
  // Two domains: ln 4 each, 2.77 and 1.39 rounded.
  EXPECT_EQ(world.Scores(ScorePart::kPodTopologySpread, "new"),
            (std::vector<int64_t>{100 * 1 / 3, 100 * 1 / 3, 100, 0}));
  EXPECT_TRUE(world.Scores(ScorePart::kPodTopologySpread, "plain").empty());
  EXPECT_FALSE(world.scores.BatchIsNodeLocal(world.cluster.tasks[world.Task("new")].cls));
}

TEST(SpreadScores, HostsAreCountedOneByOne) {
  KubeWorld world(Objects()
                      .Node("n1", "kubernetes.io/hostname: n1")
                      .Node("n2", "kubernetes.io/hostname: n2")
                      .Pod("one", "app: web", "n1")
                      .Pod("new", "app: web", "", Wish("kubernetes.io/hostname")));
  EXPECT_EQ(world.Scores(ScorePart::kPodTopologySpread, "new"), (std::vector<int64_t>{0, 100}));
}

TEST(SpreadScores, NothingToSpreadYetMakesAllEqual) {
  KubeWorld world(Objects()
                      .Node("n1", "zone: a")
                      .Node("n2", "zone: b")
                      .Pod("new", "app: web", "", Wish("zone")));
  EXPECT_EQ(world.Scores(ScorePart::kPodTopologySpread, "new"), (std::vector<int64_t>{100, 100}));
}

}  // namespace
}  // namespace krafla::testing
