// Every cause in the failure tree of docs/debugging.md, shown by an explanation that names it with
// its numbers.
#include <gtest/gtest.h>

#include "explain/explain_support.h"

namespace krafla::testing {
namespace {

Explanation WhyNot(const std::string& file) {
  return Explained({.cluster = ReadExampleFile("why-no-preemption/" + file),
                    .config = ReadExampleFile("why-no-preemption/scheduler.yaml")},
                   "job", "research/urgent");
}

TEST(FailureTree, NoFailureIsExplainedAsSuccess) {
  const Explanation e = WhyNot("0-success.yaml");
  for (const Gate& gate : e.gates) {
    if (gate.action != "preempt") continue;
    EXPECT_EQ(gate.verdict, Verdict::kYes) << gate.name;
  }
  EXPECT_EQ(NumberOf(GateOf(e, "preempt", "pipelined"), "evicted"), 1);
  EXPECT_EQ(
      e.answer,
      "research/urgent gets room in this cycle: 1 pod waits for 1 pod evicted for it to end.");
  EXPECT_FALSE(e.flips.has_value());
}

TEST(FailureTree, JobIsNotStarving) {
  const Explanation e = WhyNot("1-not-starving.yaml");
  const Gate gate = LastGate(e, "preempt");
  EXPECT_EQ(gate.name, "starving");
  EXPECT_EQ(gate.verdict, Verdict::kNo);
  EXPECT_EQ(NumberOf(gate, "ready"), 1);
  EXPECT_EQ(NumberOf(gate, "minAvailable"), 1);
  EXPECT_EQ(gate.text,
            "1 ready + 0 waiting, minMember 1: gang says its minimum is met, and nobody is "
            "evicted for more");
}

TEST(FailureTree, ANominatedPodIsNotSaidToFitANodeThatIsFull) {
  const auto answer = [](std::string_view taken) {
    std::string pod = PodYaml({.name = "high-0", .group = "high", .priority = "high"});
    const std::string pending = "  phase: Pending\n";
    pod.replace(pod.find(pending), pending.size(), pending + "  nominatedNodeName: n1\n");
    const std::string cluster = PriorityClassesYaml() + QueueYaml() +
                                NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
                                PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"}) +
                                PodGroupYaml({.name = "high", .priority = "high"}) +
                                PodYaml({.name = "low-0",
                                         .group = "low",
                                         .node = "n1",
                                         .asks = fmt::format("cpu {}, memory 1Gi", taken)}) +
                                pod;
    // Without allocate a pod waits although its node has free capacity.
    const Explanation e = Explained(
        {.cluster = cluster,
         .config = ConfigYaml({.actions = "preempt", .tiers = {"priority gang", "predicates"}}),
         .now = "2026-03-10T12:00:00Z"},
        "job", "default/high");
    return ExplanationAsText(e, false);
  };
  EXPECT_EQ(answer("2").find("takes it already"), std::string::npos) << answer("2");
}

TEST(FailureTree, JobIsNotValid) {
  const Explanation e = WhyNot("2-not-valid.yaml");
  const Gate gate = e.gates.back();
  EXPECT_EQ(gate.name, "valid");
  EXPECT_EQ(gate.verdict, Verdict::kNo);
  EXPECT_EQ(NumberOf(gate, "valid"), 2);
  EXPECT_EQ(NumberOf(gate, "minAvailable"), 3);
}

TEST(FailureTree, NoCandidateBecauseNobodyIsPreemptable) {
  const Explanation e = WhyNot("3a-not-preemptable.yaml");
  EXPECT_EQ(LastGate(e, "preempt").name, "candidates");
  EXPECT_EQ(LastGate(e, "preempt").text,
            "none of the 2 pods there may be evicted for it; 2 pods with preemptable: false; short "
            "by 4 cpu on worker-1");
  EXPECT_TRUE(HasFlip(e, "preemptable: true on the pods of research/batch"));
}

TEST(FailureTree, NoCandidateForABestEffortPod) {
  const Explanation e = WhyNot("3b-best-effort.yaml");
  EXPECT_EQ(LastGate(e, "preempt").name, "candidates");
  EXPECT_TRUE(Says(e, "2 pods asking for something, while the newcomer asks for nothing"));
}

TEST(FailureTree, NoCandidateBecauseNobodyRuns) {
  const Explanation e = WhyNot("3c-not-running.yaml");
  EXPECT_EQ(LastGate(e, "preempt").name, "candidates");
  EXPECT_TRUE(Says(e, "2 pods not running"));
}

TEST(FailureTree, VictimIsProtectedByItsGang) {
  const Explanation e = WhyNot("4a-gang-veto.yaml");
  EXPECT_EQ(LastGate(e, "preempt").name, "victims");
  EXPECT_TRUE(Says(e, "gang: research/batch has 2 ready, minimum 2"));
  ASSERT_TRUE(e.flips.has_value());
  ASSERT_FALSE(e.flips->flips.empty());
  EXPECT_EQ(e.flips->flips.front().kind, "min-available");
  EXPECT_EQ(e.flips->flips.front().change, "minMember of research/batch from 2 to 1");
  EXPECT_EQ(e.flips->flips.front().evicts, std::vector<std::string>{"research/batch-worker-0"});
}

TEST(FailureTree, SharesDoNotAllowIt) {
  const Explanation e = WhyNot("4b-drf-veto.yaml");
  EXPECT_EQ(LastGate(e, "preempt").name, "victims");
  EXPECT_TRUE(Says(e,
                   "drf: share 0.75 > 0.25 (research/urgent with the newcomer, research/batch "
                   "without this pod)"));
  EXPECT_TRUE(HasFlip(e, "enablePreemptable: false for plugin drf"));
}

TEST(FailureTree, PredicateRefusesEveryNode) {
  const Explanation e = WhyNot("5a-predicate.yaml");
  const Gate gate = LastGate(e, "preempt");
  EXPECT_EQ(gate.name, "predicates");
  EXPECT_EQ(NumberOf(gate, "nodes"), 1);
  EXPECT_EQ(NumberOf(gate, "refused"), 1);
  EXPECT_TRUE(Says(e, "node(s) didn't match Pod's node affinity/selector"));
}

TEST(FailureTree, NotEnoughRoomEvenWithoutAllCandidates) {
  const Explanation e = WhyNot("5b-too-large.yaml");
  EXPECT_EQ(GateOf(e, "preempt", "victims").verdict, Verdict::kNotAsked);
  const Gate gate = LastGate(e, "preempt");
  EXPECT_EQ(gate.name, "enough");
  EXPECT_EQ(NumberOf(gate, "missing.cpu"), 4000);
}

TEST(FailureTree, QueueHasNoShareLeft) {
  const Explanation e = WhyNot("5c-queue-share.yaml");
  const Gate gate = LastGate(e, "preempt");
  EXPECT_EQ(gate.name, "queue share");
  EXPECT_EQ(NumberOf(gate, "deserved.cpu"), 4000);
  EXPECT_EQ(NumberOf(gate, "allocated.cpu"), 6000);
  EXPECT_EQ(NumberOf(gate, "request.cpu"), 2000);
  // It holds 6 and asks for 2, but takes its place from somebody of its own queue: 6 will do.
  EXPECT_TRUE(FlipText(e, "queue-capability")
                  .starts_with("capability of queue research from 4 cpu, 64Gi memory to "))
      << FlipText(e, "queue-capability");
}

TEST(FailureTree, JobIsNotPipelinedAndEverythingIsTakenBack) {
  const Explanation e = WhyNot("6-not-pipelined.yaml");
  const Gate gate = LastGate(e, "preempt");
  EXPECT_EQ(gate.name, "pipelined");
  EXPECT_EQ(gate.verdict, Verdict::kNo);
  EXPECT_EQ(NumberOf(gate, "waiting"), 1);
  EXPECT_EQ(NumberOf(gate, "minAvailable"), 2);
  EXPECT_TRUE(Says(e, "taken back: room for 1 of the 2 pod(s) it needs at once"));
  EXPECT_TRUE(Says(e, "no room for research/urgent-worker-1: no candidate is let go"));
  EXPECT_TRUE(HasFlip(e, "minMember of research/urgent from 2 to 1"));
}

TEST(FailureTree, PreemptionPolicyIsNever) {
  const Explanation e = WhyNot("7-policy-never.yaml");
  EXPECT_EQ(LastGate(e, "preempt").name, "eligible");
  EXPECT_EQ(LastGate(e, "preempt").text, "research/urgent-worker-0 says preemptionPolicy: Never");
  EXPECT_TRUE(HasFlip(e, "preemptionPolicy: PreemptLowerPriority on the pods of research/urgent"));
}

// ---- what the tree leaves to other plugins and actions: one pod on a full node, one that waits

struct Scene {
  PodGroupOptions victim{.name = "old", .min_member = 0, .priority = "low", .phase = "Running"};
  PodOptions victim_pod{.name = "old-0", .group = "old", .node = "n1", .asks = "cpu 4, memory 1Gi"};
  PodGroupOptions job{.name = "new", .priority = "high"};
  PodOptions pod{.name = "new-0", .group = "new", .asks = "cpu 4, memory 1Gi"};
  NodeOptions node;
  std::string more;
  ConfigOptions config{.actions = "enqueue, allocate, preempt",
                       .tiers = {"priority gang conformance cdp pdb", "predicates nodeorder"}};
  std::string now = "2026-03-10T12:00:00Z";
  std::string queues = QueueYaml();

  CycleInput Input() const {
    return {.cluster = PriorityClassesYaml() + queues + NodeYaml(node) + PodGroupYaml(victim) +
                       PodYaml(victim_pod) + PodGroupYaml(job) + PodYaml(pod) + more,
            .config = ConfigYaml(config),
            .now = now};
  }
  Explanation Explain() const { return Explained(Input(), "job", "default/new"); }
};

TEST(FailureTree, SceneAsItIsSucceeds) {
  EXPECT_TRUE(Says(Scene{}.Explain(), "default/new gets room in this cycle"));
}

TEST(FailureTree, CooldownIsNamedWithTheTimeLeft) {
  Scene scene;
  scene.victim_pod.annotations["volcano.sh/cooldown-time"] = "5m";
  scene.victim_pod.scheduled_at = "2026-03-10T11:58:12Z";
  const Explanation e = scene.Explain();
  EXPECT_EQ(LastGate(e, "preempt").name, "victims");
  EXPECT_TRUE(Says(e, "cdp: cooldown, 3m12s left of 5m"));
  EXPECT_TRUE(
      HasFlip(e, "wait 3m12s, until 2026-03-10T12:03:12Z: the cooldown of default/old-0 is over"));
}

TEST(FailureTree, PodDisruptionBudgetIsNamed) {
  Scene scene;
  scene.victim_pod.labels = {{"app", "old"}};
  scene.more = PodBudgetYaml({.name = "keep", .selects = {{"app", "old"}}, .allows = 0});
  const Explanation e = scene.Explain();
  EXPECT_TRUE(Says(e, "pdb: PodDisruptionBudget default/keep allows 0 disruption(s)"));
  EXPECT_TRUE(HasFlip(e, "PodDisruptionBudget default/keep allows 1 disruption(s) instead of 0"));
}

TEST(FailureTree, SystemPodsAreNamedAndNeverPutUpForDiscussion) {
  Scene scene;
  scene.victim.ns = scene.victim_pod.ns = "kube-system";
  const Explanation e = scene.Explain();
  EXPECT_TRUE(Says(e, "conformance: it is in namespace kube-system"));
  ASSERT_TRUE(e.flips.has_value());
  for (const Flip& flip : e.flips->flips)
    EXPECT_EQ(flip.change.find("conformance"), std::string::npos) << flip.change;
}

TEST(FailureTree, EqualPriorityIsNamedAndTheSmallestHigherOneIsFound) {
  Scene scene;
  scene.victim.priority = "mid";
  scene.job.priority = "low";
  const Explanation e = scene.Explain();
  EXPECT_TRUE(Says(e, "priority: priority 1 of default/new is not above 50 of default/old"));
  EXPECT_TRUE(HasFlip(e, "priority of default/new from 1 to 51"));
}

TEST(FailureTree, OtherQueueIsNamedAndReclaimIsTriedInstead) {
  Scene scene;
  scene.queues = QueueYaml() + QueueYaml({.name = "other"});
  scene.job.queue = "other";
  scene.config.tiers = {"gang", "predicates proportion nodeorder"};
  const Explanation e = scene.Explain();
  EXPECT_TRUE(Says(e, "1 pod in another queue"));
}

TEST(FailureTree, WithoutAnEvictingActionThatIsSaid) {
  Scene scene;
  scene.config.actions = "enqueue, allocate";
  const Explanation e = scene.Explain();
  EXPECT_TRUE(Says(e, "neither preempt nor reclaim is among the actions"));
  EXPECT_TRUE(HasFlip(e, "action preempt added"));
}

TEST(FailureTree, NobodyIsAskedWhetherTheJobStarves) {
  Scene scene;
  scene.config.tiers = {"conformance", "predicates nodeorder"};
  EXPECT_TRUE(Says(scene.Explain(), "no plugin is asked whether it starves"));
}

TEST(FailureTree, ClosedQueueKeepsAJobOut) {
  Scene scene;
  scene.queues = QueueYaml({.state = "Closed"});
  scene.job.phase = "Pending";
  const Explanation e = scene.Explain();
  EXPECT_EQ(e.gates.size(), 1u);
  EXPECT_EQ(e.gates[0].name, "phase");
  EXPECT_EQ(e.gates[0].verdict, Verdict::kNo);
  EXPECT_TRUE(Says(e, "queue default is Closed, not open"));
  EXPECT_TRUE(HasFlip(e, "queue default Open instead of Closed"));
}

TEST(FailureTree, EnqueueVotesAreToldPluginByPlugin) {
  Scene scene;
  scene.job.phase = "Pending";
  scene.more = "";
  CycleInput input = scene.Input();
  // minResources are what overcommit and proportion look at.
  const std::string before = "spec: {queue: default, minMember: 1, priorityClassName: high}";
  const size_t at = input.cluster.find(before);
  ASSERT_NE(at, std::string::npos);
  input.cluster.replace(at, before.size(),
                        "spec: {queue: default, minMember: 1, priorityClassName: high, "
                        "minResources: {cpu: \"4\"}}");
  input.config = ConfigYaml({.actions = "enqueue, allocate, preempt",
                             .tiers = {"priority gang", "overcommit predicates proportion"}});
  const Explanation e = Explained(input, "job", "default/new");
  const Gate gate = GateOf(e, "enqueue", "phase");
  EXPECT_EQ(gate.verdict, Verdict::kNo);
  EXPECT_TRUE(gate.text.starts_with("overcommit: ")) << gate.text;
  ASSERT_EQ(gate.tables.size(), 2u);
  EXPECT_EQ(gate.tables[0].rows[0][0].text, "overcommit");
  EXPECT_EQ(gate.tables[0].rows[0][1].text, "no");
  // What they looked at.
  EXPECT_EQ(gate.tables[1].name, "amounts");
  EXPECT_EQ(NumberOf(gate, "minResources.cpu"), 4000);
  EXPECT_EQ(NumberOf(gate, "allocated.cpu"), 4000);
  EXPECT_EQ(NumberOf(gate, "deserved.cpu"), 4000);
  EXPECT_EQ(NumberOf(gate, "total.cpu"), 4000);
  EXPECT_EQ(NumberOf(gate, "used.cpu"), 4000);
}

// ---- reclaim

struct ReclaimScene : Scene {
  ReclaimScene() {
    queues = QueueYaml() + QueueYaml({.name = "other"});
    job.queue = "other";
    config = {.actions = "enqueue, allocate, reclaim",
              .tiers = {"priority gang conformance", "predicates proportion nodeorder"}};
  }
};

TEST(FailureTree, QueueThatIsNotReclaimableIsNamed) {
  ReclaimScene scene;
  scene.pod.asks = scene.victim_pod.asks = "cpu 2, memory 1Gi";
  scene.more =
      PodYaml({.name = "old-1", .group = "old", .node = "n1", .asks = "cpu 2, memory 1Gi"});
  CycleInput input = scene.Input();
  const std::string before = "metadata: {name: default}\nspec: {weight: 1";
  const size_t at = input.cluster.find(before);
  ASSERT_NE(at, std::string::npos);
  input.cluster.insert(at + before.size(), ", reclaimable: false");
  const Explanation e = Explained(input, "job", "default/new");
  EXPECT_EQ(LastGate(e, "reclaim").name, "candidates");
  EXPECT_TRUE(Says(e, "2 pods of a queue that is not reclaimable"));
  EXPECT_TRUE(HasFlip(e, "queue default reclaimable: true"));
}

TEST(FailureTree, QueueThatWouldHaveTooMuchMayNotReclaim) {
  ReclaimScene scene;
  const Explanation e = scene.Explain();
  // 4 of 4 cpu are asked for by each of two queues that deserve 2.
  const Gate gate = LastGate(e, "reclaim");
  EXPECT_EQ(gate.name, "queue");
  EXPECT_TRUE(Says(e, "queue other has 0 of the 2 cpu it deserves, default/new-0 asks for 4"));
  EXPECT_TRUE(e.flips && !e.flips->flips.empty());
}

// ---- tdm

struct ZoneScene : Scene {
  ZoneScene() {
    node.zone = "rz1";
    config = {.actions = "enqueue, allocate, preempt",
              .tiers = {"priority gang conformance", "tdm predicates nodeorder"},
              .tdm = {{"tdm.revocable-zone.rz1", "08:00-21:00"}}};
    victim_pod.asks = "cpu 1, memory 1Gi";
    pod.asks = "cpu 1, memory 1Gi";
  }
};

TEST(FailureTree, PodWithoutTheZoneAnnotation) {
  const Explanation e = ZoneScene{}.Explain();
  EXPECT_TRUE(Says(e, "not allowed on revocable node: needs annotation volcano.sh/revocable-zone"));
  EXPECT_TRUE(HasFlip(e, "annotation volcano.sh/revocable-zone: \"*\" on the pods of default/new"));
}

TEST(FailureTree, ZoneWithoutAWindow) {
  ZoneScene scene;
  scene.config.tdm = {{"tdm.revocable-zone.rz2", "08:00-21:00"}};
  EXPECT_TRUE(Says(scene.Explain(), "zone rz1 is not configured"));
}

TEST(FailureTree, ClosedZoneIsNamedAndWaitingForItIsTried) {
  ZoneScene scene;
  scene.pod.annotations = {{"volcano.sh/revocable-zone", "*"}, {"volcano.sh/preemptable", "true"}};
  scene.now = "2026-03-10T06:00:00Z";
  const Explanation e = scene.Explain();
  EXPECT_TRUE(Says(e, "zone rz1 is closed until 08:00"));
  EXPECT_TRUE(HasFlip(e, "wait 2h, until 2026-03-10T08:00:00Z: zone rz1 opens"));
}

TEST(FailureTree, JobBudgetIsNamedAndASmallestLargerOneFound) {
  Scene scene;
  scene.victim.annotations = {{"volcano.sh/jdb-max-unavailable", "0"},
                              {"volcano.sh/preemptable", "true"}};
  scene.victim_pod.annotations = {{"volcano.sh/preemptable", "true"}};
  scene.config = {.actions = "enqueue, allocate, preempt",
                  .tiers = {"tdm gang predicates nodeorder"},
                  .tdm = {{"tdm.revocable-zone.rz1", "08:00-21:00"}}};
  const Explanation e = scene.Explain();
  EXPECT_TRUE(
      Says(e, "tdm: budget of default/old: maxUnavailable 0, 1 of 1 running, 0 more may go"));
  EXPECT_TRUE(HasFlip(e, "budget of default/old: maxUnavailable 1 instead of maxUnavailable 0"));
}

}  // namespace
}  // namespace krafla::testing
