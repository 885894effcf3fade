#include "kube_rules/preference_scores.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

constexpr int64_t kMiB = 1024 * 1024;

TEST(PreferenceScores, ImagesCountBySizeAndByHowManyNodesHaveThem) {
  const StrId image(7);
  Node node;
  PodSpec spec;
  spec.images = {image};
  spec.container_count = 1;
  EXPECT_EQ(ImageLocality(spec, node, 2), 0);
  node.images = {{image, 2000 * kMiB, 1}};
  EXPECT_EQ(ImageLocality(spec, node, 2), 100);  // 1000 MiB: all there is to win
  EXPECT_EQ(ImageLocality(spec, node, 4), 100 * (500 - 23) / (1000 - 23));
  node.images = {{image, 23 * kMiB, 2}};
  EXPECT_EQ(ImageLocality(spec, node, 2), 0);  // too small to matter
  spec.images = {image, image};
  spec.container_count = 2;
  node.images = {{image, 600 * kMiB, 2}};
  EXPECT_EQ(ImageLocality(spec, node, 2), 100 * (1200 - 23) / (2000 - 23));  // each use counts
}

TEST(PreferenceScores, TheNodeWithTheMostWeightGetsAHundred) {
  constexpr std::string_view kPrefers =
      R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"weight":10,"preference":{"matchExpressions":[)"
      R"({"key":"disk","operator":"In","values":["ssd"]}]}},)"
      R"({"weight":30,"preference":{"matchExpressions":[)"
      R"({"key":"zone","operator":"In","values":["a"]}]}},)"
      R"({"weight":99,"preference":{}}]}})";
  KubeWorld world(Objects()
                      .Node("n1", "disk: ssd, zone: a")
                      .Node("n2", "disk: ssd")
                      .Node("n3")
                      .Pod("p", "", "", kPrefers)
                      .Pod("plain"));
  EXPECT_EQ(world.Scores(ScorePart::kNodeAffinity, "p"), (std::vector<int64_t>{100, 25, 0}));
  EXPECT_TRUE(world.Scores(ScorePart::kNodeAffinity, "plain").empty());
  EXPECT_FALSE(world.scores.BatchIsNodeLocal(world.cluster.tasks[world.Task("p")].cls));
  EXPECT_TRUE(world.scores.BatchIsNodeLocal(world.cluster.tasks[world.Task("plain")].cls));
}

TEST(PreferenceScores, TaintsToAvoidAreCountedAndTheLeastTaintedNodeIsBest) {
  constexpr std::string_view kOne = R"({"key":"a","effect":"PreferNoSchedule"})";
  constexpr std::string_view kTwo = R"({"key":"b","effect":"PreferNoSchedule"})";
  KubeWorld world(
      Objects()
          .Node("n1", "", "\"taints\":[" + std::string(kOne) + "," + std::string(kTwo) + "]")
          .Node("n2", "", "\"taints\":[" + std::string(kOne) + "]")
          .Node("n3")
          .Pod("p")
          .Pod("easy", "", "",
               R"("tolerations":[{"operator":"Exists","effect":"PreferNoSchedule"}])"));
  EXPECT_EQ(world.Scores(ScorePart::kTaintToleration, "p"), (std::vector<int64_t>{0, 50, 100}));
  EXPECT_EQ(world.Scores(ScorePart::kTaintToleration, "easy"),
            (std::vector<int64_t>{100, 100, 100}));
  EXPECT_FALSE(world.scores.BatchIsNodeLocal(world.cluster.tasks[world.Task("p")].cls));
  EXPECT_TRUE(world.scores.BatchIsNodeLocal(world.cluster.tasks[world.Task("easy")].cls));
}

}  // namespace
}  // namespace krafla::testing
