// What would change it: as little as will do, with what it gives up, and what was tried in vain.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "app/explanation_json.h"
#include "explain/explain_support.h"

namespace krafla::testing {
namespace {

// A queue with a capability, of which three cores are held; a job of four pods waits, two of them
// its minimum.
CycleInput CapableQueue(const std::string& capability) {
  std::string cluster =
      NodeYaml({.has = "cpu 32, memory 320Gi, pods 110"}) + PriorityClassesYaml() +
      "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: small}\n"
      "spec: {weight: 1, capability: {" +
      capability + "}}\n" + PodGroupYaml({.name = "old", .queue = "small", .phase = "Running"}) +
      PodYaml({.name = "old-0", .group = "old", .node = "n1", .asks = "cpu 3, memory 1Gi"}) +
      PodGroupYaml({.name = "new", .queue = "small", .min_member = 2});
  for (const char* name : {"new-0", "new-1", "new-2", "new-3"})
    cluster += PodYaml({.name = name, .group = "new", .asks = "cpu 2, memory 1Gi"});
  return {.cluster = cluster,
          .config =
              ConfigYaml({.actions = "enqueue, allocate", .tiers = {"gang predicates proportion"}}),
          .now = "2026-03-10T12:00:00Z"};
}

TEST(ExplainFlips, CapabilityIsRaisedAsLittleAsWillDoAndOnlyWhereItLimits) {
  const Explanation e = Explained(CapableQueue("cpu: \"4\", memory: 64Gi"), "job", "default/new");
  // Three are held and the minimum asks for four; memory is no matter.
  EXPECT_EQ(FlipText(e, "queue-capability"),
            "capability of queue small from 4 cpu, 64Gi memory to 7 cpu, 64Gi memory");
}

TEST(ExplainFlips, WhatTakesASafeguardAwaySaysSo) {
  const CycleInput input{.cluster = ReadExampleFile("why-no-preemption/4a-gang-veto.yaml"),
                         .config = ReadExampleFile("why-no-preemption/scheduler.yaml"),
                         .now = "2026-03-10T12:00:00Z"};
  const Explanation e = Explained(input, "job", "research/urgent");
  ASSERT_TRUE(e.flips.has_value());
  size_t with_caution = 0;
  for (const Flip& flip : e.flips->flips) {
    if (flip.kind == "switch" || flip.kind == "tier") {
      EXPECT_EQ(flip.caution, "jobs may then be left below their minimum") << flip.change;
      ++with_caution;
    }
    if (flip.kind == "node" || flip.kind == "wait") {
      EXPECT_EQ(flip.caution, "") << flip.change;
    }
  }
  EXPECT_GT(with_caution, 0u);
}

TEST(ExplainFlips, WhatWasTriedInVainIsNamedInTextAndJson) {
  const CycleInput input{.cluster = ReadExampleFile("reclaim/cluster.yaml"),
                         .config = ReadExampleFile("reclaim/scheduler.yaml"),
                         .now = "2026-03-10T12:00:00Z"};
  const Explanation e = Explained(input, "job", "nlp/summaries");
  ASSERT_TRUE(e.flips.has_value());
  ASSERT_FALSE(e.flips->in_vain.empty());
  const std::string text = ExplanationAsText(e, false);
  EXPECT_NE(text.find("tried, and no help: action preempt added; "), std::string::npos) << text;
  const std::string json = ExplanationAsJson(e);
  for (const VainChange& change : e.flips->in_vain) {
    EXPECT_NE(json.find(change.change), std::string::npos) << change.change;
    EXPECT_FALSE(HasFlip(e, change.change));
  }
}

TEST(ExplainFlips, OfManyTriedInVainTheTextNamesTheFirstSix) {
  Explanation e{.kind = "job", .name = "a/b", .answer = "a/b waits.", .flips = FlipSearch{}};
  const auto text_of = [&](size_t changes) {
    e.flips->in_vain.clear();
    for (size_t i = 1; i <= changes; ++i)
      e.flips->in_vain.push_back({.kind = "switch", .change = "change " + std::to_string(i)});
    return ExplanationAsText(e, false);
  };
  EXPECT_NE(text_of(6).find("; change 6\n"), std::string::npos) << text_of(6);
  EXPECT_EQ(text_of(8).find("change 7"), std::string::npos) << text_of(8);
  EXPECT_NE(text_of(8).find("; change 6; and 2 more (-o json)\n"), std::string::npos) << text_of(8);
  EXPECT_EQ(text_of(0).find("no help"), std::string::npos) << text_of(0);
}

TEST(ExplainFlips, TheCountOfTriedChangesIsThatOfThoseNamed) {
  for (const auto& [cluster, config, job] :
       {std::array{"why-no-preemption/4a-gang-veto.yaml", "why-no-preemption/scheduler.yaml",
                   "research/urgent"},
        {"cdp/cluster.yaml", "cdp/scheduler.yaml", "default/fraud-model"}}) {
    const Explanation e = Explained({.cluster = ReadExampleFile(cluster),
                                     .config = ReadExampleFile(config),
                                     .now = "2026-03-10T12:03:00Z"},
                                    "job", job);
    ASSERT_TRUE(e.flips.has_value());
    EXPECT_EQ(e.flips->tried, e.flips->flips.size() + e.flips->in_vain.size()) << cluster;
  }
}

// preempt leaves one of the two pods pipelined, which is never bound: the trial binds as many.
TEST(ExplainFlips, APipelinedPodOfAGangBelowItsMinimumIsNoPlace) {
  const CycleInput input{.cluster = NodeYaml() + QueueYaml() +
                                    PodGroupYaml({.name = "wide", .min_member = 2}) +
                                    PodYaml({.name = "wide-0", .group = "wide", .asks = "cpu 3"}) +
                                    PodYaml({.name = "wide-1", .group = "wide", .asks = "cpu 3"}),
                         .config = ConfigYaml({.actions = "enqueue, allocate, preempt",
                                               .tiers = {"priority gang predicates"}}),
                         .now = "2026-03-10T12:00:00Z"};
  const Explanation e = Explained(input, "job", "default/wide");
  EXPECT_TRUE(HasFlip(e, "minMember of default/wide from 2 to 1")) << ExplanationAsText(e, false);
}

// Nothing else is said first of a pod that no node is large enough for.
TEST(ExplainFlips, AnOversizedPodIsTheFirstCause) {
  CycleInput input{
      .cluster = NodeYaml() + PriorityClassesYaml() + QueueYaml() +
                 PodGroupYaml({.name = "small", .min_member = 0, .priority = "low"}) +
                 PodYaml({.name = "small-0", .group = "small", .node = "n1", .asks = "cpu 1"}) +
                 PodGroupYaml({.name = "big", .priority = "high"}) +
                 PodYaml({.name = "big-0", .group = "big", .asks = "cpu 64"}),
      .config = ConfigYaml({.actions = "enqueue, allocate, preempt",
                            .tiers = {"priority gang", "predicates proportion"}}),
      .now = "2026-03-10T12:00:00Z"};
  for (const auto& [kind, name] : {std::pair{"job", "default/big"}, {"pod", "default/big-0"}}) {
    const Explanation e = Explained(input, kind, name);
    EXPECT_TRUE(
        e.answer.starts_with(fmt::format("{} waits: no node is as large as big-0: it asks "
                                         "for 64 cpu (the largest node has 4); ",
                                         name)))
        << e.answer;
    EXPECT_TRUE(Says(e, "even if the 1 candidate there is evicted"));
  }
}

// A place that preempt keeps for a pod that asks for nothing is of no use without backfill.
TEST(ExplainFlips, OnlyBackfillHelpsAPodThatAsksForNothing) {
  CycleInput input{.cluster = PriorityClassesYaml() + NodeYaml() + QueueYaml() + PodGroupYaml() +
                              PodYaml({.asks = ""}),
                   .config = ConfigYaml(
                       {.actions = "enqueue, allocate", .tiers = {"priority gang", "predicates"}}),
                   .now = "2026-03-10T12:00:00Z"};
  for (const char* actions : {"enqueue, allocate", "enqueue, allocate, preempt"}) {
    input.config = ConfigYaml({.actions = actions, .tiers = {"priority gang", "predicates"}});
    for (const auto& [kind, name] : {std::pair{"job", "default/job"}, {"pod", "default/job-0"}}) {
      const Explanation e = Explained(input, kind, name);
      EXPECT_TRUE(e.answer.contains("asks for nothing, and only backfill")) << e.answer;
      EXPECT_TRUE(HasFlip(e, "action backfill added")) << ExplanationAsText(e, false);
      EXPECT_FALSE(HasFlip(e, "action preempt added")) << ExplanationAsText(e, false);
    }
  }
}

}  // namespace
}  // namespace krafla::testing
