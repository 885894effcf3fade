#include "manifest/volcano_job.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <string>
#include <vector>

#include "manifest/json_scanner.h"

namespace krafla {
namespace {

struct Expanded {
  std::vector<std::string> texts;
  std::vector<std::string> messages;

  const std::string& pod_group() const { return texts.at(0); }
  const std::string& pod(size_t index) const { return texts.at(index + 1); }
  size_t pods() const { return texts.empty() ? 0 : texts.size() - 1; }
};

Expanded Expand(std::string_view text, const PriorityOfClass& priority_of = {}) {
  Expanded expanded;
  Diagnostics diagnostics;
  ReadObjectsFromText(
      text, "job.yaml",
      [&](const ObjectText& job) {
        expanded.texts = ExpandVolcanoJob(job, diagnostics, priority_of);
      },
      diagnostics);
  for (const Diagnostic& item : diagnostics.items()) expanded.messages.push_back(ToString(item));
  for (const std::string& json : expanded.texts) {
    JsonScanner scanner(json);
    EXPECT_TRUE(scanner.SkipValue() && scanner.AtEnd()) << json << "\n"
                                                        << scanner.problem().message;
    EXPECT_GE(json.capacity(), json.size() + simdjson::SIMDJSON_PADDING);
  }
  return expanded;
}

// The value at a JSON pointer, as text without quotes; "-" when there is none.
std::string At(const std::string& json, const std::string& pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  if (parser.parse(json).at_pointer(pointer).get(value)) return "-";
  std::string_view text;
  if (!value.get(text)) return std::string(text);
  return simdjson::minify(value);
}

std::string Annotation(const std::string& json, std::string key) {
  for (size_t at = 0; (at = key.find('/', at)) != std::string::npos; at += 2)
    key.replace(at, 1, "~1");
  return At(json, "/metadata/annotations/" + key);
}

std::string Label(const std::string& json, std::string key) {
  for (size_t at = 0; (at = key.find('/', at)) != std::string::npos; at += 2)
    key.replace(at, 1, "~1");
  return At(json, "/metadata/labels/" + key);
}

constexpr std::string_view kJob = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
  namespace: ml
  uid: "1234"
  creationTimestamp: "2024-05-01T10:00:00Z"
  labels: {team: vision, volcano.sh/preemptable: "true"}
  annotations:
    volcano.sh/preemptable: "true"
    volcano.sh/revocable-zone: "*"
    volcano.sh/cooldown-time: 10m
    volcano.sh/sla-waiting-time: 1h
    volcano.sh/jdb-min-available: "1"
    volcano.sh/jdb-max-unavailable: "2"
spec:
  minAvailable: 3
  schedulerName: volcano
  queue: research
  priorityClassName: high
  plugins: {cdp: [], svc: [], unheard-of: [a]}
  networkTopology: {mode: hard, highestTierAllowed: 2}
  tasks:
  - name: ps
    replicas: 1
    template:
      metadata:
        labels: {app: train, volcano.sh/task-spec: mine}
        annotations: {cooldown-time.volcano.sh: 600s}
      spec:
        containers:
        - name: c
          image: ps:1
          resources:
            requests: {cpu: 500m, memory: 1Gi, nvidia.com/gpu: 1}
            limits: {cpu: 1, memory: 1Gi}
  - name: worker
    replicas: 2
    minAvailable: 1
    topologyPolicy: single-numa-node
    template:
      spec:
        schedulerName: other
        priorityClassName: low
        nodeSelector: {disk: "ssd"}
        containers:
        - {name: c, resources: {requests: {cpu: "2"}}}
)";

std::string JobWith(const std::string& spec) {
  return "kind: Job\nmetadata: {name: j, uid: u}\nspec:\n" + spec;
}

TEST(VolcanoJobTest, MakesOnePodGroupAndThePods) {
  const Expanded job = Expand(kJob);
  EXPECT_TRUE(job.messages.empty()) << job.messages.front();
  ASSERT_EQ(job.pods(), 3u);
  EXPECT_EQ(At(job.pod(0), "/metadata/name"), "train-ps-0");
  EXPECT_EQ(At(job.pod(1), "/metadata/name"), "train-worker-0");
  EXPECT_EQ(At(job.pod(2), "/metadata/name"), "train-worker-1");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(At(job.pod(i), "/kind"), "Pod");
    EXPECT_EQ(At(job.pod(i), "/apiVersion"), "v1");
    EXPECT_EQ(At(job.pod(i), "/metadata/namespace"), "ml");
    EXPECT_EQ(At(job.pod(i), "/metadata/creationTimestamp"), "2024-05-01T10:00:00Z");
    EXPECT_EQ(At(job.pod(i), "/status/phase"), "Pending");
    EXPECT_EQ(Annotation(job.pod(i), "scheduling.k8s.io/group-name"), "train-1234");
  }
  EXPECT_EQ(At(job.pod(2), "/metadata/uid"), "ml-train-worker-1");
}

TEST(VolcanoJobTest, PodGroupTakesAfterTheJob) {
  const Expanded job = Expand(kJob);
  const std::string& group = job.pod_group();
  EXPECT_EQ(At(group, "/kind"), "PodGroup");
  EXPECT_EQ(At(group, "/apiVersion"), "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(At(group, "/metadata/name"), "train-1234");
  EXPECT_EQ(At(group, "/metadata/namespace"), "ml");
  EXPECT_EQ(At(group, "/metadata/creationTimestamp"), "2024-05-01T10:00:00Z");
  EXPECT_EQ(At(group, "/spec/minMember"), "3");
  EXPECT_EQ(At(group, "/spec/minTaskMember"), R"({"ps":1,"worker":1})");
  EXPECT_EQ(At(group, "/spec/queue"), "research");
  EXPECT_EQ(At(group, "/spec/priorityClassName"), "high");
  EXPECT_EQ(At(group, "/spec/networkTopology"), R"({"mode":"hard","highestTierAllowed":2})");
  EXPECT_EQ(At(group, "/spec/subGroupPolicy"), "-");
  EXPECT_EQ(At(group, "/status/phase"), "Pending");
  EXPECT_EQ(Label(group, "team"), "vision");
  for (const char* key : {"volcano.sh/preemptable", "volcano.sh/revocable-zone",
                          "volcano.sh/cooldown-time", "volcano.sh/sla-waiting-time",
                          "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"}) {
    EXPECT_NE(Annotation(group, key), "-") << key;
  }
}

TEST(VolcanoJobTest, MinResourcesAreWhatAQuotaCounts) {
  const Expanded job = Expand(kJob);
  const std::string& group = job.pod_group();
  const std::map<std::string, std::string> expected = {
      {"pods", "3"},
      {"count~1pods", "3"},
      {"cpu", "4500m"},
      {"requests.cpu", "4500m"},
      {"limits.cpu", "1"},
      {"memory", "1073741824"},
      {"requests.memory", "1073741824"},
      {"limits.memory", "1073741824"},
      {"nvidia.com~1gpu", "1"},
      {"requests.nvidia.com~1gpu", "1"},
  };
  for (const auto& [name, amount] : expected) {
    EXPECT_EQ(At(group, "/spec/minResources/" + name), amount) << name;
  }
}

TEST(VolcanoJobTest, PodsCarryTheTemplatesAndTheControllersMarks) {
  const Expanded job = Expand(kJob);
  const std::string& ps = job.pod(0);
  EXPECT_EQ(Annotation(ps, "cooldown-time.volcano.sh"), "600s");
  EXPECT_EQ(Annotation(ps, "volcano.sh/task-spec"), "ps");
  EXPECT_EQ(Annotation(ps, "volcano.sh/task-index"), "0");
  EXPECT_EQ(Annotation(ps, "volcano.sh/job-name"), "train");
  EXPECT_EQ(Annotation(ps, "volcano.sh/queue-name"), "research");
  EXPECT_EQ(Annotation(ps, "volcano.sh/job-version"), "0");
  EXPECT_EQ(Annotation(ps, "volcano.sh/template-uid"), "train-ps");
  EXPECT_EQ(Annotation(ps, "volcano.sh/preemptable"), "true");
  EXPECT_EQ(Annotation(ps, "volcano.sh/revocable-zone"), "*");
  EXPECT_EQ(Annotation(ps, "volcano.sh/cooldown-time"), "10m");
  EXPECT_EQ(Annotation(ps, "volcano.sh/jdb-min-available"), "1");
  EXPECT_EQ(Annotation(ps, "volcano.sh/jdb-max-unavailable"), "-") << "the minimum goes first";
  EXPECT_EQ(Annotation(ps, "volcano.sh/sla-waiting-time"), "-") << "is the group's matter";
  EXPECT_EQ(Annotation(ps, "volcano.sh/numa-topology-policy"), "-");
  EXPECT_EQ(Label(ps, "app"), "train");
  EXPECT_EQ(Label(ps, "team"), "-");
  EXPECT_EQ(Label(ps, "volcano.sh/task-spec"), "ps") << "the controller's mark wins";
  EXPECT_EQ(Label(ps, "volcano.sh/job-namespace"), "ml");
  EXPECT_EQ(Label(ps, "volcano.sh/queue-name"), "research");
  EXPECT_EQ(Label(ps, "volcano.sh/preemptable"), "true");
  EXPECT_EQ(At(ps, "/spec/schedulerName"), "volcano");
  EXPECT_EQ(At(ps, "/spec/priorityClassName"), "high");
  EXPECT_EQ(At(ps, "/spec/containers/0/resources/requests/memory"), "1Gi");

  const std::string& worker = job.pod(2);
  EXPECT_EQ(Annotation(worker, "volcano.sh/task-index"), "1");
  EXPECT_EQ(Label(worker, "volcano.sh/task-index"), "1");
  EXPECT_EQ(Annotation(worker, "volcano.sh/numa-topology-policy"), "single-numa-node");
  EXPECT_EQ(At(worker, "/spec/schedulerName"), "other");
  EXPECT_EQ(At(worker, "/spec/priorityClassName"), "low");
  EXPECT_EQ(At(worker, "/spec/nodeSelector/disk"), "ssd");
}

TEST(VolcanoJobTest, DefaultsAreThoseOfTheWebhook) {
  const Expanded job = Expand(
      "kind: Job\nmetadata: {name: j}\nspec:\n  tasks:\n"
      "  - {replicas: 2}\n  - {replicas: 3, minAvailable: 1}\n");
  EXPECT_TRUE(job.messages.empty()) << job.messages.front();
  const std::string& group = job.pod_group();
  EXPECT_EQ(At(group, "/metadata/name"), "j") << "without a uid the job's name must do";
  EXPECT_EQ(At(group, "/metadata/namespace"), "default");
  EXPECT_EQ(At(group, "/metadata/creationTimestamp"), "-");
  EXPECT_EQ(At(group, "/spec/queue"), "default");
  EXPECT_EQ(At(group, "/spec/minMember"), "3");
  EXPECT_EQ(At(group, "/spec/minTaskMember"), R"({"default0":2,"default1":1})");
  EXPECT_EQ(At(group, "/spec/minResources/pods"), "3");
  ASSERT_EQ(job.pods(), 5u);
  EXPECT_EQ(At(job.pod(4), "/metadata/name"), "j-default1-2");
  EXPECT_EQ(At(job.pod(4), "/metadata/uid"), "default-j-default1-2");
  EXPECT_EQ(At(job.pod(4), "/spec/schedulerName"), "volcano");
  EXPECT_EQ(Annotation(job.pod(4), "scheduling.k8s.io/group-name"), "j");
}

const std::string kThreeTasks =
    "  tasks:\n"
    "  - {name: a, replicas: 4, minAvailable: 2, template: {spec: {priorityClassName: low, "
    "containers: "
    "[{resources: {requests: {cpu: 1}}}]}}}\n"
    "  - {name: b, replicas: 4, minAvailable: 1, template: {spec: {priorityClassName: high, "
    "containers: "
    "[{resources: {requests: {cpu: 10}}}]}}}\n"
    "  - {name: c, replicas: 2, minAvailable: 2, template: {spec: {containers: "
    "[{resources: {requests: {cpu: 100}}}]}}}\n";

int32_t Priority(std::string_view name) {
  return name == "high" ? 1000 : name == "low" ? -5 : 0;
}

TEST(VolcanoJobTest, MinResourcesTakeTheTasksMinimumFirst) {
  const auto cpu = [](int min_available, const PriorityOfClass& priority_of) {
    const Expanded job =
        Expand(JobWith("  minAvailable: " + std::to_string(min_available) + "\n" + kThreeTasks),
               priority_of);
    return At(job.pod_group(), "/spec/minResources/cpu");
  };
  // Sum of the tasks' minimum: 2 a, 1 b, 2 c.
  EXPECT_EQ(cpu(5, {}), "212");
  EXPECT_EQ(cpu(5, Priority), "212");
  // Two more pods than that: of a, or of b when it has the higher priority.
  EXPECT_EQ(cpu(7, {}), "214");
  EXPECT_EQ(cpu(7, Priority), "232");
  EXPECT_EQ(cpu(10, Priority), "244");
  // Less than the tasks' minimum: simply the first pods.
  EXPECT_EQ(cpu(4, {}), "4");
  EXPECT_EQ(cpu(4, Priority), "40");
  EXPECT_EQ(cpu(3, Priority), "30");
}

TEST(VolcanoJobTest, InitContainersSidecarsAndOverheadCount) {
  const Expanded job = Expand(JobWith(
      "  tasks:\n"
      "  - name: t\n"
      "    replicas: 2\n"
      "    template:\n"
      "      spec:\n"
      "        overhead: {cpu: 10m, memory: 1}\n"
      "        initContainers:\n"
      "        - {restartPolicy: Always, resources: {requests: {cpu: 100m}, limits: {cpu: 200m}}}\n"
      "        - {resources: {requests: {cpu: 2, ephemeral-storage: 1k}}}\n"
      "        containers:\n"
      "        - {resources: {requests: {cpu: 500m, memory: 1Ki, hugepages-2Mi: 4Mi, "
      "example.com/x: 2,\n"
      "             kubernetes.io/y: 1}}}\n"
      "        - {resources: {requests: {cpu: 0.5, memory: 1Ki}}}\n"));
  EXPECT_TRUE(job.messages.empty()) << job.messages.front();
  const std::string& group = job.pod_group();
  EXPECT_EQ(At(group, "/spec/minResources/cpu"), "4220m");
  EXPECT_EQ(At(group, "/spec/minResources/limits.cpu"), "420m");
  EXPECT_EQ(At(group, "/spec/minResources/memory"), "4098");
  EXPECT_EQ(At(group, "/spec/minResources/ephemeral-storage"), "2000");
  EXPECT_EQ(At(group, "/spec/minResources/hugepages-2Mi"), "8388608");
  EXPECT_EQ(At(group, "/spec/minResources/example.com~1x"), "4");
  EXPECT_EQ(At(group, "/spec/minResources/kubernetes.io~1y"), "-");
}

TEST(VolcanoJobTest, PodLevelResourcesReplaceTheContainers) {
  const Expanded job =
      Expand(JobWith("  tasks:\n"
                     "  - name: t\n"
                     "    replicas: 1\n"
                     "    template: {spec: {resources: {requests: {cpu: 3, example.com/x: 7}, "
                     "limits: {cpu: 4}}, overhead: {cpu: 1},\n"
                     "      containers: [{resources: {requests: {cpu: 1, memory: 5}}}]}}\n"));
  const std::string& group = job.pod_group();
  EXPECT_EQ(At(group, "/spec/minResources/cpu"), "4");
  EXPECT_EQ(At(group, "/spec/minResources/limits.cpu"), "5");
  EXPECT_EQ(At(group, "/spec/minResources/memory"), "5");
  EXPECT_EQ(At(group, "/spec/minResources/example.com~1x"), "-");
}

TEST(VolcanoJobTest, PartitionsBecomeSubGroups) {
  const Expanded job =
      Expand(JobWith("  tasks:\n"
                     "  - name: t\n"
                     "    replicas: 4\n"
                     "    partitionPolicy: {totalPartitions: 2, partitionSize: 2, minPartitions: "
                     "1, networkTopology: {mode: soft}}\n"
                     "  - {name: s, replicas: 1, partitionPolicy: null}\n"));
  EXPECT_TRUE(job.messages.empty()) << job.messages.front();
  EXPECT_EQ(At(job.pod_group(), "/spec/minTaskMember"), R"({"t":2,"s":1})");
  EXPECT_EQ(At(job.pod_group(), "/spec/minMember"), "3");
  EXPECT_EQ(At(job.pod_group(), "/spec/subGroupPolicy"),
            R"([{"name":"t","subGroupSize":2,"minSubGroups":1,)"
            R"("labelSelector":{"matchLabels":{"volcano.sh/task-spec":"t"}},)"
            R"("matchLabelKeys":["volcano.sh/partition-id"],"networkTopology":{"mode":"soft"}}])");
  EXPECT_EQ(Label(job.pod(0), "volcano.sh/partition-id"), "0");
  EXPECT_EQ(Label(job.pod(3), "volcano.sh/partition-id"), "1");
  EXPECT_EQ(Label(job.pod(4), "volcano.sh/partition-id"), "-");
}

TEST(VolcanoJobTest, VolumesOfTheJobAreThePods) {
  const std::string volumes =
      "  volumes: [{mountPath: /a, volumeClaimName: data}, {mountPath: /b, volumeClaimName: "
      "data},\n"
      "    {mountPath: /c, volumeClaimName: logs}]\n";
  const Expanded job = Expand(JobWith(
      volumes +
      "  tasks:\n"
      "  - {name: a, replicas: 1, template: {spec: {volumes: [{name: own, emptyDir: {}}]}}}\n"
      "  - {name: b, replicas: 1, template: {spec: {volumes: [ ]}}}\n"
      "  - {name: c, replicas: 1}\n"));
  EXPECT_TRUE(job.messages.empty()) << job.messages.front();
  const std::string two = R"({"name":"j-volume-0","persistentVolumeClaim":{"claimName":"data"}},)"
                          R"({"name":"j-volume-1","persistentVolumeClaim":{"claimName":"logs"}}])";
  EXPECT_EQ(At(job.pod(0), "/spec/volumes"), R"([{"name":"own","emptyDir":{}},)" + two);
  EXPECT_EQ(At(job.pod(1), "/spec/volumes"), "[" + two);
  EXPECT_EQ(At(job.pod(2), "/spec/volumes"), "[" + two);

  const Expanded unnamed =
      Expand(JobWith("  volumes: [{mountPath: /a, volumeClaim: {}}]\n"
                     "  tasks: [{name: a, replicas: 1}]\n"));
  EXPECT_EQ(unnamed.pods(), 1u);
  EXPECT_EQ(At(unnamed.pod(0), "/spec/volumes"), "-");
  EXPECT_EQ(unnamed.messages,
            std::vector<std::string>{
                "job.yaml:4:13: warning: Job default/j: spec.volumes[0]: the claim for this volume "
                "does not exist yet; the pods are placed without it"});
}

TEST(VolcanoJobTest, TasksWaitForThoseTheyDependOn) {
  const std::string tasks =
      "  tasks:\n"
      "  - {name: a, replicas: 2}\n"
      "  - {name: b, replicas: 1, dependsOn: {name: [a]}}\n"
      "  - {name: c, replicas: 1, dependsOn: {name: [a, b], iteration: any}}\n"
      "  - {name: d, replicas: 1, dependsOn: {name: [a, b]}}\n"
      "  - {name: e, replicas: 1, dependsOn: {name: []}}\n";
  EXPECT_EQ(Expand(JobWith(tasks)).pods(), 3u);
  EXPECT_EQ(At(Expand(JobWith(tasks)).pod_group(), "/spec/minMember"), "6");
  const auto status = [](const std::string& count) {
    return "status: {state: {phase: Running}, taskStatusCount: {a: {phase: " + count + "}}}\n";
  };
  EXPECT_EQ(Expand(JobWith(tasks) + status("{Running: 1}")).pods(), 3u);
  EXPECT_EQ(Expand(JobWith(tasks) + status("{Running: 1, Succeeded: 1}")).pods(), 5u);
}

TEST(VolcanoJobTest, FinishedJobsMakeNothing) {
  const std::string job = JobWith("  tasks: [{name: a, replicas: 2}]\n");
  for (const char* phase :
       {"Completed", "Failed", "Terminated", "Aborted", "Completing", "Terminating", "Aborting"}) {
    const Expanded expanded = Expand(job + "status: {state: {phase: " + phase + "}}\n");
    EXPECT_TRUE(expanded.texts.empty()) << phase;
    EXPECT_TRUE(expanded.messages.empty()) << phase;
  }
  EXPECT_TRUE(Expand("kind: Job\nmetadata: {name: j, deletionTimestamp: \"2024-05-01T10:00:00Z\"}\n"
                     "spec: {tasks: [{replicas: 1}]}\n")
                  .texts.empty());
  EXPECT_TRUE(Expand("kind: Job\nstatus: {state: {phase: Failed}}\nspec: {minAvailable: x}\n")
                  .messages.empty());
}

TEST(VolcanoJobTest, ThePhaseOfTheGroupFollowsTheJob) {
  const std::string job = JobWith("  tasks: [{name: a, replicas: 2}]\n");
  const auto phase = [&](const std::string& status) {
    return At(Expand(job + status).pod_group(), "/status/phase");
  };
  EXPECT_EQ(phase(""), "Pending");
  EXPECT_EQ(phase("status: {state: {phase: Pending}}\n"), "Pending");
  EXPECT_EQ(phase("status: {state: {phase: Restarting}}\n"), "Pending");
  const Expanded running =
      Expand(job + "status: {state: {phase: Running}, version: 3, retryCount: 2}\n");
  EXPECT_EQ(At(running.pod_group(), "/status/phase"), "Running");
  EXPECT_EQ(Annotation(running.pod(0), "volcano.sh/job-version"), "3");
  EXPECT_EQ(Annotation(running.pod(0), "volcano.sh/job-retry-count"), "2");
}

TEST(VolcanoJobTest, NoReplicasNoPods) {
  const Expanded job = Expand(JobWith("  tasks: [{name: a, replicas: 0}, {name: b}]\n"));
  EXPECT_TRUE(job.messages.empty());
  EXPECT_EQ(job.texts.size(), 1u);
  EXPECT_EQ(At(job.pod_group(), "/spec/minMember"), "0");
  EXPECT_EQ(At(job.pod_group(), "/spec/minResources"), "{}");
}

TEST(VolcanoJobTest, MistakesAreReportedWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"  tasks:\n  - {name: a, replicas: -1}\n",
       "job.yaml:5:25: error: Job default/j: spec.tasks[0].replicas: expected a whole number from "
       "0 to 2147483647, got -1"},
      {"  minAvailable: 4\n  tasks:\n  - {name: a, replicas: 3}\n",
       "job.yaml:4:17: error: Job default/j: spec.minAvailable: minAvailable (4) is more than the "
       "replicas of all tasks "
       "(3)"},
      {"  tasks:\n  - {name: a, replicas: 3, minAvailable: 5}\n",
       "job.yaml:5:42: error: Job default/j: spec.tasks[0].minAvailable: minAvailable (5) is more "
       "than the task's replicas "
       "(3)"},
      {"  tasks:\n  - {name: a}\n  - {name: a}\n",
       "job.yaml:6:5: error: Job default/j: spec.tasks[1]: there is a task \"a\" already"},
      {"  tasks:\n  - {name: a, dependsOn: {name: [b]}}\n",
       "job.yaml:5:5: error: Job default/j: spec.tasks[0]: depends on \"b\", which is no task of "
       "the job"},
      {"  tasks: []\n",
       "job.yaml:1:1: error: Job default/j: spec.tasks: a Job needs at least one task"},
      {"  tasks: [{replicas: 2000000000}, {replicas: 2000000000}]\n",
       "job.yaml:1:1: error: Job default/j: spec.tasks: the tasks have 4000000000 replicas "
       "together; at most 250000 pods of "
       "one Job are made"},
      {"  tasks: [{replicas: two}]\n",
       "job.yaml:4:22: error: Job default/j: spec.tasks[0].replicas: expected a whole number, got "
       "\"two\""},
      {"  tasks: [{template: {metadata: {annotations: {a: true}}}}]\n",
       "job.yaml:4:51: error: Job default/j: spec.tasks[0].template.metadata.annotations.a: "
       "expected text in quotes, got true: YAML reads y, yes, on and true without quotes as a "
       "boolean, so write the word in quotes"},
  };
  for (const auto& [spec, message] : cases) {
    const Expanded job = Expand(JobWith(spec));
    EXPECT_TRUE(job.texts.empty());
    EXPECT_EQ(job.messages, std::vector<std::string>{message});
  }
}

TEST(VolcanoJobTest, AWrongAmountIsReportedOnceNotForEveryPod) {
  const Expanded job = Expand(JobWith(
      "  tasks:\n"
      "  - replicas: 100\n"
      "    template: {spec: {containers: [{name: c, resources: {requests: {cpu: much}}}]}}\n"));
  EXPECT_TRUE(job.texts.empty());
  ASSERT_EQ(job.messages.size(), 1u);
  EXPECT_TRUE(job.messages[0].starts_with(
      "job.yaml:6:74: error: Job default/j: "
      "spec.tasks[0].template.spec.containers[0].resources.requests.cpu: "))
      << job.messages[0];
}

TEST(VolcanoJobTest, LargeTemplatesTimesManyReplicasAreRefused) {
  const std::string text =
      R"({"kind":"Job","metadata":{"name":"j"},"spec":{"tasks":[{"replicas":200000,"template":)"
      R"({"metadata":{"annotations":{"big":")" +
      std::string(100'000, 'x') + R"("}}}}]}})";
  const Expanded job = Expand(text);
  EXPECT_TRUE(job.texts.empty());
  ASSERT_EQ(job.messages.size(), 1u);
  EXPECT_NE(job.messages[0].find("MiB of text"), std::string::npos);
}

TEST(VolcanoJobTest, TextIsEscaped) {
  const Expanded job = Expand(
      "kind: Job\nmetadata: {name: \"a\\\"b\", namespace: \"\\n\", annotations: {\"k\\\\\": "
      "\"\\u00e9\\x01\"}}\n"
      "spec: {tasks: [{name: \"t\\\"\", replicas: 1, template: {spec: {\"x\\\"y\": 1}}}]}\n");
  EXPECT_TRUE(job.messages.empty());
  EXPECT_EQ(At(job.pod(0), "/metadata/name"), "a\"b-t\"-0");
  EXPECT_EQ(At(job.pod(0), "/spec/x\"y"), "1");
  EXPECT_EQ(Annotation(job.pod_group(), "k\\"), "\u00e9\x01");
}

TEST(VolcanoJobTest, TheOrderOfFieldsDoesNotMatter) {
  const std::string forward =
      R"({"kind":"Job","metadata":{"name":"j","uid":"u"},"spec":{"minAvailable":1,"queue":"q",)"
      R"("tasks":[{"name":"a","replicas":2,"template":{"metadata":{"labels":{"x":"1"}},)"
      R"("spec":{"nodeName":"n"}}}]},)"
      R"("status":{"state":{"phase":"Running"}}})";
  const std::string backward =
      R"({"status":{"state":{"phase":"Running"}},"spec":{"tasks":[)"
      R"({"template":{"spec":{"nodeName":"n"},)"
      R"("metadata":{"labels":{"x":"1"}}},"replicas":2,"name":"a"}],"queue":"q","minAvailable":1},)"
      R"("metadata":{"uid":"u","name":"j"},"kind":"Job"})";
  EXPECT_EQ(Expand(forward).texts, Expand(backward).texts);
  EXPECT_EQ(Expand(forward).pods(), 2u);
}

}  // namespace
}  // namespace krafla
