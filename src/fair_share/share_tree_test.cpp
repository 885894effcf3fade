#include "fair_share/share_tree.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/amounts.h"

namespace krafla {
namespace {

// A cluster of 10 cores and 10 bytes: shares are easy to read.
class ShareTreeTest : public testing::Test {
 protected:
  ShareTreeTest() : tree_(amounts_("cpu 10000, memory 10")) {}

  ShareTree::NodeIndex AddJob(std::string_view hierarchy, std::string_view weights, std::string key,
                              std::string_view allocated,
                              std::string_view request = "cpu 1e9, memory 1e9") {
    const ShareTree::NodeIndex leaf =
        tree_.AddLeaf(hierarchy, weights, std::move(key), amounts_(request));
    tree_.SetAllocated(leaf, amounts_(allocated));
    return leaf;
  }

  double Compare(std::string_view left, std::string_view right) {
    return tree_.Compare(tree_.Find(left), tree_.Find(right));
  }

  double ShareOf(std::string_view hierarchy) {
    return tree_.Share(tree_.Find(hierarchy).nodes.back());
  }

  Amounts amounts_;
  ShareTree tree_;
};

TEST_F(ShareTreeTest, TheSmallerSharePerWeightGoesFirst) {
  AddJob("root/a", "1/1", "ns/a", "cpu 3000");
  AddJob("root/b", "1/2", "ns/b", "cpu 4000");
  EXPECT_LT(Compare("root/b", "root/a"), 0);
  EXPECT_GT(Compare("root/a", "root/b"), 0);
  EXPECT_EQ(Compare("root/a", "root/a"), 0);
}

TEST_F(ShareTreeTest, EqualGroupsAreDecidedBelow) {
  AddJob("root/a/x", "1/1/1", "ns/ax", "cpu 2000");
  AddJob("root/b/x", "1/1/4", "ns/bx", "cpu 2000");
  EXPECT_GT(Compare("root/a/x", "root/b/x"), 0);
  EXPECT_EQ(Compare("root/a", "root/b/x"), 0) << "only as far as both go";
}

TEST_F(ShareTreeTest, ChildrenAreScaledToTheSmallestShare) {
  AddJob("root/eng/dev", "1/1/1", "ns/dev", "cpu 5000");
  AddJob("root/eng/prod", "1/1/1", "ns/prod", "memory 2");
  AddJob("root/sci", "1/1", "ns/sci", "cpu 3000");
  EXPECT_EQ(ShareOf("root/eng/dev"), 0.5);
  EXPECT_EQ(ShareOf("root/eng/prod"), 0.2);
  EXPECT_EQ(ShareOf("root/eng"), 0.2);
  EXPECT_LT(Compare("root/eng/dev", "root/sci"), 0);
}

TEST_F(ShareTreeTest, AChildThatHoldsNothingScalesNobody) {
  AddJob("root/eng", "1/1", "ns/dev", "cpu 5000");
  AddJob("root/eng", "1/1", "ns/idle", "");
  EXPECT_EQ(ShareOf("root/eng"), 0.5);
}

TEST_F(ShareTreeTest, ASaturatedChildIsNotScaled) {
  // dev has all the cpu it asked for.
  const auto dev = AddJob("root/eng", "1/1", "ns/dev", "cpu 5000", "cpu 5000, memory 4");
  AddJob("root/eng", "1/1", "ns/prod", "memory 2");
  EXPECT_TRUE(tree_.Saturated(dev));
  EXPECT_EQ(ShareOf("root/eng"), 0.5);
}

TEST_F(ShareTreeTest, SaturatedGroupsGoLast) {
  AddJob("root/full", "1/1", "ns/full", "cpu 1000", "cpu 1000");
  AddJob("root/hungry", "1/1", "ns/hungry", "cpu 9000");
  EXPECT_EQ(Compare("root/hungry", "root/full"), -1);
  EXPECT_EQ(Compare("root/full", "root/hungry"), 1);
}

TEST_F(ShareTreeTest, AKindThatIsUsedUpSaturatesThoseWhoHoldIt) {
  const auto on_cpu = AddJob("root/a", "1/1", "ns/cpu", "cpu 1000");
  const auto on_memory = AddJob("root/b", "1/1", "ns/memory", "memory 1");
  const auto idle = AddJob("root/c", "1/1", "ns/idle", "");
  tree_.SetTotalAllocated(amounts_("cpu 10000, memory 1"));
  EXPECT_TRUE(tree_.Saturated(on_cpu));
  EXPECT_FALSE(tree_.Saturated(on_memory));
  EXPECT_FALSE(tree_.Saturated(idle));
  tree_.SetTotalAllocated(amounts_("cpu 9000, memory 1"));
  EXPECT_FALSE(tree_.Saturated(on_cpu));
}

TEST_F(ShareTreeTest, WhatNobodyAskedForDoesNotSaturate) {
  const auto job = AddJob("root/a", "1/1", "ns/job", "cpu 1000, pods 1", "cpu 5000");
  tree_.SetTotalAllocated(amounts_("cpu 1000"));
  EXPECT_FALSE(tree_.Saturated(job)) << "the cluster has no pods at all, but none were requested";
}

TEST_F(ShareTreeTest, TheFirstLeafDecidesAGroupsWeight) {
  AddJob("root/a", "1/2", "ns/first", "cpu 1000");
  AddJob("root/a", "1/100", "ns/second", "cpu 1000");
  AddJob("root/b", "1/1", "ns/b", "cpu 1500");
  // a: 0.2 / 2; b: 0.15 / 1.
  EXPECT_DOUBLE_EQ(Compare("root/a", "root/b"), 0.1 - 0.15);
}

TEST_F(ShareTreeTest, BadWeightsCountAsOne) {
  AddJob("root/idle", "1/1", "ns/idle", "");
  AddJob("root/two", "1/+2", "ns/two", "cpu 2000");
  EXPECT_DOUBLE_EQ(Compare("root/two", "root/idle"), 0.1);
  const char* const kBad[] = {"",      "1",     "1/",      "1/x",  "1/0.5", "1/-3",
                              "1/nan", "1/inf", "1/1e999", "1/2x", "1/ 2"};
  for (const char* weights : kBad) {
    tree_ = ShareTree(amounts_("cpu 10000, memory 10"));
    AddJob("root/idle", "1/1", "ns/idle", "");
    AddJob("root/group", weights, "ns/group", "cpu 2000");
    EXPECT_DOUBLE_EQ(Compare("root/group", "root/idle"), 0.2) << weights;
  }
}

TEST_F(ShareTreeTest, StrangeHierarchiesAreHarmless) {
  AddJob("", "", "ns/none", "cpu 1000");
  AddJob("/", "/", "ns/slash", "cpu 1000");
  AddJob("root//a", "1//1", "ns/gap", "cpu 1000");
  AddJob("a", "1", "ns/other-root", "cpu 1000");
  EXPECT_EQ(Compare("", "a"), 0);
  EXPECT_EQ(Compare("root/nobody/uses/this", "root/nor/this"), 0);
  EXPECT_EQ(tree_.Find("root//a").nodes.size(), 3u);
  EXPECT_EQ(tree_.Find("/").nodes.size(), 2u);
}

TEST_F(ShareTreeTest, AHierarchyMayBeAsDeepAsAnAnnotationIsLong) {
  std::string deep = "root";
  for (int i = 0; i < 100'000; ++i) deep += "/a";
  AddJob(deep, "1", "ns/deep", "cpu 1000");
  AddJob("root/b", "1", "ns/b", "cpu 2000");
  EXPECT_LT(Compare(deep, "root/b"), 0);
}

// Whatever was changed in whatever order: the answers are those of a tree built from the result.
TEST(ShareTree, AnswersDoNotDependOnHistory) {
  const char* const kGroups[] = {"root", "root/a", "root/b", "root/a/x", "root/a/y", "root/b/x/z"};
  const char* const kWeights[] = {"1", "1/2", "1/3", "1/2/1.5", "1/2/4", "1/3/1/7"};
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int limit) {
      return std::uniform_int_distribution<int>(0, limit - 1)(random);
    };
    auto some = [&](int limit) {
      Resource amount;
      amount.Set(ResourceKinds::kCpu, below(limit) * 100);
      amount.Set(ResourceKinds::kMemory, below(limit));
      if (below(2) == 0) amount.Set(ResourceKinds::kPods, below(limit));
      return amount;
    };
    struct TestJob {
      size_t group;
      std::string key;
      Resource request;
      Resource allocated;
      ShareTree::NodeIndex leaf;
    };
    Resource total = some(100);
    total.Add(some(100));
    ShareTree tree(total);
    std::vector<TestJob> jobs;
    for (int i = 0; i < 12; ++i) {
      TestJob job{static_cast<size_t>(below(6)), "ns/" + std::to_string(below(1000) * 100 + i),
                  some(30), some(20), 0};
      job.leaf = tree.AddLeaf(kGroups[job.group], kWeights[job.group], job.key, job.request);
      jobs.push_back(job);
    }
    std::vector<ShareTree::Path> paths;
    for (const char* group : kGroups) paths.push_back(tree.Find(group));

    for (int step = 0; step < 20; ++step) {
      TestJob& changed = jobs[static_cast<size_t>(below(12))];
      changed.allocated = some(20);
      Resource sum;
      for (const TestJob& job : jobs) sum.Add(job.allocated);
      for (const TestJob& job : jobs)
        if (step == 0 || &job == &changed) tree.SetAllocated(job.leaf, job.allocated);
      tree.SetTotalAllocated(sum);

      ShareTree fresh(total);
      for (const TestJob& job : jobs) {
        const ShareTree::NodeIndex leaf =
            fresh.AddLeaf(kGroups[job.group], kWeights[job.group], job.key, job.request);
        fresh.SetAllocated(leaf, job.allocated);
      }
      fresh.SetTotalAllocated(sum);
      for (size_t l = 0; l < paths.size(); ++l)
        for (size_t r = 0; r < paths.size(); ++r)
          ASSERT_EQ(tree.Compare(paths[l], paths[r]),
                    fresh.Compare(fresh.Find(kGroups[l]), fresh.Find(kGroups[r])))
              << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace krafla
