// Evictions of the past: PodGroups tell of them in their annotations, cdp counts them, and explain
// says what they do.
#include <gtest/gtest.h>

#include "explain/explain_support.h"

namespace krafla::testing {
namespace {

// Batch holds the node since 11:45 with a cooldown of 10m; urgent would take its place at 12:00.
CycleInput UrgentAgainstBatch(const std::string& cdp_arguments, const Texts& past) {
  Texts annotations{{"volcano.sh/preemptable", "true"}, {"volcano.sh/cooldown-time", "10m"}};
  annotations.insert(past.begin(), past.end());
  return {.cluster = NodeYaml() + PriorityClassesYaml() + QueueYaml() +
                     PodGroupYaml({.name = "batch",
                                   .priority = "low",
                                   .phase = "Running",
                                   .annotations = annotations}) +
                     PodYaml({.name = "batch-0",
                              .group = "batch",
                              .node = "n1",
                              .asks = "cpu 4",
                              .scheduled_at = "2026-03-10T11:45:00Z"}) +
                     PodGroupYaml({.name = "urgent", .priority = "high"}) +
                     PodYaml({.name = "urgent-0", .group = "urgent", .asks = "cpu 4"}),
          .config =
              "actions: \"enqueue, allocate, preempt\"\n"
              "tiers:\n- plugins:\n  - name: priority\n  - name: cdp\n    arguments: {" +
              cdp_arguments + "}\n  - name: predicates\n",
          .now = "2026-03-10T12:00:00Z"};
}

const Texts kTwice{{"krafla.io/evictions", "2026-03-10T11:20:00Z,2026-03-10T11:40:00Z"}};

TEST(ExplainHistory, WithoutAPastTheCooldownIsOver) {
  const Explanation e =
      Explained(UrgentAgainstBatch("cdp.backoff: 2", {}), "job", "default/urgent");
  EXPECT_TRUE(Says(e, "default/urgent gets room in this cycle"));
  EXPECT_TRUE(Says(e,
                   "history counts: each within 1h makes its cooldowns 2 times as long, up to 1h "
                   "(cdp.backoff); none is known here (a PodGroup's annotation "
                   "krafla.io/evictions would tell of them)"));
}

// 40m from 11:45 on is 12:25; but at 12:20 the first eviction ceases to count, and 20m are over.
TEST(ExplainHistory, BackoffIsInTheTimeLeftAndInTheWait) {
  const Explanation e =
      Explained(UrgentAgainstBatch("cdp.backoff: 2", kTwice), "job", "default/urgent");
  EXPECT_TRUE(Says(e,
                   "cdp: cooldown, 20m left of 40m (10m, raised by cdp.backoff: its job has had to "
                   "make room 2 times within 1h)"));
  EXPECT_TRUE(
      HasFlip(e, "wait 20m, until 2026-03-10T12:20:00Z: the cooldown of default/batch-0 is over"));
  EXPECT_TRUE(Says(e, "such evictions are known of 1 PodGroup"));
}

TEST(ExplainHistory, TooManyEvictionsAreNamedAndWaitedFor) {
  const std::string config = "cdp.max-evictions: 2, cdp.eviction-period: 50m";
  const Explanation e = Explained(UrgentAgainstBatch(config, kTwice), "job", "default/urgent");
  const std::string why =
      "default/batch has had to make room 2 times within 50m, and cdp.max-evictions allows 2; "
      "spared for another 10m";
  EXPECT_TRUE(Says(e, "cdp: " + why));
  EXPECT_TRUE(HasFlip(e,
                      "wait 10m, until 2026-03-10T12:10:00Z: cdp.max-evictions no longer spares "
                      "default/batch-0"));
  EXPECT_TRUE(Says(e, "history counts: after 2 evictions within 50m a job is spared"));
  const Explanation pod = Explained(UrgentAgainstBatch(config, kTwice), "pod", "default/batch-0");
  EXPECT_EQ(pod.answer, "default/batch-0 stays where it is: cdp protects it (" + why + ").");
}

TEST(ExplainHistory, NothingIsSaidWhereNothingIsCounted) {
  const Explanation e =
      Explained(UrgentAgainstBatch("cdp.default-cooldown: 1m", kTwice), "job", "default/urgent");
  EXPECT_FALSE(Says(e, "history counts"));
  EXPECT_TRUE(Says(e, "default/urgent gets room in this cycle"));
}

TEST(ExplainHistory, WhatCannotBeReadIsNamedAndCountsForNothing) {
  const CycleInput input = UrgentAgainstBatch(
      "cdp.backoff: 2", {{"krafla.io/evictions", "yesterday"}, {"krafla.io/last-loss", "4"}});
  Diagnostics diagnostics;
  ReadClusterFromText(input.cluster, "cluster.yaml", {}, diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.items()) text += ToString(d) + "\n";
  EXPECT_NE(text.find("PodGroup default/batch: metadata.annotations[\"krafla.io/evictions\"]: "
                      "expected instants such as \"2026-03-10T22:30:00Z\", got \"yesterday\"; what "
                      "cannot be read is ignored"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("krafla.io/last-loss"), std::string::npos) << text;
  EXPECT_TRUE(Says(Explained(input, "job", "default/urgent"), "gets room in this cycle"));
}

}  // namespace
}  // namespace krafla::testing
