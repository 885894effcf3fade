#include "manifest/decode_pod.h"

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Frame;
using testing::Object;
using testing::Pod;
using testing::ReadClean;
using testing::ReadResult;
using testing::ReadText;

TaskStatus StatusWith(std::string_view spec, std::string_view status, std::string_view meta = "") {
  return ReadClean(Frame() + Pod("p", spec, status, meta)).TaskOf("default/p").status;
}

TEST(DecodePod, StatusComesFromPhaseNodeAndDeletion) {
  constexpr std::string_view kDeleting = "deletionTimestamp: \"2026-03-10T10:00:00Z\"";
  EXPECT_EQ(StatusWith("", "phase: Pending"), TaskStatus::kPending);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Pending"), TaskStatus::kBound);
  EXPECT_EQ(StatusWith("", "phase: Pending", kDeleting), TaskStatus::kReleasing);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Running"), TaskStatus::kRunning);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Running", kDeleting), TaskStatus::kReleasing);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Succeeded"), TaskStatus::kSucceeded);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Succeeded", kDeleting), TaskStatus::kSucceeded);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Failed"), TaskStatus::kFailed);
  EXPECT_EQ(StatusWith("nodeName: n1", "phase: Unknown"), TaskStatus::kUnknown);
  EXPECT_EQ(ReadText(Frame() + Pod("p", "nodeName: n1", "phase: Sleeping"), {.lenient = true})
                .TaskOf("default/p")
                .status,
            TaskStatus::kUnknown);
  EXPECT_EQ(StatusWith("", ""), TaskStatus::kPending);
  EXPECT_EQ(StatusWith("nodeName: n1", ""), TaskStatus::kBound);
  EXPECT_EQ(StatusWith("", "phase: Pending", "deletionTimestamp: null"), TaskStatus::kPending);
}

TEST(DecodePod, IsPreemptableUnlessItSaysFalse) {
  const auto with = [](std::string_view annotations, std::string_view meta = "") {
    return ReadText(Frame() + Pod("p", "", "phase: Pending", meta, annotations));
  };
  const auto check = [](const ReadResult& result, bool preemptable, bool says, bool annotated) {
    const Task& task = result.TaskOf("default/p");
    EXPECT_EQ(task.preemptable, preemptable);
    EXPECT_EQ(task.says_preemptable, says);
    EXPECT_EQ(task.annotation_preemptable, annotated);
  };
  constexpr std::string_view kLabelTrue = "labels: {volcano.sh/preemptable: \"true\"}";
  check(with(""), true, false, false);
  check(with("volcano.sh/preemptable: \"true\""), true, true, true);
  check(with("volcano.sh/preemptable: \"T\""), true, true, true);
  check(with("volcano.sh/preemptable: \"false\""), false, false, false);
  check(with("", kLabelTrue), true, true, false);
  check(with("volcano.sh/preemptable: \"0\"", kLabelTrue), false, false, false);
  const ReadResult wrong = with("volcano.sh/preemptable: \"yes\"", kLabelTrue);
  check(wrong, false, false, false);
  EXPECT_EQ(wrong.Messages(),
            "test.yaml:10:133: warning: Pod default/p: "
            "metadata.annotations[\"volcano.sh/preemptable\"]"
            ": expected true or false, got \"yes\"; taken for false\n");
}

TEST(DecodePod, ZonesAreAllNamedOrNone) {
  const auto zones = [](std::string_view annotation) {
    const ReadResult result = ReadClean(Frame() + Pod("p", "", "", "", annotation));
    const ZoneAccess& access = result.TaskOf("default/p").zones;
    return fmt::format("{} {} {}", access.annotated, access.all, result.Text(access.names));
  };
  EXPECT_EQ(zones(""), "false false ");
  EXPECT_EQ(zones("volcano.sh/revocable-zone: \"*\""), "true true ");
  EXPECT_EQ(zones("volcano.sh/revocable-zone: rz1"), "true false rz1");
  EXPECT_EQ(zones("volcano.sh/revocable-zone: \"rz2, rz1,,rz2\""), "true false rz1,rz2");
  EXPECT_EQ(zones("volcano.sh/revocable-zone: \"rz2,*\""), "true true ");
  EXPECT_EQ(zones("volcano.sh/revocable-zone: \"\""), "true false ");
  // It does not count as a zone annotation here; whether it implies one is the scheduler's choice.
  EXPECT_EQ(zones("volcano.sh/preemptable: \"true\""), "false false ");
}

TEST(DecodePod, CooldownIsLookedForInLabelsFirstAndUnderTwoNames) {
  const auto cooldown = [](std::string_view labels, std::string_view annotations) {
    const std::string meta = fmt::format("labels: {{{}}}", labels);
    return ReadClean(Frame() + Pod("p", "", "", meta, annotations)).TaskOf("default/p").cooldown_ns;
  };
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(cooldown("", ""), -1);
  EXPECT_EQ(cooldown("", "volcano.sh/cooldown-time: 10s"), 10 * kSecond);
  EXPECT_EQ(cooldown("", "cooldown-time.volcano.sh: 20s"), 20 * kSecond);
  EXPECT_EQ(cooldown("", "cooldown-time.volcano.sh: 20s, volcano.sh/cooldown-time: 10s"),
            10 * kSecond);
  EXPECT_EQ(cooldown("cooldown-time.volcano.sh: 30s", "volcano.sh/cooldown-time: 10s"),
            30 * kSecond);
  EXPECT_EQ(cooldown("volcano.sh/cooldown-time: 0s", "volcano.sh/cooldown-time: 10s"), 0);
}

TEST(DecodePod, ExpectedRunTimeIsADurationAboveZero) {
  const auto run_time = [](std::string_view text, size_t warnings) {
    const ReadResult result = ReadText(
        Frame() + Pod("p", "", "", "", fmt::format("krafla.io/expected-run-time: \"{}\"", text)));
    EXPECT_EQ(result.diagnostics.items().size(), warnings) << text;
    return result.TaskOf("default/p").run_time_ns;
  };
  EXPECT_EQ(ReadClean(Frame() + Pod("p")).TaskOf("default/p").run_time_ns, -1);
  EXPECT_EQ(run_time("90m", 0), 5'400 * int64_t{1'000'000'000});
  EXPECT_EQ(run_time("0s", 1), -1);
  EXPECT_EQ(run_time("-1m", 1), -1);
  EXPECT_EQ(run_time("soon", 1), -1);
}

TEST(DecodePod, AnInvalidCooldownIsOneWarningAndNoCooldown) {
  for (const std::string_view text : {"soon", "5", "-5s"}) {
    const ReadResult result = ReadText(
        Frame() + Pod("p", "", "", "", fmt::format("volcano.sh/cooldown-time: \"{}\"", text)));
    EXPECT_EQ(result.TaskOf("default/p").cooldown_ns, -1);
    EXPECT_EQ(result.diagnostics.items().size(), 1u);
    EXPECT_FALSE(result.diagnostics.HasErrors());
  }
}

TEST(DecodePod, NameIndexIsTheNumberBehindTheLastOfTwoDashes) {
  const auto index = [](std::string_view name) {
    return ReadClean(Frame() + Pod(name)).TaskOf(fmt::format("default/{}", name)).name_index;
  };
  EXPECT_EQ(index("job-role-3"), 3);
  EXPECT_EQ(index("my-job-role-12"), 12);
  EXPECT_EQ(index("web-0"), -1);
  EXPECT_EQ(index("web"), -1);
  EXPECT_EQ(index("a-b-c"), -1);
  EXPECT_EQ(index("a-b-3x"), -1);
  EXPECT_EQ(index("a-b-99999999999"), -1);
}

TEST(DecodePod, PriorityOfTheTaskAndOfThePod) {
  const auto priorities = [](std::string_view spec, std::string_view annotations) {
    const ReadResult result = ReadClean(Frame() + Pod("p", spec, "", "", annotations));
    const Task& task = result.TaskOf("default/p");
    return std::pair(task.priority, task.pod_priority);
  };
  EXPECT_EQ(priorities("", ""), std::pair(1, 0));
  EXPECT_EQ(priorities("priority: 7", ""), std::pair(7, 7));
  EXPECT_EQ(priorities("priority: -7", "volcano.sh/task-priority: \"3\""), std::pair(3, -7));
  EXPECT_EQ(priorities("priority: 7", "volcano.sh/task-priority: \"0x3\""), std::pair(7, 7));
  EXPECT_EQ(priorities("", "volcano.sh/task-priority: \"99999999999\""), std::pair(1, 0));
}

TEST(DecodePod, OnlyPodsThatPassedNoApiServerTakeThePriorityOfTheirClass) {
  const std::string classes =
      Object("scheduling.k8s.io/v1", "PriorityClass", "high", "",
             "value: 100, preemptionPolicy: Never") +
      Object("scheduling.k8s.io/v1", "PriorityClass", "usual", "", "value: 5, globalDefault: true");
  const auto pod = [](std::string_view name, std::string_view meta, std::string_view spec) {
    return Object("v1", "Pod", name, meta,
                  fmt::format("spec: {{schedulerName: volcano, {}}}", spec));
  };
  constexpr std::string_view kGroup = "annotations: {scheduling.k8s.io/group-name: pg}";
  const ReadResult result = ReadClean(
      Frame() + classes + Pod("admitted", "priorityClassName: high") +
      pod("plain", kGroup, "priorityClassName: high") + pod("unnamed", kGroup, "nodeName: ''") +
      pod("own", kGroup,
          "priorityClassName: high, priority: 3, "
          "preemptionPolicy: PreemptLowerPriority") +
      pod("task",
          "annotations: {scheduling.k8s.io/group-name: pg, volcano.sh/task-priority: "
          "\"9\"}",
          "priorityClassName: high"));
  const auto check = [&](std::string_view name, int priority, int pod_priority,
                         PreemptionPolicy policy) {
    const Task& task = result.TaskOf(fmt::format("default/{}", name));
    EXPECT_EQ(task.priority, priority) << name;
    EXPECT_EQ(task.pod_priority, pod_priority) << name;
    EXPECT_EQ(task.preemption_policy, policy) << name;
  };
  // The policy of the class holds for it too: it names the class and no policy.
  check("admitted", 1, 0, PreemptionPolicy::kNever);
  check("plain", 100, 100, PreemptionPolicy::kNever);
  check("unnamed", 5, 5, PreemptionPolicy::kLowerPriority);
  check("own", 3, 3, PreemptionPolicy::kLowerPriority);
  check("task", 9, 100, PreemptionPolicy::kNever);
}

TEST(DecodePod, OfSeveralPodScheduledConditionsTheNewestCounts) {
  const auto scheduled_at = [](std::string_view conditions) {
    const ReadResult result =
        ReadClean(Frame() + Pod("p", "nodeName: n1",
                                fmt::format("phase: Running, conditions: [{}]", conditions)));
    return FormatRfc3339(result.TaskOf("default/p").scheduled_at);
  };
  const auto condition = [](std::string_view status, std::string_view minute) {
    return fmt::format(
        "{{type: PodScheduled, status: \"{}\", lastTransitionTime: \"2026-03-10T09:{}:00Z\"}}",
        status, minute);
  };
  const std::string none = FormatRfc3339(Timestamp{});
  EXPECT_EQ(scheduled_at(condition("True", "10") + ", " + condition("True", "20")),
            "2026-03-10T09:20:00Z");
  EXPECT_EQ(scheduled_at(condition("True", "20") + ", " + condition("True", "10")),
            "2026-03-10T09:20:00Z");
  EXPECT_EQ(scheduled_at(condition("True", "20") + ", " + condition("False", "10")),
            "2026-03-10T09:20:00Z");
  EXPECT_EQ(scheduled_at(condition("True", "10") + ", " + condition("False", "20")), none);
  EXPECT_EQ(scheduled_at(condition("False", "20") + ", " + condition("True", "10")), none);
}

TEST(DecodePod, TimesAndTerminationComeFromTheStatus) {
  const ReadResult result = ReadClean(
      Frame() +
      Pod("p", "nodeName: n1",
          "phase: Running, startTime: \"2026-03-10T10:00:00Z\", nominatedNodeName: n2, conditions: "
          "[{type: PodScheduled, status: \"True\", lastTransitionTime: \"2026-03-10T09:00:00Z\"}, "
          "{type: DisruptionTarget, status: \"True\", reason: PreemptionByScheduler}]",
          "creationTimestamp: \"2026-03-10T08:00:00Z\", deletionTimestamp: "
          "\"2026-03-10T11:00:00Z\"") +
      Pod("q", "nodeName: n1",
          "phase: Running, conditions: [{type: PodScheduled, status: \"False\", "
          "lastTransitionTime: \"2026-03-10T09:00:00Z\"}, {type: DisruptionTarget, "
          "status: \"True\", reason: PreemptionByScheduler}]"));
  const Task& task = result.TaskOf("default/p");
  EXPECT_EQ(FormatRfc3339(task.created), "2026-03-10T08:00:00Z");
  EXPECT_EQ(FormatRfc3339(task.scheduled_at), "2026-03-10T09:00:00Z");
  EXPECT_EQ(FormatRfc3339(task.started), "2026-03-10T10:00:00Z");
  EXPECT_EQ(result.Text(task.nominated_node), "n2");
  EXPECT_TRUE(task.terminating_by_preemption);
  EXPECT_TRUE(task.pod_running);
  const Task& other = result.TaskOf("default/q");
  EXPECT_FALSE(other.scheduled_at.Present());
  EXPECT_FALSE(other.started.Present());
  EXPECT_FALSE(other.created.Present());
  EXPECT_FALSE(other.terminating_by_preemption);
}

TEST(DecodePod, ARunningPodIsReadyUnlessItSaysOtherwise) {
  const auto unready = [](std::string_view status, std::string_view meta = "") {
    return ReadClean(Frame() + Pod("p", "nodeName: n1", status, meta)).TaskOf("default/p").unready;
  };
  EXPECT_FALSE(unready("phase: Running"));
  EXPECT_FALSE(unready("phase: Running, conditions: [{type: Ready, status: \"True\"}]"));
  EXPECT_TRUE(unready("phase: Running, conditions: [{type: Ready, status: \"False\"}]"));
  EXPECT_TRUE(unready("phase: Running, conditions: [{type: Ready, status: Unknown}]"));
  EXPECT_FALSE(unready("phase: Running, conditions: [{type: ContainersReady, status: \"False\"}]"));
  // Nobody counts those.
  EXPECT_FALSE(unready("phase: Pending, conditions: [{type: Ready, status: \"False\"}]"));
  EXPECT_FALSE(unready("phase: Succeeded, conditions: [{type: Ready, status: \"False\"}]"));
  EXPECT_FALSE(unready("phase: Running, conditions: [{type: Ready, status: \"False\"}]",
                       "deletionTimestamp: \"2026-03-10T10:00:00Z\""));
}

TEST(DecodePod, MissingUidAndNamespaceHaveDefaults) {
  const ReadResult result = ReadClean(
      Frame() + Object("v1", "Pod", "p", "annotations: {scheduling.volcano.sh/group-name: pg}",
                       "spec: {schedulerName: volcano}"));
  EXPECT_EQ(result.Text(result.TaskOf("default/p").uid), "default-p");
  EXPECT_TRUE(result.TaskOf("default/p").job.valid());
}

TEST(DecodePod, GatesAreKnown) {
  const ReadResult result = ReadClean(
      Frame() + Pod("open") + Pod("gated", "schedulingGates: [{name: other}]") +
      Pod("queue", "schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}]") +
      Pod("both",
          "schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}, "
          "{name: other}]"));
  EXPECT_FALSE(result.TaskOf("default/open").gated);
  EXPECT_TRUE(result.TaskOf("default/gated").gated);
  EXPECT_FALSE(result.TaskOf("default/gated").only_queue_gate);
  EXPECT_TRUE(result.TaskOf("default/queue").only_queue_gate);
  EXPECT_TRUE(result.TaskOf("default/both").gated);
  EXPECT_FALSE(result.TaskOf("default/both").only_queue_gate);
}

TEST(DecodePod, RoleIsAnnotatedOrLabelled) {
  const ReadResult result = ReadClean(
      Frame() + Pod("a", "", "", "labels: {volcano.sh/task-spec: worker}") +
      Pod("b", "", "", "labels: {volcano.sh/task-spec: worker}", "volcano.sh/task-spec: master") +
      Pod("c", "", "", "labels: {volcano.sh/task-spec: worker}", "volcano.sh/task-spec: ''"));
  EXPECT_EQ(result.Text(result.TaskOf("default/a").role), "worker");
  EXPECT_EQ(result.Text(result.TaskOf("default/b").role), "master");
  EXPECT_EQ(result.Text(result.TaskOf("default/c").role), "worker");
}

TEST(DecodePod, OtherSchedulersPodsCountOnceTheyHaveANode) {
  const auto other = [](std::string_view name, std::string_view spec) {
    return Object("v1", "Pod", name, "uid: u",
                  fmt::format("spec: {{schedulerName: default-scheduler, containers: [{{resources: "
                              "{{requests: {{cpu: 1}}}}}}], {}}}, status: {{phase: Pending}}",
                              spec));
  };
  const ReadResult result =
      ReadClean(Frame() + other("waits", "nodeName: ''") + other("placed", "nodeName: n1"));
  EXPECT_FALSE(result.FindTask("default/waits").valid());
  EXPECT_FALSE(result.TaskOf("default/placed").job.valid());
  EXPECT_EQ(result.cluster.used[result.FindNode("n1")].cpu(), 1000);
}

TEST(DecodePod, AMissingSchedulerNameIsTheDefaultScheduler) {
  const std::string text =
      Frame() +
      Object("v1", "Pod", "p", "annotations: {scheduling.k8s.io/group-name: pg}", "spec: {}");
  EXPECT_EQ(ReadText(text).Messages(),
            "warning: 1 pod(s) of a PodGroup name another scheduler and are not scheduled "
            "(first: default/p)\n");
  ReadClusterOptions options;
  options.scheduler_names = {"volcano", "default-scheduler"};
  EXPECT_TRUE(ReadClean(text, options).FindTask("default/p").valid());
  options.scheduler_names = {"volcano", ""};
  EXPECT_TRUE(ReadClean(text, options).FindTask("default/p").valid());
}

TEST(DecodePod, FieldsInAnyOrderMeanTheSame) {
  const ReadResult result = ReadClean(
      Frame() + "---\n" +
      R"({"status": {"phase": "Running"}, "spec": {"nodeName": "n1", "schedulerName": "volcano",
          "containers": [{"resources": {"requests": {"cpu": "2"}}}]}, "kind": "Pod",
          "metadata": {"annotations": {"scheduling.k8s.io/group-name": "pg"}, "uid": "u",
          "name": "p"}, "apiVersion": "v1"})");
  EXPECT_EQ(result.TaskOf("default/p").status, TaskStatus::kRunning);
  EXPECT_EQ(result.RequestOf("default/p").cpu(), 2000);
  EXPECT_TRUE(result.TaskOf("default/p").job.valid());
}

TEST(DecodePod, EscapedTextsAreDecoded) {
  const ReadResult result =
      ReadClean(Frame() + "---\n" + R"({"apiVersion": "v1", "kind": "P\u006fd",
          "metadata": {"n\u0061me": "p\u002d1",
          "uid": "u", "annotations": {"scheduling.k8s.io\/group-name": "pg"},
          "labels": {"a\tb": "c\"d"}}, "spec": {"schedulerName": "volcano",
          "nodeSel\u0065ctor": {"k\\": "v\n"}}})");
  EXPECT_TRUE(result.TaskOf("default/p-1").job.valid());
  const LabelSet& labels = result.cluster.label_sets[result.TaskOf("default/p-1").labels];
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(result.Text(labels[0].first), "a\tb");
  EXPECT_EQ(result.Text(labels[0].second), "c\"d");
  const LabelSet& selector = result.SpecOf("default/p-1").node_selector;
  ASSERT_EQ(selector.size(), 1u);
  EXPECT_EQ(result.Text(selector[0].first), "k\\");
  EXPECT_EQ(result.Text(selector[0].second), "v\n");
}

}  // namespace
}  // namespace krafla
