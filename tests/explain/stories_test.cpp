// Pods, queues and zones explained; names that do not exist; the forms of the answer.
#include <gtest/gtest.h>
#include <simdjson.h>

#include "app/explain_command.h"
#include "app/explanation_json.h"
#include "explain/eviction_story.h"
#include "explain/explain_support.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

CycleInput Example(const std::string& folder, const std::string& now) {
  return {.cluster = ReadExampleFile(folder + "/cluster.yaml"),
          .config = ReadExampleFile(folder + "/scheduler.yaml"),
          .now = now};
}

// ---- pods

TEST(ExplainPod, VictimIsToldWhoTakesItsPlaceWhoAllowedItAndWhyItsNeighbourStays) {
  const Explanation e = Explained(Example("cdp", "2026-03-10T12:06:00Z"), "pod",
                                  "default/elastic-training-training-1");
  EXPECT_EQ(e.answer,
            "default/elastic-training-training-1 is evicted by preempt for "
            "default/fraud-model-trainer-0 (job priority 100 over 0), allowed by priority, gang, "
            "conformance, cdp.");
  EXPECT_TRUE(Says(e, "its place on worker-1 goes to default/fraud-model-trainer-0"));
  ASSERT_EQ(e.tables.size(), 1u);
  EXPECT_EQ(e.tables[0].rows[0][0].text, "default/elastic-training-training-0");
  EXPECT_EQ(e.tables[0].rows[0][1].text,
            "would have gone after elastic-training-training-1: the room was enough");
}

TEST(ExplainPod, PodThatStaysIsToldWhatProtectsIt) {
  const Explanation e = Explained(Example("cdp", "2026-03-10T12:03:00Z"), "pod",
                                  "default/elastic-training-training-1");
  EXPECT_EQ(e.answer,
            "default/elastic-training-training-1 stays where it is: cdp protects it (cooldown, 2m "
            "left of 5m).");
  EXPECT_TRUE(Says(e, "spared by cdp: cooldown, 2m left of 5m"));
}

TEST(ExplainPod, PendingPodIsExplainedThroughItsJobWithItsOwnRefusals) {
  const CycleInput input{.cluster = ReadExampleFile("why-no-preemption/3c-not-running.yaml"),
                         .config = ReadExampleFile("why-no-preemption/scheduler.yaml")};
  const Explanation e = Explained(input, "pod", "research/urgent-worker-0");
  EXPECT_EQ(e.kind, "pod");
  EXPECT_EQ(GateOf(e, "allocate", "room").text,
            "research/urgent-worker-0: 0/1 nodes are unavailable: 1 Insufficient cpu.");
  EXPECT_EQ(LastGate(e, "preempt").name, "candidates");
  EXPECT_TRUE(HasFlip(e, "one more node like worker-1 (8 cpu, 32Gi memory)"));
}

TEST(ExplainPod, PodOfNobodyIsLeftAlone) {
  const CycleInput input{
      .cluster = NodeYaml() + QueueYaml() + PodYaml({.name = "stray", .group = "", .node = "n1"}),
      .config = ConfigYaml({.tiers = {"gang"}})};
  EXPECT_TRUE(Says(Explained(input, "pod", "default/stray"), "belongs to no PodGroup"));
}

// ---- jobs

// What is said of a job is either what it was before the cycle or what it is after it.
TEST(ExplainJob, NumbersBeforeAndAfterTheCycleAreToldApart) {
  const CycleInput placed{
      .cluster = NodeYaml() + QueueYaml() + PodGroupYaml({.phase = "Pending"}) + PodYaml(),
      .config = ConfigYaml({.actions = "enqueue, allocate", .tiers = {"gang predicates"}})};
  const Explanation e = Explained(placed, "job", "default/job");
  ASSERT_GE(e.facts.size(), 2u);
  EXPECT_EQ(e.facts[0],
            "PodGroup default/job, before this cycle: 0 of 1 pod ready, minimum 1, priority 0, "
            "queue default, phase Pending");
  EXPECT_EQ(e.facts[1], "after it: 1 of 1 pod ready, those it binds included, phase Inqueue");
  // Where the cycle changes nothing there is one line.
  const Explanation same =
      Explained({.cluster = ReadExampleFile("why-no-preemption/4a-gang-veto.yaml"),
                 .config = ReadExampleFile("why-no-preemption/scheduler.yaml")},
                "job", "research/urgent");
  EXPECT_EQ(same.facts.at(0),
            "PodGroup research/urgent: 0 of 1 pod ready, minimum 1, priority 100, queue research, "
            "phase Inqueue");
}

// Of a job that the cycle takes from: what was asked of it is told as it was then.
TEST(ExplainJob, AJobThatLosesPodsIsToldSo) {
  const Explanation e =
      Explained(Example("preempt", "2026-03-10T12:00:00Z"), "job", "research/hyperparameter-sweep");
  EXPECT_EQ(e.answer,
            "research/hyperparameter-sweep waits for nothing, and loses 2 pods in this cycle.");
  EXPECT_EQ(GateOf(e, "", "valid").text, "4 valid pod(s), minMember 1");
  EXPECT_TRUE(Says(e, "after it: 2 of 4 pods ready, phase Running"));
  EXPECT_TRUE(Says(e,
                   "this cycle evicts 2 pods of it: research/hyperparameter-sweep-trial-1 for "
                   "research/urgent-finetune-worker-0 (job priority 100 over 1) and 1 more"));
}

// Without those who go it is not valid any more; when it was asked it was.
TEST(ExplainJob, AJobThatIsPushedBelowItsMinimumWasValidWhenItWasAsked) {
  std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 3, memory 64Gi, pods 110"}) +
      PodGroupYaml({.name = "low", .min_member = 3, .priority = "low", .phase = "Running"}) +
      PodGroupYaml({.name = "high", .priority = "high"}) +
      PodYaml({.name = "high-0", .group = "high", .priority = "high"});
  for (const char* name : {"low-0", "low-1", "low-2"})
    cluster += PodYaml({.name = name, .group = "low", .node = "n1", .priority = "low"});
  const Explanation e =
      Explained({.cluster = cluster,
                 .config = ConfigYaml({.actions = "allocate, preempt",
                                       .tiers = {"priority gang", "drf", "predicates"}})},
                "job", "default/low");
  EXPECT_EQ(GateOf(e, "", "valid").verdict, Verdict::kYes);
  EXPECT_EQ(GateOf(e, "", "valid").text, "3 valid pod(s), minMember 3");
  EXPECT_EQ(e.answer, "default/low waits for nothing, and loses 1 pod in this cycle.");
}

// ---- stories of evictions, as the simulator and events tell them

TEST(EvictionStory, HeadlineAndNeighbours) {
  Cycle cycle({.cluster = ReadExampleFile("why-no-preemption/0-success.yaml"),
               .config = ReadExampleFile("why-no-preemption/scheduler.yaml")});
  cycle.Run();
  ASSERT_EQ(cycle.session->plan.evictions.size(), 1u);
  EXPECT_EQ(EvictionHeadline(*cycle.session, 0),
            "evicted by preempt for research/urgent-worker-0 (job priority 100 over 1), allowed by "
            "priority, gang, conformance, drf");
  EXPECT_EQ(EvictionStory(*cycle.session, 0),
            "research/batch-worker-0 is evicted by preempt for research/urgent-worker-0 (job "
            "priority 100 over 1), allowed by priority, gang, conformance, drf. "
            "research/urgent-worker-0 gets its place on worker-1 once it has ended. "
            "research/batch-worker-1 is spared by gang: its job needs it for its minimum.");
}

TEST(ExplainPod, WhoIsNominatedWasNotVotedOn) {
  const Explanation e = Explained(Example("tdm", "2026-03-10T22:30:00+08:00"), "pod",
                                  "analytics/spark-etl-executor-0");
  EXPECT_TRUE(Says(e, "is evicted by preempt (zone rz1 is closed), nominated by tdm."));
  EXPECT_FALSE(Says(e, "asked and agreed"));
}

TEST(EvictionStory, ClosedZone) {
  Cycle cycle(Example("tdm", "2026-03-10T22:30:00+08:00"));
  cycle.Run();
  ASSERT_FALSE(cycle.session->plan.evictions.empty());
  const std::string story = EvictionStory(*cycle.session, 0);
  EXPECT_NE(story.find("is evicted by preempt (zone rz1 is closed), nominated by tdm."),
            std::string::npos)
      << story;
  EXPECT_NE(story.find("The budget of its job: maxUnavailable 30%."), std::string::npos) << story;
}

// ---- queues

TEST(ExplainQueue, UnderItsShareItMayReclaim) {
  const Explanation e = Explained(Example("reclaim", "2026-03-10T12:00:00Z"), "queue", "team-nlp");
  EXPECT_EQ(e.answer,
            "team-nlp holds 0 cpu, 0 memory of the 8 cpu, 8Gi memory it deserves (0%): it is due "
            "more and asks for more.");
  EXPECT_TRUE(Says(e, "it may reclaim up to 8 cpu, 8Gi memory more"));
  EXPECT_TRUE(
      Says(e, "this cycle: 0 of its pods bound, 0 evicted, 1 reclaimed from others for it"));
}

TEST(ExplainQueue, OverItsShareOthersMayReclaim) {
  const Explanation e =
      Explained(Example("reclaim", "2026-03-10T12:00:00Z"), "queue", "team-vision");
  EXPECT_TRUE(Says(e, "over by 8 cpu, which others may take back"));
  EXPECT_TRUE(Says(e,
                   "others may take back 8 cpu: 4 of its pods may be victims; asking for more: "
                   "team-nlp"));
}

TEST(ExplainQueue, StandsDifferentlyInEachResource) {
  std::string cluster = QueueYaml({.name = "a"}) + QueueYaml({.name = "b"}) +
                        NodeYaml({.has = "cpu 4, memory 8Gi, pods 110"});
  for (const std::string q : {"a", "b"}) {
    cluster += PodGroupYaml({.name = q, .queue = q, .min_member = 0, .phase = "Running"});
    for (const std::string i : {"0", "1"})
      cluster += PodYaml({.name = q + i, .group = q, .node = "n1"});
    cluster += PodYaml({.name = q + "2", .group = q});
  }
  const CycleInput input{.cluster = cluster,
                         .config = ConfigYaml({.actions = "allocate, reclaim",
                                               .tiers = {"gang proportion predicates"}})};
  const Explanation e = Explained(input, "queue", "a");
  EXPECT_EQ(e.answer,
            "a holds 2 cpu, 2Gi memory of the 2 cpu, 3Gi memory it deserves (100%): it has all the "
            "cpu it deserves and is due 1Gi memory more, and asks for 1 cpu, 1Gi memory more; no "
            "pod that asks for cpu gets a place by allocate or reclaim.");
  EXPECT_TRUE(Says(e, "at its share of cpu, under in memory, asks for more"));
}

TEST(ExplainQueue, WithoutSharingThatIsSaid) {
  const CycleInput input{.cluster = NodeYaml() + QueueYaml(),
                         .config = ConfigYaml({.tiers = {"gang"}})};
  EXPECT_TRUE(
      Says(Explained(input, "queue", "default"), "no plugin shares the cluster among queues"));
}

// ---- zones

std::string ZoneCluster(const std::string& budget, int pods, int elsewhere_cpu) {
  std::string cluster =
      QueueYaml() + NodeYaml({.name = "z1", .zone = "rz1"}) +
      NodeYaml({.name = "home",
                .has = "cpu " + std::to_string(elsewhere_cpu) + ", memory 64Gi, pods 110"}) +
      PodGroupYaml({.name = "night",
                    .min_member = 0,
                    .phase = "Running",
                    .annotations = {{"volcano.sh/jdb-max-unavailable", budget},
                                    {"volcano.sh/preemptable", "true"}}});
  for (int i = 0; i < pods; ++i)
    cluster += PodYaml(
        {.name = "night-" + std::to_string(i),
         .group = "night",
         .node = "z1",
         .annotations = {{"volcano.sh/preemptable", "true"}, {"volcano.sh/revocable-zone", "*"}}});
  return cluster;
}

CycleInput ZoneInput(const std::string& cluster, const std::string& actions) {
  return {.cluster = cluster,
          .config = ConfigYaml({.actions = actions,
                                .tiers = {"gang tdm predicates nodeorder"},
                                .tdm = {{"tdm.revocable-zone.rz1", "08:00-21:00"},
                                        {"tdm.evict.period", "2m"},
                                        {"tdm.timezone", "Asia/Shanghai"}}}),
          .now = "2026-03-10T04:00:00Z"};
}

TEST(ExplainZone, WindowInBothTimesAndTheDrainStepByStep) {
  const Explanation e =
      Explained(ZoneInput(ZoneCluster("1", 3, 8), "enqueue, allocate, preempt"), "zone", "rz1");
  EXPECT_EQ(e.answer,
            "zone rz1 is open, and closes in 9h, at 2026-03-10T21:00:00+08:00 "
            "(2026-03-10T13:00:00Z).");
  EXPECT_TRUE(Says(e, "preempt empties it, one step per 2m"));
  EXPECT_TRUE(Says(e, "closing evicts 3 pods in 3 steps; the last goes 8m after the first cycle"));
}

TEST(ExplainZone, BudgetThatIsNeverFreeAgainHoldsTheDrain) {
  // Nothing has room for the pod that left, so the budget stays used up.
  const Explanation e =
      Explained(ZoneInput(ZoneCluster("1", 3, 0), "enqueue, allocate, preempt"), "zone", "rz1");
  EXPECT_TRUE(Says(e, "closing evicts 1 pod in 1 step and leaves 2 pods there"));
  EXPECT_TRUE(Says(e, "held: default/night: its budget maxUnavailable 1"));
}

const ExplanationTable* FindTable(const Explanation& e, std::string_view name) {
  for (const ExplanationTable& table : e.tables)
    if (table.name == name) return &table;
  ADD_FAILURE() << "no table " << name << " in\n" << ExplanationAsText(e, false);
  return nullptr;
}

TEST(ExplainZone, EachStepSaysWhyNoMoreWent) {
  const Explanation held =
      Explained(ZoneInput(ZoneCluster("1", 3, 8), "enqueue, allocate, preempt"), "zone", "rz1");
  const ExplanationTable* drain = FindTable(held, "drain");
  ASSERT_NE(drain, nullptr);
  ASSERT_EQ(drain->rows.size(), 3u);
  EXPECT_TRUE(drain->rows[0].back().text.starts_with("default/night: its budget maxUnavailable 1"))
      << drain->rows[0].back().text;
  EXPECT_EQ(drain->rows[2].back().text, "-");
  // Without a budget it is the period.
  std::string cluster = ZoneCluster("1", 3, 8);
  const std::string budget = "\"volcano.sh/jdb-max-unavailable\": \"1\", ";
  ASSERT_TRUE(cluster.contains(budget)) << cluster;
  cluster.erase(cluster.find(budget), budget.size());
  const Explanation slow =
      Explained(ZoneInput(cluster, "enqueue, allocate, preempt"), "zone", "rz1");
  drain = FindTable(slow, "drain");
  ASSERT_NE(drain, nullptr);
  ASSERT_EQ(drain->rows.size(), 3u);
  EXPECT_EQ(drain->rows[0].back().text, "the evict period, 2m");
}

TEST(ExplainZone, APeriodThatGoesOnIsThePause) {
  CycleInput input = ZoneInput(ZoneCluster("1", 3, 8), "enqueue, allocate, preempt");
  input.now = "2026-03-10T14:00:00Z";  // closed for an hour
  CycleMemory memory;
  memory.SetLastEviction("rz1", ParseRfc3339("2026-03-10T13:59:30Z")->time);
  const Explanation e = Explained(input, "zone", "rz1", &memory);
  EXPECT_TRUE(
      Says(e,
           "it pauses now: somebody was evicted 30s ago, and the evict period of 2m ends in "
           "1m30s, at 2026-03-10T22:01:30+08:00 (2026-03-10T14:01:30Z)"));
  // That is when it goes on.
  const ExplanationTable* drain = FindTable(e, "drain");
  ASSERT_NE(drain, nullptr);
  EXPECT_EQ(drain->rows.at(0).at(2).text, "2026-03-10T14:01:30Z");
  // Another zone's clock is not this one's.
  CycleMemory other;
  other.SetLastEviction("rz2", ParseRfc3339("2026-03-10T13:59:30Z")->time);
  EXPECT_FALSE(Says(Explained(input, "zone", "rz1", &other), "it pauses now"));
}

TEST(ExplainZone, WithoutAnActionNobodyEmptiesIt) {
  const Explanation e =
      Explained(ZoneInput(ZoneCluster("1", 3, 8), "enqueue, allocate"), "zone", "rz1");
  EXPECT_TRUE(Says(e, "nobody empties it: neither preempt nor shuffle is among the actions"));
}

TEST(ExplainZone, PodsThatDoNotOfferThemselvesStay) {
  std::string cluster = ZoneCluster("1", 1, 8) +
                        PodGroupYaml({.name = "web", .min_member = 0, .phase = "Running"}) +
                        PodYaml({.name = "web-0", .group = "web", .node = "z1"});
  const Explanation e = Explained(ZoneInput(cluster, "allocate, preempt"), "zone", "rz1");
  EXPECT_TRUE(Says(e, "1 pod on it will not be taken off"));
  EXPECT_TRUE(Says(e, "none: they do not say preemptable: true"));
}

TEST(ExplainZone, ZoneOfNodesWithoutAWindow) {
  CycleInput input = ZoneInput(ZoneCluster("1", 1, 8) + NodeYaml({.name = "z9", .zone = "rz9"}),
                               "allocate, preempt");
  EXPECT_TRUE(Says(Explained(input, "zone", "rz9"),
                   "zone rz9 is never open: the configuration has no argument "
                   "tdm.revocable-zone.rz9"));
}

// ---- names and forms

TEST(ExplainNames, UnknownOnesGetTheNearest) {
  Explainer explainer = MakeExplainer(Example("reclaim", "2026-03-10T12:00:00Z"));
  auto problem = [&](std::string_view kind, std::string_view name) {
    const Result<Explanation> e = explainer.Explain(kind, name);
    return e ? "explained" : e.error().message;
  };
  EXPECT_EQ(problem("job", "nlp/translatoin"),
            "no PodGroup \"nlp/translatoin\" in the input; did you mean \"nlp/translation\"?");
  EXPECT_EQ(problem("job", "translation"),
            "no PodGroup \"translation\" in the input; did you mean \"nlp/translation\"?");
  EXPECT_EQ(problem("queue", "team-nlq"),
            "no queue \"team-nlq\" in the input; did you mean \"team-nlp\"?");
  EXPECT_EQ(problem("zone", "rz1"), "no zone \"rz1\" in the input; it has none");
  EXPECT_EQ(problem("jobs", "a/b"), "cannot explain \"jobs\"; did you mean \"job\"?");
}

TEST(ExplainCommandTest, WrongNameIsWrongInputAndPrintsNothing) {
  ExplainCommandOptions options;
  options.kind = "job";
  options.name = "research/urgnt";
  options.cluster = {testing::SourceDir() + "/examples/why-no-preemption/4a-gang-veto.yaml"};
  options.config = testing::SourceDir() + "/examples/why-no-preemption/scheduler.yaml";
  options.now = "2026-03-10T12:00:00Z";
  std::stringstream in;
  std::stringstream out;
  std::stringstream err;
  EXPECT_EQ(ExplainCommand(options, in, out, err), 2);
  EXPECT_EQ(out.str(), "");
  EXPECT_NE(err.str().find("did you mean \"research/urgent\"?"), std::string::npos) << err.str();
  options.name = "research/urgent";
  EXPECT_EQ(ExplainCommand(options, in, out, err), 0);
  EXPECT_TRUE(out.str().starts_with("research/urgent waits: no candidate is let go")) << out.str();
}

TEST(ExplainJson, IsWellFormedAndHasTheKeysOfTheContract) {
  const Explanation e =
      Explained({.cluster = ReadExampleFile("why-no-preemption/4a-gang-veto.yaml"),
                 .config = ReadExampleFile("why-no-preemption/scheduler.yaml")},
                "job", "research/urgent");
  const std::string json = ExplanationAsJson(e);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(json).get(root), simdjson::SUCCESS) << json;
  EXPECT_EQ(std::string_view(root["kind"]), "job");
  EXPECT_EQ(std::string_view(root["name"]), "research/urgent");
  simdjson::dom::element last;
  for (simdjson::dom::element gate : root["gates"].get_array()) last = gate;
  EXPECT_EQ(std::string_view(last["gate"]), "victims");
  EXPECT_EQ(std::string_view(last["action"]), "preempt");
  EXPECT_EQ(std::string_view(last["verdict"]), "no");
  EXPECT_EQ(int64_t(last["tables"]["plugins"]["rows"].at(2)["spared"]), 2);
  EXPECT_EQ(std::string_view(root["flips"]["work"].at(0)["kind"]), "min-available");
  EXPECT_EQ(std::string_view(root["flips"]["work"].at(0)["evicts"].at(0)),
            "research/batch-worker-0");
  EXPECT_EQ(std::string_view(root["flips"]["work"].at(0)["pipelines"]["research/urgent-worker-0"]),
            "worker-1");
}

}  // namespace
}  // namespace krafla::testing
