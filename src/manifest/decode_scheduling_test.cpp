#include "manifest/decode_scheduling.h"

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Object;
using testing::Pod;
using testing::PodGroup;
using testing::Queue;
using testing::ReadClean;
using testing::ReadResult;
using testing::ReadText;

ReadResult WithGroup(std::string_view spec, std::string_view meta = "",
                     std::string_view status = "") {
  return ReadText(Queue("default") + PodGroup("pg", spec, meta, status));
}

TEST(DecodePodGroup, TakesItsFields) {
  const ReadResult result = ReadClean(
      Queue("default") + Queue("batch") +
      Object("scheduling.k8s.io/v1", "PriorityClass", "high", "", "value: 100") +
      PodGroup("pg",
               "minMember: 3, queue: batch, priorityClassName: high, minResources: {cpu: 2}, "
               "minTaskMember: {worker: 2, master: 1}, networkTopology: {mode: hard}, "
               "subGroupPolicy: [{name: a}]",
               "uid: u1, creationTimestamp: \"2026-03-10T08:00:00Z\"",
               "phase: Inqueue, conditions: [{type: Unschedulable, status: \"True\", reason: r, "
               "message: m, transitionID: x}]"));
  const Job& job = result.JobOf("default/pg");
  EXPECT_EQ(job.min_available, 3);
  EXPECT_EQ(result.cluster.QueueName(job.queue), "batch");
  EXPECT_EQ(job.priority, 100);
  EXPECT_EQ(result.Text(job.priority_class), "high");
  EXPECT_EQ(result.Text(job.uid), "u1");
  EXPECT_EQ(job.phase, JobPhase::kInqueue);
  EXPECT_EQ(FormatRfc3339(job.created), "2026-03-10T08:00:00Z");
  ASSERT_TRUE(job.min_resources.has_value());
  EXPECT_EQ(job.min_resources->cpu(), 2000);
  EXPECT_TRUE(job.has_network_topology);
  EXPECT_TRUE(job.has_sub_group_policy);
  ASSERT_EQ(job.roles.size(), 2u);
  EXPECT_EQ(result.Text(job.roles[0].name), "master");
  EXPECT_EQ(job.roles[1].min_member, 2);
  EXPECT_TRUE(job.roles[1].in_min_task_member);
  EXPECT_EQ(job.min_role_total, 3);
  ASSERT_EQ(job.conditions.size(), 1u);
  EXPECT_EQ(job.conditions[0].type, "Unschedulable");
  EXPECT_EQ(job.conditions[0].message, "m");
  EXPECT_FALSE(job.conditions[0].from_this_session);
}

TEST(DecodePodGroup, MissingFieldsHaveDefaults) {
  const ReadResult result = WithGroup("");
  EXPECT_EQ(result.Messages(), "");
  const Job& job = result.JobOf("default/pg");
  EXPECT_EQ(job.min_available, 0);
  EXPECT_EQ(result.cluster.QueueName(job.queue), "default");
  EXPECT_EQ(job.priority, 0);
  EXPECT_EQ(job.phase, JobPhase::kPending);
  EXPECT_FALSE(job.preemptable);
  EXPECT_FALSE(job.min_resources.has_value());
  EXPECT_EQ(job.waiting_time_ns, -1);
  EXPECT_FALSE(job.has_network_topology);
  EXPECT_FALSE(job.has_sub_group_policy);
}

TEST(DecodePodGroup, AnEmptyMapOfResourcesIsThere) {
  EXPECT_TRUE(WithGroup("minResources: {}").JobOf("default/pg").min_resources.has_value());
  EXPECT_FALSE(WithGroup("minResources: null").JobOf("default/pg").min_resources.has_value());
  EXPECT_FALSE(WithGroup("subGroupPolicy: []").JobOf("default/pg").has_sub_group_policy);
}

TEST(DecodePodGroup, EveryVersionOfTheGroupIsTaken) {
  const ReadResult result = ReadClean(Queue("default") + Object("scheduling.volcano.sh/v1alpha1",
                                                                "PodGroup", "pg", "", "spec: {}"));
  EXPECT_EQ(result.cluster.jobs.size(), 1u);
}

TEST(DecodePodGroup, TheDefaultClassServesThoseWithoutOne) {
  const std::string text = Queue("default") +
                           Object("scheduling.k8s.io/v1", "PriorityClass", "usual", "",
                                  "value: 7, globalDefault: true") +
                           PodGroup("a") + PodGroup("b", "priorityClassName: lost") +
                           PodGroup("c", "priorityClassName: lost");
  const ReadResult result = ReadText(text);
  EXPECT_EQ(result.JobOf("default/a").priority, 7);
  EXPECT_EQ(result.JobOf("default/b").priority, 7);
  EXPECT_EQ(result.Messages(),
            "warning: PriorityClass \"lost\" does not exist: 2 PodGroup(s) have priority 7 "
            "(first: default/b)\n");
}

TEST(DecodePodGroup, AJobWithoutQueueIsLeftOutWithItsTasks) {
  const ReadResult result =
      ReadText(Queue("other") + PodGroup("pg") + Pod("p") + testing::Node("n1"));
  EXPECT_EQ(result.cluster.jobs.size(), 0u);
  EXPECT_FALSE(result.TaskOf("default/p").job.valid());
  EXPECT_EQ(result.Messages(),
            "warning: queue \"default\" does not exist: 1 PodGroup(s) are left out "
            "(first: default/pg)\n");
}

TEST(DecodePodGroup, TheDefaultQueueHasTheNameItWasGiven) {
  ReadClusterOptions options;
  options.default_queue = "other";
  const ReadResult result = ReadClean(Queue("other") + PodGroup("pg"), options);
  EXPECT_EQ(result.cluster.QueueName(result.JobOf("default/pg").queue), "other");
}

TEST(DecodePodGroup, IsPreemptableOnlyIfItSaysSo) {
  const auto marks = [](std::string_view meta) {
    const ReadResult result = WithGroup("", meta);
    const Job& job = result.JobOf("default/pg");
    return std::pair(job.preemptable, job.annotation_preemptable);
  };
  EXPECT_EQ(marks(""), std::pair(false, false));
  EXPECT_EQ(marks("annotations: {volcano.sh/preemptable: \"true\"}"), std::pair(true, true));
  EXPECT_EQ(marks("labels: {volcano.sh/preemptable: \"true\"}"), std::pair(true, false));
  EXPECT_EQ(marks("annotations: {volcano.sh/preemptable: \"false\"}, "
                  "labels: {volcano.sh/preemptable: \"true\"}"),
            std::pair(false, false));
  EXPECT_TRUE(WithGroup("", "annotations: {volcano.sh/revocable-zone: \"*\"}")
                  .JobOf("default/pg")
                  .zones.all);
}

TEST(DecodePodGroup, TheLongBudgetKeysWinEachForItself) {
  const ReadResult result = WithGroup(
      "",
      "annotations: {volcano.sh/jdb-min-available: \"1\", volcano.sh/jdb-max-unavailable: 25%, "
      "volcano.sh/job-disruption-budget-min-available: \"3\"}");
  EXPECT_EQ(result.JobOf("default/pg").budget.min_available, "3");
  EXPECT_EQ(result.JobOf("default/pg").budget.max_unavailable, "25%");
  EXPECT_EQ(WithGroup("").JobOf("default/pg").budget.min_available, "");
}

TEST(DecodePodGroup, WaitingTimeIsAPositiveDurationUnderEitherName) {
  const auto waiting = [](std::string_view annotations) {
    return WithGroup("", fmt::format("annotations: {{{}}}", annotations))
        .JobOf("default/pg")
        .waiting_time_ns;
  };
  constexpr int64_t kMinute = 60'000'000'000;
  EXPECT_EQ(waiting("volcano.sh/sla-waiting-time: 1m, sla-waiting-time: 2m"), kMinute);
  EXPECT_EQ(waiting("sla-waiting-time: 2m"), 2 * kMinute);
  EXPECT_EQ(waiting("volcano.sh/sla-waiting-time: 0s, sla-waiting-time: 2m"), 2 * kMinute);
  EXPECT_EQ(waiting("volcano.sh/sla-waiting-time: \"1\""), -1);
}

TEST(DecodePodGroup, ItsCooldownAndItsQueuesAreRead) {
  const auto read = [](std::string_view text) {
    const std::string meta = fmt::format("annotations: {{volcano.sh/cooldown-time: \"{}\"}}", text);
    return ReadText(Object("scheduling.volcano.sh/v1beta1", "Queue", "default", meta,
                           "spec: {weight: 1}, status: {state: Open}") +
                    PodGroup("pg", "minMember: 1", meta));
  };
  const ReadResult good = read("5m");
  EXPECT_EQ(good.Messages(), "");
  EXPECT_EQ(good.JobOf("default/pg").cooldown_ns, 300 * Timestamp::kNsPerSecond);
  EXPECT_EQ(good.QueueOf("default").cooldown_ns, 300 * Timestamp::kNsPerSecond);
  const ReadResult bad = read("soon");
  EXPECT_EQ(bad.diagnostics.items().size(), 2u) << bad.Messages();
  EXPECT_FALSE(bad.diagnostics.HasErrors());
  EXPECT_EQ(bad.JobOf("default/pg").cooldown_ns, -1);
  EXPECT_EQ(bad.QueueOf("default").cooldown_ns, -1);
}

TEST(DecodePodGroup, WrongFieldsAreErrors) {
  const ReadResult result = WithGroup(
      "minMember: -1, minTaskMember: {a: many}, minResources: {cpu: x}", "", "phase: Done");
  EXPECT_EQ(result.Messages(),
            "test.yaml:4:101: error: PodGroup default/pg: spec.minMember: expected a whole number "
            "from 0 to 2147483647, got -1\n"
            "test.yaml:4:124: error: PodGroup default/pg: spec.minTaskMember.a: expected a whole "
            "number, got \"many\"\n"
            "test.yaml:4:151: error: PodGroup default/pg: spec.minResources.cpu: \"x\" is not a "
            "quantity; write 500m, 2, 64Gi or 1e3\n"
            "test.yaml:4:172: error: PodGroup default/pg: status.phase: expected one of Pending, "
            "Inqueue, Running, Unknown, Completed, got \"Done\"\n");
}

TEST(DecodeQueue, TakesItsFields) {
  const ReadResult result = ReadClean(
      Queue("root") +
      Queue("q",
            "weight: 4, priority: 9, reclaimable: false, capability: {cpu: 10}, "
            "guarantee: {resource: {cpu: 1}}, deserved: {memory: 1Ki}, parent: root",
            "annotations: {volcano.sh/hierarchy: root/sci, volcano.sh/hierarchy-weights: 1/2}",
            "state: Closing"));
  const krafla::Queue& queue = result.QueueOf("q");
  EXPECT_EQ(queue.weight, 4);
  EXPECT_EQ(queue.priority, 9);
  EXPECT_FALSE(queue.reclaimable);
  EXPECT_EQ(queue.capability->cpu(), 10000);
  EXPECT_EQ(queue.guarantee->cpu(), 1000);
  EXPECT_EQ(queue.deserved->memory(), 1024);
  EXPECT_EQ(result.Text(queue.parent), "root");
  EXPECT_EQ(queue.hierarchy, "root/sci");
  EXPECT_EQ(queue.hierarchy_weights, "1/2");
  EXPECT_EQ(queue.state, QueueState::kClosing);
}

TEST(DecodeQueue, MissingFieldsHaveDefaults) {
  const ReadResult result =
      ReadClean(Object("scheduling.volcano.sh/v1beta1", "Queue", "q", "", ""));
  const krafla::Queue& queue = result.QueueOf("q");
  EXPECT_EQ(queue.weight, 1);
  EXPECT_EQ(queue.priority, 0);
  EXPECT_TRUE(queue.reclaimable);
  EXPECT_FALSE(queue.capability.has_value());
  EXPECT_FALSE(queue.guarantee.has_value());
  EXPECT_FALSE(queue.deserved.has_value());
  EXPECT_EQ(queue.state, QueueState::kOpen);
}

TEST(DecodeQueue, ACircleOfParentsIsAnErrorThatNamesIt) {
  const ReadResult result =
      ReadText(Queue("c", "parent: a") + Queue("d", "parent: c") + Queue("a", "parent: b") +
               Queue("b", "parent: c") + Queue("e", "parent: e") + Queue("f", "parent: lost"));
  EXPECT_EQ(result.Messages(),
            "test.yaml:6:1: error: Queue a: spec.parent: queues are each other's parents: "
            "a → b → c → a\n"
            "test.yaml:10:1: error: Queue e: spec.parent: queues are each other's parents: e → "
            "e\n");
}

TEST(DecodePodDisruptionBudget, TakesSelectorAndStatus) {
  const ReadResult result = ReadClean(
      Object("policy/v1", "PodDisruptionBudget", "b", "",
             "spec: {selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 2, "
             "disruptedPods: {p2: \"2026-03-10T08:00:00Z\", p1: null}}") +
      Object("policy/v1", "PodDisruptionBudget", "a", "namespace: z", "spec: {selector: {}}") +
      Object("policy/v1", "PodDisruptionBudget", "a", "", "spec: {}"));
  ASSERT_EQ(result.cluster.budgets.size(), 3u);
  EXPECT_FALSE(result.cluster.budgets[0].selector.given);
  const PodDisruptionBudget& budget = result.cluster.budgets[1];
  EXPECT_EQ(budget.disruptions_allowed, 2);
  EXPECT_EQ(budget.selector.requirements.size(), 1u);
  ASSERT_EQ(budget.disrupted_pods.size(), 2u);
  EXPECT_EQ(result.Text(budget.disrupted_pods[0]), "p1");
  EXPECT_EQ(result.Text(result.cluster.budgets[2].ns), "z");
  EXPECT_TRUE(result.cluster.budgets[2].selector.given);
}

TEST(DecodeResourceQuota, OnlyItsAmountsAreChecked) {
  ReadClean(Object("v1", "ResourceQuota", "r", "", "spec: {hard: {cpu: 1, count/pods: 5}}"));
  EXPECT_TRUE(ReadText(Object("v1", "ResourceQuota", "r", "", "spec: {hard: {pods: few}}"))
                  .diagnostics.HasErrors());
}

}  // namespace
}  // namespace krafla
