#include "manifest/read_cluster.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Frame;
using testing::Object;
using testing::Pod;
using testing::PodGroup;
using testing::Queue;
using testing::ReadClean;
using testing::ReadResult;
using testing::ReadText;

TEST(ReadCluster, NothingIsAClusterWithoutAnything) {
  const ReadResult result = ReadClean("");
  EXPECT_EQ(result.cluster.tasks.size(), 0u);
  EXPECT_EQ(result.cluster.nodes.size(), 0u);
}

TEST(ReadCluster, WrongTypesAreErrorsWithFileLineObjectAndField) {
  const ReadResult result = ReadText(
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-0\n  labels:\n    tier: 5\n"
      "  creationTimestamp: yesterday\nspec:\n  priority: high\n  tolerations: {}\n"
      "  preemptionPolicy: Maybe\n  nodeName: [a]\n  schedulerName: {a: b}\n");
  EXPECT_EQ(
      result.Messages(),
      "test.yaml:6:11: error: Pod default/web-0: metadata.labels.tier: expected text in quotes, "
      "got 5\n"
      "test.yaml:7:22: error: Pod default/web-0: metadata.creationTimestamp: \"yesterday\" is "
      "not a "
      "time; write 2026-03-15T08:00:00Z or 2026-03-15T08:00:00+08:00\n"
      "test.yaml:9:13: error: Pod default/web-0: spec.priority: expected a whole number, got "
      "\"high\"\n"
      "test.yaml:11:21: error: Pod default/web-0: spec.preemptionPolicy: expected one of "
      "PreemptLowerPriority, Never, got \"Maybe\"\n"
      "test.yaml:12:13: error: Pod default/web-0: spec.nodeName: expected text, got a list\n"
      "test.yaml:13:18: error: Pod default/web-0: spec.schedulerName: expected text, got an "
      "object\n"
      "test.yaml:10:16: error: Pod default/web-0: spec.tolerations: expected a list, got an "
      "object\n");
}

TEST(ReadCluster, NumbersOutOfRangeAreErrors) {
  const auto error = [](std::string_view priority) {
    return ReadText(Pod("p", fmt::format("priority: {}", priority))).Messages();
  };
  const std::string range = "expected a whole number from -2147483648 to 2147483647, got ";
  EXPECT_NE(error("2147483648").find(range + "2147483648"), std::string::npos);
  EXPECT_NE(error("-99999999999999999999").find(range), std::string::npos);
  EXPECT_NE(error("1.5").find("expected a whole number, got 1.5"), std::string::npos);
  EXPECT_NE(error("true").find("expected a whole number, got true"), std::string::npos);
}

TEST(ReadCluster, NullsAreAbsent) {
  const ReadResult result = ReadClean(
      Frame() +
      Object("v1", "Pod", "p",
             "namespace: null, uid: null, labels: null, creationTimestamp: null, annotations: "
             "{scheduling.k8s.io/group-name: pg}",
             "spec: {schedulerName: volcano, priority: null, containers: null, affinity: null, "
             "tolerations: null, nodeName: null, preemptionPolicy: null, nodeSelector: null}, "
             "status: null"));
  EXPECT_EQ(result.TaskOf("default/p").priority, 1);
}

TEST(ReadCluster, ObjectsNeedKindVersionAndName) {
  EXPECT_EQ(ReadText("kind: Pod\nmetadata: {name: p}\n").Messages(),
            "test.yaml:1:1: error: apiVersion: missing\n");
  EXPECT_EQ(ReadText("apiVersion: v1\nkind: Node\n").Messages(),
            "test.yaml:1:1: error: Node: metadata.name: missing\n");
  EXPECT_EQ(ReadText("apiVersion: v1\nkind: Node\nmetadata: {name: ''}\n").Messages(),
            "test.yaml:1:1: error: Node: metadata.name: missing\n");
  EXPECT_EQ(ReadText("apiVersion: v1\nkind: Node\nmetadata: {name: 12}\n").Messages(),
            "test.yaml:3:18: error: Node: metadata.name: expected text in quotes, got 12\n");
}

TEST(ReadCluster, TwoObjectsOfOneNameAreAnErrorPerKind) {
  const std::string twice[] = {
      Pod("p"),
      PodGroup("pg"),
      Queue("q"),
      testing::Node("n1"),
      Object("v1", "Namespace", "ns", "", ""),
      Object("scheduling.k8s.io/v1", "PriorityClass", "pc", "", "value: 1"),
      Object("policy/v1", "PodDisruptionBudget", "b", "", ""),
      Object("v1", "PersistentVolumeClaim", "c", "", ""),
      Object("v1", "PersistentVolume", "v", "", ""),
      Object("storage.k8s.io/v1", "StorageClass", "s", "", "provisioner: x"),
      Object("storage.k8s.io/v1", "CSINode", "c", "", ""),
      Object("v1", "ResourceQuota", "r", "", ""),
  };
  for (const std::string& text : twice) {
    const ReadResult result = ReadText(text + text);
    EXPECT_NE(result.Messages().find("test.yaml:4:1: error: "), std::string::npos) << text;
    EXPECT_NE(result.Messages().find("metadata.name: duplicate: there is one of that name already, "
                                     "at test.yaml:2:1\n"),
              std::string::npos)
        << result.Messages();
  }
  ReadClean(Frame() + Pod("p") + PodGroup("pg", "", "namespace: other") +
            Pod("p", "", "", "namespace: other"));
}

TEST(ReadCluster, WordsThatNobodyKnowsAreErrorsAndWarningsWhenLenient) {
  const std::string text =
      Frame() +
      "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
      "metadata: {name: a}\nspec: {minMenber: 3}\n" +
      "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
      "metadata: {name: odd}\nspec: {wieght: 3, guarantee: {resources: {}}}\n" +
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n"
      "status: {phase: Runing}\n";
  const std::string strict = ReadText(text).Messages();
  for (const char* words :
       {"error: PodGroup default/a: spec.minMenber: unknown key \"minMenber\"; did you mean "
        "\"minMember\"?",
        "error: Queue odd: spec.wieght: unknown key \"wieght\"; did you mean \"weight\"?",
        "error: Queue odd: spec.guarantee.resources: unknown key \"resources\"; did you mean "
        "\"resource\"?",
        "error: Pod default/p: status.phase: unknown phase \"Runing\"; did you mean "
        "\"Running\"?"})
    EXPECT_NE(strict.find(words), std::string::npos) << words << " is not in\n" << strict;
  ReadClusterOptions options;
  options.lenient = true;
  const ReadResult lenient = ReadText(text, options);
  EXPECT_FALSE(lenient.diagnostics.HasErrors());
  EXPECT_NE(lenient.Messages().find("warning: Queue odd: spec.wieght: unknown key \"wieght\"; did "
                                    "you mean \"weight\"?; ignored"),
            std::string::npos)
      << lenient.Messages();
  // They are read for the rest.
  EXPECT_TRUE(lenient.cluster.FindQueue("odd").valid());
  options.lenient = false;
  options.finds_odd_words = false;
  EXPECT_EQ(ReadText(text, options).Messages().find("unknown"), std::string::npos);
}

TEST(ReadCluster, BooleansInPlaceOfTextAreExplained) {
  EXPECT_EQ(
      ReadText("apiVersion: v1\nkind: Node\nmetadata: {name: n}\n").Messages(),
      "test.yaml:3:18: error: Node: metadata.name: expected text in quotes, got false: YAML "
      "reads n, no, off and false without quotes as a boolean, so write the word in quotes\n");
}

TEST(ReadCluster, BudgetThatCannotBeReadIsNamedWithItsPlace) {
  const std::string messages =
      ReadText(Frame() +
               "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
               "metadata:\n  name: a\n  annotations:\n"
               "    volcano.sh/jdb-max-unavailable: some\n")
          .Messages();
  EXPECT_NE(messages.find("warning: PodGroup default/a: "
                          "metadata.annotations[\"volcano.sh/jdb-max-unavailable\"]: "),
            std::string::npos)
      << messages;
  EXPECT_NE(messages.find("no pod of the job may be evicted by tdm"), std::string::npos) << messages;
}

TEST(ReadCluster, LenientSkipsWrongObjectsAndNamesThem) {
  ReadClusterOptions options;
  options.lenient = true;
  const ReadResult result =
      ReadText(Frame() + Pod("p") + Pod("p", "priority: 3") + Pod("q", "priority: high"), options);
  EXPECT_FALSE(result.diagnostics.HasErrors());
  EXPECT_EQ(result.cluster.tasks.size(), 1u);
  EXPECT_EQ(result.TaskOf("default/p").priority, 1);
  const std::string messages = result.Messages();
  EXPECT_NE(messages.find("warning: Pod default/p: metadata.name: duplicate: there is one of that "
                          "name already, at test.yaml:"),
            std::string::npos)
      << messages;
  EXPECT_NE(messages.find("warning: Pod default/q: spec.priority: expected a whole number, got "
                          "\"high\"; skipped"),
            std::string::npos)
      << messages;
}

TEST(ReadCluster, FiftyProblemsPerFileAreEnough) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += Pod(fmt::format("p{}", i), "priority: high");
  const ReadResult result = ReadText(text);
  ASSERT_EQ(result.diagnostics.items().size(), 51u);
  EXPECT_EQ(ToString(result.diagnostics.items()[50]), "test.yaml: error: … and 10 more errors");
}

TEST(ReadCluster, OtherKindsAreCountedInOneWarning) {
  const ReadResult result = ReadText(
      Object("v1", "Service", "a", "", "") + Object("v1", "Service", "b", "", "") +
      Object("apps/v1", "Deployment", "d", "", "") + Object("batch/v1", "Job", "j", "", "") +
      Object("scheduling.incubator.k8s.io/v1", "PodGroup", "x", "", ""));
  EXPECT_EQ(result.Messages(),
            "warning: kinds that are not used: 1 Deployment, 1 Job.batch, "
            "1 PodGroup.scheduling.incubator.k8s.io, 2 Service\n");
  EXPECT_EQ(result.facts.ignored_kinds.at("Service"), 2);
}

TEST(ReadCluster, ReferencesThatLeadNowhereAreWarnings) {
  const auto in_group = [](std::string_view name, std::string_view group, std::string_view spec) {
    return Object(
        "v1", "Pod", name,
        fmt::format("uid: u-{}, annotations: {{scheduling.k8s.io/group-name: {}}}", name, group),
        fmt::format("spec: {{schedulerName: volcano, {}}}, status: {{phase: Running}}", spec));
  };
  const ReadResult result =
      ReadText(Frame() + in_group("b", "lost", "nodeName: n1") +
               in_group("a", "gone", "nodeName: n1") + in_group("c", "pg", "nodeName: n9") +
               Object("v1", "Pod", "alone", "uid: u", "spec: {schedulerName: volcano}") +
               Object("v1", "Pod", "alone-runs", "uid: v",
                      "spec: {schedulerName: volcano, nodeName: n1}, status: {phase: Running}") +
               Object("v1", "Pod", "done", "uid: w",
                      "spec: {schedulerName: volcano, nodeName: n9}, status: {phase: Succeeded}"));
  EXPECT_EQ(result.Messages(),
            "warning: 2 pod(s) name a PodGroup that does not exist and are not scheduled "
            "(first: default/a)\n"
            "warning: 1 pod(s) name no PodGroup and are not scheduled (first: default/alone)\n"
            "warning: 1 pod(s) are on nodes that do not exist (first: default/c on n9)\n");
  EXPECT_FALSE(result.TaskOf("default/c").node.valid());
  EXPECT_EQ(result.Text(result.TaskOf("default/c").node_name), "n9");
  EXPECT_EQ(result.JobOf("default/pg").Count(TaskStatus::kRunning), 1);
}

TEST(ReadCluster, ErrorsSilenceWarningsAboutReferences) {
  const ReadResult result = ReadText(Queue("default", "weight: -1") + PodGroup("pg") + Pod("p"));
  EXPECT_EQ(result.diagnostics.items().size(), 1u);
}

TEST(ReadCluster, NodesSumUpTheirTasks) {
  const auto pod = [](std::string_view name, std::string_view status, std::string_view meta = "") {
    return Pod(name, "nodeName: n1, containers: [{resources: {requests: {cpu: 1, x.com/g: 1}}}]",
               status, meta);
  };
  const ReadResult result =
      ReadClean(Queue("default") + PodGroup("pg") +
                testing::Node("n1", "cpu: 2500m, memory: 1Gi, pods: 10, x.com/g: 4") +
                pod("runs", "phase: Running") + pod("bound", "phase: Pending") +
                pod("ends", "phase: Running", "deletionTimestamp: \"2026-03-10T08:00:00Z\"") +
                pod("done", "phase: Succeeded") + pod("broke", "phase: Failed") +
                pod("lost",
                    "phase: "
                    "Unknown"));
  const NodeId id = result.FindNode("n1");
  const Cluster& cluster = result.cluster;
  EXPECT_EQ(cluster.used[id].cpu(), 4000);
  EXPECT_EQ(cluster.idle[id].cpu(), -1500);  // more than it has
  EXPECT_EQ(cluster.releasing[id].cpu(), 1000);
  EXPECT_EQ(cluster.pipelined[id].cpu(), 0);
  EXPECT_EQ(result.Amount(cluster.used[id], "pods"), 4);
  EXPECT_EQ(result.Amount(cluster.idle[id], "x.com/g"), 0);
  EXPECT_EQ(cluster.total.cpu(), 2500);
  std::vector<std::string> names;
  for (const TaskId task : cluster.nodes[id].tasks) names.push_back(cluster.TaskKey(task));
  EXPECT_EQ(names, (std::vector<std::string>{"default/bound", "default/ends", "default/lost",
                                             "default/runs"}));
  EXPECT_FALSE(result.TaskOf("default/done").node.valid());
}

TEST(ReadCluster, JobsSumUpTheirTasks) {
  const auto pod = [](std::string_view name, std::string_view role, std::string_view node,
                      std::string_view status, std::string_view cpu, std::string_view meta = "") {
    return Pod(name,
               fmt::format("nodeName: {}, containers: [{{resources: {{requests: {{cpu: {}}}}}}}]",
                           node, cpu),
               status, meta, fmt::format("volcano.sh/task-spec: {}", role));
  };
  constexpr std::string_view kDeleting = "deletionTimestamp: \"2026-03-10T08:00:00Z\"";
  const ReadResult result =
      ReadClean(Queue("default") + testing::Node("n1") +
                PodGroup("pg", "minMember: 2, minTaskMember: {worker: 1, spare: 0}") +
                pod("a", "worker", "n1", "phase: Running", "1") +
                pod("b", "worker", "''", "phase: Pending", "1") +
                pod("c", "master", "''", "phase: Pending", "0") +
                pod("d", "master", "n1", "phase: Running", "1", kDeleting) +
                pod("e", "''", "''", "phase: Pending", "1", kDeleting) +
                pod("f", "worker", "n1", "phase: Succeeded", "1"));
  const Job& job = result.JobOf("default/pg");
  EXPECT_EQ(job.Count(TaskStatus::kRunning), 1);
  EXPECT_EQ(job.Count(TaskStatus::kPending), 2);
  EXPECT_EQ(job.Count(TaskStatus::kReleasing), 2);
  EXPECT_EQ(job.Count(TaskStatus::kSucceeded), 1);
  EXPECT_EQ(job.pending_best_effort, 1);
  EXPECT_EQ(job.releasing_on_node, 1);
  EXPECT_EQ(job.allocated.cpu(), 1000);
  EXPECT_EQ(job.total_request.cpu(), 5000);
  std::map<std::string, const JobRole*> roles;
  for (const JobRole& role : job.roles) roles[result.Text(role.name)] = &role;
  ASSERT_EQ(roles.size(), 4u);
  EXPECT_EQ(roles["worker"]->count[static_cast<size_t>(TaskStatus::kRunning)], 1);
  EXPECT_EQ(roles["worker"]->min_member, 1);
  EXPECT_TRUE(roles["spare"]->in_min_task_member);
  EXPECT_FALSE(roles["master"]->in_min_task_member);
  EXPECT_EQ(roles["master"]->pending_best_effort, 1);
  EXPECT_EQ(job.min_role_total, 1);
  for (const TaskId id : job.tasks) {
    const Task& task = result.cluster.tasks[id];
    EXPECT_EQ(job.roles[task.role_index].name, task.role);
  }
}

TEST(ReadCluster, ClassesForgetLabelsNoSelectorLooksAt) {
  const auto pod = [](std::string_view name, std::string_view labels) {
    return Pod(name, "", "", fmt::format("labels: {{{}}}", labels));
  };
  const std::string pods = Frame() + pod("a", "app: x, index: \"1\"") +
                           pod("b", "app: x, index: \"2\"") + pod("c", "app: z, index: \"3\"");
  const ReadResult plain = ReadClean(pods);
  EXPECT_EQ(plain.cluster.classes.size(), 1u);
  const ReadResult selected = ReadClean(pods + Object("policy/v1", "PodDisruptionBudget", "b", "",
                                                      "spec: {selector: {matchLabels: {app: x}}}"));
  EXPECT_EQ(selected.cluster.classes.size(), 2u);
  EXPECT_EQ(selected.TaskOf("default/a").cls, selected.TaskOf("default/b").cls);
  EXPECT_NE(selected.TaskOf("default/a").cls, selected.TaskOf("default/c").cls);
  EXPECT_NE(selected.TaskOf("default/a").labels, selected.TaskOf("default/b").labels);
}

// Everything that must not depend on the order of the input, in words.
std::string Description(const ReadResult& result) {
  const Cluster& c = result.cluster;
  std::string text;
  for (uint32_t i = 0; i < c.tasks.size(); ++i) {
    const Task& task = c.tasks[TaskId(i)];
    text += fmt::format("task {} job {} node {} class {} request {}\n", c.TaskKey(TaskId(i)),
                        task.job.value, task.node.value, task.cls.value,
                        ToString(c.Request(TaskId(i)), c.kinds));
  }
  for (const JobId id : c.jobs_by_name) {
    text += fmt::format("job {} {}:", id.value, c.JobKey(id));
    for (const TaskId task : c.jobs[id].tasks) text += fmt::format(" {}", task.value);
    for (const JobRole& role : c.jobs[id].roles) text += fmt::format(" {}", result.Text(role.name));
    text += "\n";
  }
  for (const NodeId id : c.nodes_by_name)
    text += fmt::format("node {} {} {} {}\n", id.value, c.NodeName(id),
                        ToString(c.idle[id], c.kinds), c.nodes[id].tasks.size());
  for (const QueueId id : c.queues_by_name) text += fmt::format("queue {}\n", c.QueueName(id));
  for (int kind = 0; kind < c.kinds.size(); ++kind) text += c.kinds.Name(kind) + "\n";
  return text;
}

TEST(ReadCluster, TheOrderOfObjectsDoesNotMatter) {
  std::vector<std::string> objects = {
      Queue("b-queue"),
      Queue("a-queue"),
      testing::Node("n2", "cpu: 8, z.com/x: 5"),
      testing::Node("n1", "cpu: 8, a.com/x: 5, m.com/x: 1"),
      PodGroup("pg", "queue: a-queue, minTaskMember: {zed: 1, abc: 1}"),
      PodGroup("pg", "queue: b-queue", "namespace: team"),
      PodGroup("pg", "queue: b-queue", "namespace: team-a")};
  for (int i = 0; i < 8; ++i) {
    const char* ns = i % 3 == 0 ? "default" : i % 3 == 1 ? "team" : "team-a";
    const std::string requests = i % 2 == 0 ? "z.com/x: 1" : "a.com/x: 1, cpu: 1";
    objects.push_back(Pod(fmt::format("p-{}", i),
                          fmt::format("{}, containers: [{{resources: {{requests: {{{}}}}}}}]",
                                      i % 4 == 0 ? "nodeName: n1" : "nodeName: ''", requests),
                          i % 4 == 0 ? "phase: Running" : "phase: Pending",
                          fmt::format("namespace: {}, labels: {{k{}: v}}", ns, i),
                          fmt::format("volcano.sh/task-spec: r{}", i % 2)));
  }
  const auto join = [&] {
    std::string text;
    for (const std::string& object : objects) text += object;
    return text;
  };
  const std::string expected = Description(ReadClean(join()));
  EXPECT_NE(expected.find("job 0 default/pg"), std::string::npos);
  // "team-a/pg" stands before "team/pg": the slash counts.
  EXPECT_NE(expected.find("job 1 team-a/pg"), std::string::npos) << expected;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(objects.begin(), objects.end(), random);
    EXPECT_EQ(Description(ReadClean(join())), expected);
  }
}

TEST(ReadCluster, ReadsJsonListsAndSaysWhere) {
  const ReadResult result = ReadText(
      "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n"
      "  {\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n1\"}},\n"
      "  {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"},\n"
      "   \"spec\": {\"priority\": \"high\"}}\n]}\n");
  EXPECT_EQ(result.Messages(),
            "test.yaml:4:25: error: Pod default/p: spec.priority: expected a whole number, got "
            "\"high\"\n");
}

TEST(ReadCluster, VolcanoJobsBecomePodGroupsAndPods) {
  const std::string job = Object(
      "batch.volcano.sh/v1alpha1", "Job", "train", "uid: j1",
      "spec: {schedulerName: volcano, minAvailable: 2, queue: default, priorityClassName: high, "
      "tasks: [{name: worker, replicas: 2, template: {spec: {containers: [{name: c, image: i, "
      "resources: {requests: {cpu: 1}}}]}}}]}");
  const std::string frame =
      Queue("default") + testing::Node("n1") +
      Object("scheduling.k8s.io/v1", "PriorityClass", "high", "", "value: 100");
  const ReadResult result = ReadText(frame + job);
  EXPECT_FALSE(result.diagnostics.HasErrors()) << result.Messages();
  ASSERT_EQ(result.cluster.jobs.size(), 1u) << result.Messages();
  EXPECT_EQ(result.cluster.jobs[JobId(0)].priority, 100);
  ASSERT_EQ(result.cluster.tasks.size(), 2u);
  const Task& task = result.TaskOf("default/train-worker-1");
  EXPECT_TRUE(task.job.valid());
  EXPECT_EQ(task.pod_priority, 100);
  EXPECT_EQ(task.name_index, 1);
  EXPECT_EQ(result.RequestOf("default/train-worker-1").cpu(), 1000);
}

TEST(ReadCluster, WrittenObjectsStandBeforeThoseMadeFromAJob) {
  const std::string job = Object(
      "batch.volcano.sh/v1alpha1", "Job", "train", "uid: j1",
      "spec: {schedulerName: volcano, minAvailable: 1, queue: default, tasks: [{name: worker, "
      "replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}]}");
  const std::string written =
      Object("v1", "Pod", "train-worker-0", "uid: w0",
             "spec: {schedulerName: volcano, nodeName: n1}, status: {phase: Running}");
  const std::string frame = Queue("default") + testing::Node("n1");
  for (const std::string& text : {frame + job + written, frame + written + job}) {
    const ReadResult result = ReadText(text);
    EXPECT_FALSE(result.diagnostics.HasErrors()) << result.Messages();
    EXPECT_EQ(result.cluster.tasks.size(), 2u);
    EXPECT_EQ(result.TaskOf("default/train-worker-0").status, TaskStatus::kRunning);
    EXPECT_EQ(result.Text(result.TaskOf("default/train-worker-0").uid), "w0");
    EXPECT_EQ(result.TaskOf("default/train-worker-1").status, TaskStatus::kPending);
  }
  EXPECT_TRUE(ReadText(frame + job + job).diagnostics.HasErrors());
}

}  // namespace
}  // namespace krafla
