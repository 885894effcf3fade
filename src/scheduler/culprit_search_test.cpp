#include "scheduler/culprit_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace krafla {
namespace {

using Name = LiveCluster::ObjectName;
using Kind = Name::Kind;
using Names = CulpritSearch::Names;

Name Job(uint32_t number) {
  return {Kind::kPodGroup, StrId(1), StrId(number)};
}
Name NodeNamed(uint32_t number) {
  return {Kind::kNode, kEmptyStr, StrId(number)};
}

class CulpritSearchTest : public ::testing::Test {
 protected:
  // A cycle in which these jobs have their turns one after the other.
  Names Find(bool doubts_jobs = false) {
    CulpritSearch search([&](Kind kind) { return there[kind]; },
                         [&](std::span<const Name> out) { return Trial(out); });
    const std::optional<CycleFailure> failure = Trial({});
    EXPECT_TRUE(failure) << "there is nothing to search for";
    trials = 0;
    return search.Find(*failure, doubts_jobs);
  }
  std::optional<CycleFailure> Trial(std::span<const Name> out) {
    ++trials;
    const auto is_out = [&](const Name& name) {
      return std::find(out.begin(), out.end(), name) != out.end();
    };
    for (const Name& job : there[Kind::kPodGroup]) {
      if (is_out(job)) continue;
      const auto node = on_node.find(job);
      const bool by_node = node != on_node.end() && !is_out(node->second);
      if (broken.contains(job) || by_node)
        return CycleFailure{.check = "a.cpp:1: no", .step = InHand::Step::kAction, .job = job};
    }
    for (const Name& name : broken)
      if (!is_out(name) && name.kind != Kind::kPodGroup)
        return CycleFailure{.check = "a.cpp:2: no", .step = InHand::Step::kOpen};
    return std::nullopt;
  }
  void Have(Kind kind, uint32_t count) {
    for (uint32_t i = 1; i <= count; ++i)
      there[kind].push_back({kind, kind == Kind::kPodGroup ? StrId(1) : kEmptyStr, StrId(i)});
  }

  std::map<Kind, Names> there;
  std::set<Name> broken;         // fail whenever they are looked at
  std::map<Name, Name> on_node;  // jobs that fail because of a node
  int trials = 0;
};

TEST_F(CulpritSearchTest, TheJobInHandIsFoundByOneTrial) {
  Have(Kind::kPodGroup, 1000);
  broken = {Job(700)};
  EXPECT_EQ(Find(), Names{Job(700)});
  EXPECT_EQ(trials, 1);
}

TEST_F(CulpritSearchTest, SeveralBrokenJobsAreFoundTogether) {
  Have(Kind::kPodGroup, 100);
  broken = {Job(7), Job(50), Job(99)};
  EXPECT_EQ(Find(), (Names{Job(7), Job(50), Job(99)}));
}

TEST_F(CulpritSearchTest, ANodeThatManyJobsMeetIsFoundInsteadOfTheJobs) {
  Have(Kind::kPodGroup, 50);
  Have(Kind::kNode, 300);
  for (const Name& job : there[Kind::kPodGroup]) on_node.emplace(job, NodeNamed(77));
  EXPECT_EQ(Find(true), Names{NodeNamed(77)});
}

TEST_F(CulpritSearchTest, ANodeThatThreeJobsMeetIsOneCulpritNotThree) {
  Have(Kind::kPodGroup, 50);
  Have(Kind::kNode, 300);
  for (const uint32_t job : {3, 4, 5}) on_node.emplace(Job(job), NodeNamed(77));
  EXPECT_EQ(Find(), Names{NodeNamed(77)});
}

TEST_F(CulpritSearchTest, WithoutAJobInHandEveryKindIsSearched) {
  Have(Kind::kPodGroup, 20);
  Have(Kind::kPod, 5000);
  Have(Kind::kNode, 100);
  broken = {{Kind::kPod, kEmptyStr, StrId(4321)}};
  EXPECT_EQ(Find(), Names(broken.begin(), broken.end()));
  EXPECT_LE(trials, 20);
}

TEST_F(CulpritSearchTest, NeverAreAllNodesLeftOut) {
  Have(Kind::kPodGroup, 40);
  Have(Kind::kNode, 1);
  for (const Name& job : there[Kind::kPodGroup]) on_node.emplace(job, NodeNamed(1));
  EXPECT_EQ(Find(), Names{});
}

TEST_F(CulpritSearchTest, WhatEveryJobBreaksIsNoFaultOfObjects) {
  Have(Kind::kPodGroup, 200);
  broken.insert(there[Kind::kPodGroup].begin(), there[Kind::kPodGroup].end());
  EXPECT_EQ(Find(), Names{});
  EXPECT_LE(trials, 40) << "it gives up in bounded time";
}

}  // namespace
}  // namespace krafla
