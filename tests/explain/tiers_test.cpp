// Who decided: reasons of evictions and protections follow the tier that names victims.
#include <gtest/gtest.h>

#include "explain/eviction_story.h"
#include "explain/explain_support.h"
#include "session/eviction_reason.h"

namespace krafla::testing {
namespace {

constexpr const char* kPreemptable = "volcano.sh/preemptable";

// Three pods of a job of priority 1 fill the node; a pod of a job of priority 100 waits.
struct Scene {
  std::vector<std::string> tiers;
  int minimum = 0;  // of the job that runs
  Texts pods_say;
  bool somebody_waits = true;
  std::string profile = "krafla";
};

CycleInput InputOf(const Scene& scene) {
  std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 3, memory 64Gi, pods 110"}) +
      PodGroupYaml(
          {.name = "low", .min_member = scene.minimum, .priority = "low", .phase = "Running"});
  for (const char* name : {"low-0", "low-1", "low-2"})
    cluster += PodYaml({.name = name,
                        .group = "low",
                        .node = "n1",
                        .priority = "low",
                        .annotations = scene.pods_say});
  if (scene.somebody_waits)
    cluster += PodGroupYaml({.name = "high", .priority = "high"}) +
               PodYaml({.name = "high-0", .group = "high", .priority = "high"});
  std::vector<std::string> tiers = scene.tiers;
  tiers.emplace_back("predicates");
  return {.cluster = cluster, .config = ConfigYaml({.tiers = tiers}), .profile = scene.profile};
}

// "priority: job priority 100 over 1": the word for programs and the one for people.
std::string ReasonIn(const Scene& scene) {
  Cycle cycle(InputOf(scene));
  cycle.Run();
  if (cycle.session->plan.evictions.size() != 1) return "not one eviction";
  const Eviction& eviction = cycle.session->plan.evictions[0];
  return std::string(ToString(ReasonOf(*cycle.session, eviction))) + ": " +
         WhyEvicted(*cycle.session, eviction);
}

TEST(EvictionReason, IsThatOfTheTierThatDecided) {
  EXPECT_EQ(ReasonIn({.tiers = {"priority gang"}}), "priority: job priority 100 over 1");
  EXPECT_EQ(ReasonIn({.tiers = {"priority drf"}}), "priority: job priority 100 over 1");
  EXPECT_EQ(ReasonIn({.tiers = {"gang drf"}}), "fair-share: its job has the larger share");
  // gang lets nobody go, so that priority's word does not count.
  EXPECT_EQ(ReasonIn({.tiers = {"priority gang", "drf"}, .minimum = 3}),
            "fair-share: its job has the larger share");
  EXPECT_EQ(ReasonIn({.tiers = {"gang"}}), "unopposed: no plugin that was asked spares it");
}

TEST(EvictionReason, TdmAloneDoesNotSpeakOfShares) {
  const Texts offers = {{kPreemptable, "true"}};
  EXPECT_EQ(ReasonIn({.tiers = {"tdm"}, .pods_say = offers}),
            "offered: it offers itself (preemptable: true)");
  EXPECT_EQ(ReasonIn({.tiers = {"priority gang", "tdm"}, .minimum = 3, .pods_say = offers}),
            "offered: it offers itself (preemptable: true)");
  // With somebody else in its tier it has nothing against pods that say nothing.
  EXPECT_EQ(ReasonIn({.tiers = {"gang tdm"}}), "offered: it does not say preemptable: false");
  EXPECT_EQ(ReasonIn({.tiers = {"drf tdm"}}), "fair-share: its job has the larger share");
}

TEST(ExplainPod, EvictedPodIsToldWhichTierDecided) {
  const Explanation e =
      Explained(InputOf({.tiers = {"priority gang", "drf"}, .minimum = 3}), "pod", "default/low-1");
  EXPECT_EQ(
      e.answer,
      "default/low-1 is evicted by preempt for default/high-0 (its job has the larger share), "
      "allowed by drf.");
  EXPECT_TRUE(Says(e,
                   "asked and agreed in tier 2, which decided: drf; tier 1 (priority, gang) named "
                   "nobody on its node"));
}

// The numbers are those of after the cycle: where it has changed them, that is said.
TEST(ExplainPod, TheOneThatStaysIsToldWhatTheCycleDidToItsJob) {
  const Explanation e =
      Explained(InputOf({.tiers = {"priority gang", "drf"}, .minimum = 3}), "pod", "default/low-2");
  EXPECT_TRUE(
      Says(e,
           "Running on n1; PodGroup default/low: 2 ready after this cycle, which evicts 1 of "
           "its pods, minimum 3"));
}

TEST(ExplainPod, AVetoThatALaterTierMayOverruleIsNoProtection) {
  const Explanation e =
      Explained(InputOf({.tiers = {"priority gang", "drf"}, .minimum = 3, .somebody_waits = false}),
                "pod", "default/low-0");
  EXPECT_EQ(e.answer,
            "default/low-0 stays where it is: gang spares it in tier 1 (default/low has 3 ready, "
            "minimum 3), but tier 2 (drf) may name it all the same.");
  EXPECT_TRUE(Says(e, "in tier 1; tier 2 (drf) may still name it, where tier 1 names nobody"));

  const Explanation alone =
      Explained(InputOf({.tiers = {"priority gang drf"}, .minimum = 3, .somebody_waits = false}),
                "pod", "default/low-0");
  EXPECT_EQ(alone.answer,
            "default/low-0 stays where it is: gang protects it (default/low has 3 ready, minimum "
            "3).");
  EXPECT_TRUE(Says(alone, "no other tier votes"));
}

TEST(ExplainPod, ATierBeforeItsProtectorMayNameIt) {
  const Explanation e =
      Explained(InputOf({.tiers = {"drf", "gang"}, .minimum = 3, .somebody_waits = false}), "pod",
                "default/low-0");
  EXPECT_TRUE(Says(e, "gang spares it in tier 2"));
  EXPECT_TRUE(Says(e, "in tier 2; tier 1 (drf) may name it before"));
}

// A guard holds in every tier, unless Volcano's way is asked for.
TEST(ExplainPod, AGuardsVetoHoldsInEveryTier) {
  Scene scene{.tiers = {"priority cdp", "drf"}, .somebody_waits = false};
  CycleInput input = InputOf(scene);
  input.cluster += PodGroupYaml({.name = "new", .min_member = 0, .phase = "Running"}) +
                   PodYaml({.name = "new-0",
                            .group = "new",
                            .node = "n1",
                            .scheduled_at = "2026-03-10T11:58:00Z",
                            .annotations = {{"volcano.sh/cooldown-time", "5m"}}});
  const Explanation ours = Explained(input, "pod", "default/new-0");
  EXPECT_TRUE(ours.answer.contains("cdp protects it (cooldown, 3m left of 5m)")) << ours.answer;
  EXPECT_TRUE(Says(ours, "in every tier"));
  input.profile = "volcano";
  const Explanation theirs = Explained(input, "pod", "default/new-0");
  EXPECT_TRUE(Says(theirs, "cdp spares it in tier 1")) << theirs.answer;
  EXPECT_TRUE(Says(theirs, "but tier 2 (drf) may name it all the same"));
}

// Who asks is told of every tier that spares the pod.
TEST(ExplainPod, EachTierThatSparesItIsNamed) {
  CycleInput input = InputOf({.tiers = {"priority gang", "drf"}, .minimum = 3});
  // A job as large, of the same priority: priority spares the others from it in tier 1; drf too,
  // since it would then have more than they.
  input.cluster +=
      PodGroupYaml({.name = "peer", .min_member = 1, .priority = "low"}) +
      PodYaml({.name = "peer-0", .group = "peer", .asks = "cpu 3, memory 1Gi", .priority = "low"});
  const Explanation e = Explained(input, "pod", "default/low-0");
  EXPECT_TRUE(Says(e, "spared in tier 1 by priority")) << e.answer;
  EXPECT_TRUE(Says(e, ", in tier 2 by drf"));
}

// Of the others on the node: what a tier said that was overruled is no reason why one stays.
TEST(ExplainPod, NeighboursAreNotSparedByATierThatWasOverruled) {
  CycleInput input = InputOf({.tiers = {"priority gang cdp", "drf"}, .minimum = 3});
  input.cluster += PodGroupYaml({.name = "new", .min_member = 0, .phase = "Running"}) +
                   PodYaml({.name = "new-0",
                            .group = "new",
                            .node = "n1",
                            .asks = "memory 1Gi",
                            .scheduled_at = "2026-03-10T11:58:00Z",
                            .annotations = {{"volcano.sh/cooldown-time", "5m"}}});
  const Explanation e = Explained(input, "pod", "default/low-1");
  EXPECT_TRUE(Says(e, "allowed by drf"));
  EXPECT_FALSE(Says(e, "is spared by gang"));
  EXPECT_TRUE(Says(e, "is spared by cdp"));
}

CycleInput SystemPodWith(const std::string& actions, const std::string& switches) {
  std::string config = ConfigYaml({.actions = actions, .tiers = {"conformance", "predicates"}});
  const std::string entry = "- name: conformance\n";
  config.insert(config.find(entry) + entry.size(), switches);
  return {
      .cluster =
          PriorityClassesYaml() + QueueYaml() + NodeYaml() +
          PodGroupYaml({.name = "dns", .ns = "kube-system", .min_member = 0, .phase = "Running"}) +
          PodYaml({.name = "dns-0", .group = "dns", .ns = "kube-system", .node = "n1"}),
      .config = config};
}

TEST(ExplainPod, WhoIsNeverAskedProtectsNobody) {
  const Explanation asked =
      Explained(SystemPodWith("preempt, reclaim", ""), "pod", "kube-system/dns-0");
  EXPECT_TRUE(asked.answer.contains("conformance protects it")) << asked.answer;

  const Explanation off =
      Explained(SystemPodWith("preempt, reclaim",
                              "    enablePreemptable: false\n    enableReclaimable: false\n"),
                "pod", "kube-system/dns-0");
  EXPECT_EQ(off.answer,
            "kube-system/dns-0 stays where it is: nobody waits for its place, and nothing protects "
            "it.");
  EXPECT_FALSE(Says(off, "conformance"));

  const Explanation nobody_evicts =
      Explained(SystemPodWith("allocate, backfill", ""), "pod", "kube-system/dns-0");
  EXPECT_EQ(
      nobody_evicts.answer,
      "kube-system/dns-0 stays where it is: neither preempt nor reclaim is among the actions, "
      "so that nobody is evicted for another.");

  const Explanation half =
      Explained(SystemPodWith("preempt, reclaim", "    enablePreemptable: false\n"), "pod",
                "kube-system/dns-0");
  EXPECT_EQ(
      half.answer,
      "kube-system/dns-0 stays where it is: conformance spares it from reclaim (it belongs to "
      "the system), but preempt does not ask conformance.");
  EXPECT_TRUE(Says(half, "; preempt does not ask"));
}

}  // namespace
}  // namespace krafla::testing
