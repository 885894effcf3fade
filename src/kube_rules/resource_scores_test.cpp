#include "kube_rules/resource_scores.h"

#include <gtest/gtest.h>

#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

TEST(ResourceScores, SharesAreCutOffToWholeNumbersAndAveraged) {
  // cpu 2/3 free, memory all free.
  EXPECT_EQ(LeastAllocatedScore(1, 3, 0, 5), (66 + 100) / 2);
  EXPECT_EQ(MostAllocatedScore(1, 3, 0, 5), 33 / 2);
  // More than there is: nothing free, all used.
  EXPECT_EQ(LeastAllocatedScore(4, 3, 5, 5), 0);
  EXPECT_EQ(MostAllocatedScore(4, 3, 5, 5), 100);
  // A resource the node does not have is left out.
  EXPECT_EQ(LeastAllocatedScore(1, 4, 7, 0), 75);
  EXPECT_EQ(LeastAllocatedScore(1, 0, 7, 0), 0);
}

TEST(ResourceScores, PodsThatAskForNothingCountWithDefaults) {
  KubeWorld world(
      Objects()
          .Node("n", "", "", R"("allocatable":{"cpu":"1","memory":"1000Mi","pods":"10"})")
          .Pod("there", "", "n")
          .Pod("new"));
  // 100m and 200 MiB each.
  EXPECT_EQ(world.Scores(ScorePart::kLeastAllocated, "new"), std::vector<int64_t>{(80 + 60) / 2});
  EXPECT_EQ(world.Scores(ScorePart::kMostAllocated, "new"), std::vector<int64_t>{(20 + 40) / 2});
  EXPECT_TRUE(world.Scores(ScorePart::kBalancedAllocation, "new").empty());
}

TEST(ResourceScores, BalanceRewardsEveningOut) {
  constexpr std::string_view kRoom = R"("allocatable":{"cpu":"4","memory":"4Gi","pods":"10"})";
  KubeWorld world(Objects()
                      .Node("cpu-heavy", "", "", kRoom)
                      .Node("empty", "", "", kRoom)
                      .Pod("old", "", "cpu-heavy", "", "cpu: 2")
                      .Pod("memory", "", "", "", "memory: 2Gi")
                      .Pod("even", "", "", "", "cpu: 1, memory: 1Gi"));
  // From a deviation of 1/4 to none, and from none to 1/4.
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "memory"),
            (std::vector<int64_t>{50 + (50 + 100 - 75) / 2, 50 + (50 + 75 - 100) / 2}));
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "even"), (std::vector<int64_t>{75, 75}));
}

TEST(ResourceScores, GpusCountOnlyForPodsThatAskForThem) {
  constexpr std::string_view kRoom =
      R"("allocatable":{"cpu":"4","memory":"4Gi","nvidia.com/gpu":"4","pods":"10"})";
  KubeWorld world(Objects()
                      .Node("n", "", "", kRoom)
                      .Pod("gpu", "", "", "", "cpu: 1, memory: 1Gi, nvidia.com/gpu: 4")
                      .Pod("plain", "", "", "", "cpu: 1, memory: 1Gi"));
  // Shares 1/4, 1/4, 1: deviation 0.3535…
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "gpu"),
            std::vector<int64_t>{50 + (50 + 64 - 100) / 2});
  EXPECT_EQ(world.Scores(ScorePart::kBalancedAllocation, "plain"), std::vector<int64_t>{75});
}

}  // namespace
}  // namespace krafla::testing
