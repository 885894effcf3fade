// Objects that are in the input and in no table of the cluster: explained, not denied.
#include <gtest/gtest.h>

#include "app/explain_command.h"
#include "explain/explain_support.h"

namespace krafla::testing {
namespace {

struct Told {
  int code = 0;
  std::string out;
  std::string err;
};

Told Tell(const std::string& cluster, const std::string& kind, const std::string& name) {
  ExplainCommandOptions options{.kind = kind,
                                .name = name,
                                .cluster = {"-"},
                                .config = {},
                                .now = "2026-03-10T12:00:00Z",
                                .compatibility = {}};
  std::stringstream in(cluster);
  std::stringstream out;
  std::stringstream err;
  const int code = ExplainCommand(options, in, out, err);
  return {code, out.str(), err.str()};
}

std::string WithoutItsQueue() {
  return NodeYaml() + QueueYaml({.name = "red"}) + PodGroupYaml({.queue = "reed"}) + PodYaml();
}

// A pod that names another scheduler.
std::string PodOfAnother(const std::string& name, const std::string& node = "") {
  std::string pod = PodYaml({.name = name, .node = node});
  const std::string ours = "schedulerName: volcano";
  return pod.replace(pod.find(ours), ours.size(), "schedulerName: default-scheduler");
}

TEST(ExplainLeftOut, JobWhoseQueueDoesNotExist) {
  const Told told = Tell(WithoutItsQueue(), "job", "default/job");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out,
            "default/job waits: its queue \"reed\" does not exist; did you mean \"red\"?\n"
            "  the PodGroup and its 1 pod are left out of every cycle until its queue is there\n");
}

TEST(ExplainLeftOut, JobWithoutQueueWhereThereIsNoDefaultOne) {
  std::string cluster = NodeYaml() + QueueYaml({.name = "red"}) + PodGroupYaml({.queue = "''"});
  const Told told = Tell(cluster, "job", "default/job");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(told.out.starts_with("default/job waits: its queue \"default\" does not exist.\n"))
      << told.out;
  EXPECT_NE(told.out.find("it names none"), std::string::npos) << told.out;
}

TEST(ExplainLeftOut, PodOfAJobWhoseQueueDoesNotExist) {
  const Told told = Tell(WithoutItsQueue(), "pod", "default/job-0");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out,
            "default/job-0 waits: queue \"reed\" of its PodGroup default/job does not exist; did "
            "you mean \"red\"?\n");
}

TEST(ExplainLeftOut, PodWhosePodGroupDoesNotExist) {
  const Told told = Tell(NodeYaml() + QueueYaml() + PodYaml(), "pod", "default/job-0");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(
      told.out.starts_with("default/job-0 waits: its PodGroup default/job does not exist.\n"))
      << told.out;
}

TEST(ExplainLeftOut, PodGroupThatOnlyPodsKnowOf) {
  const std::string pods = PodYaml() + PodYaml({.name = "job-1"}) +
                           PodYaml({.name = "job-2", .node = "n1"}) +
                           PodYaml({.name = "other-0", .group = "other"});
  const Told told = Tell(NodeYaml() + QueueYaml() + pods, "job", "default/job");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out,
            "PodGroup default/job does not exist, and 3 pods name it.\n"
            "  2 pods wait for it: default/job-0, default/job-1\n"
            "  1 pod has no more to be placed: default/job-2\n"
            "  to create it: {apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: "
            "{namespace: default,\n"
            "  name: job}, spec: {minMember: 1, queue: default}}; set minMember to the smallest "
            "number of "
            "pods that can\n"
            "  work\n");
  // One that is almost called so.
  const Told near =
      Tell(NodeYaml() + QueueYaml() + PodGroupYaml({.name = "jobs"}) + pods, "job", "default/job");
  EXPECT_NE(near.out.find("there is a PodGroup default/jobs: if that is meant, name it in the"),
            std::string::npos)
      << near.out;
  // Nobody knows of this one.
  EXPECT_EQ(Tell(NodeYaml() + QueueYaml() + pods, "job", "default/none").code, 2);
}

// A pod that names no PodGroup, and perhaps a queue.
std::string BarePod(const std::string& metadata, const std::string& node = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: bare" +
         (metadata.empty() ? "" : ", " + metadata) + "}, spec: {schedulerName: volcano, " +
         (node.empty() ? "" : "nodeName: " + node + ", ") +
         "containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n";
}

constexpr const char* kOwnGroup =
    "  it names no PodGroup: krafla serve schedules it as a singleton PodGroup, in the queue that\n"
    "  scheduling.volcano.sh/queue-name names, else in \"default\"; where Volcano's controllers "
    "are "
    "seen it waits for\n"
    "  theirs (--group-of-one)\n";

TEST(ExplainLeftOut, PodWithoutPodGroupWhoseQueueDoesNotExist) {
  const std::string answer =
      "default/bare waits: its queue \"reed\" does not exist; did you mean \"red\"?\n";
  for (const char* says : {"annotations: {scheduling.volcano.sh/queue-name: reed}",
                           "labels: {scheduling.volcano.sh/queue-name: reed}",
                           "labels: {scheduling.volcano.sh/queue-name: red}, annotations: "
                           "{scheduling.volcano.sh/queue-name: reed}"})
    for (const auto& [kind, name] :
         {std::pair("pod", "default/bare"), std::pair("job", "default/bare"),
          std::pair("job", "default/pod:bare")}) {
      const Told told = Tell(NodeYaml() + QueueYaml({.name = "red"}) + BarePod(says), kind, name);
      EXPECT_EQ(told.code, 0) << told.err;
      EXPECT_EQ(told.out, answer + kOwnGroup) << kind << " " << name << " " << says;
    }
  // It names none, and there is no default one.
  const Told told =
      Tell(NodeYaml() + QueueYaml({.name = "red"}) + BarePod(""), "pod", "default/bare");
  EXPECT_TRUE(told.out.starts_with("default/bare waits: its queue \"default\" does not exist.\n"))
      << told.out;
}

TEST(ExplainLeftOut, PodWithoutPodGroupWhoseQueueExists) {
  const std::string cluster = NodeYaml() + QueueYaml({.name = "default"});
  for (const char* kind : {"pod", "job"}) {
    const Told waits = Tell(cluster + BarePod(""), kind, "default/bare");
    EXPECT_EQ(waits.out,
              std::string("default/bare waits: it names no PodGroup, and a cycle places pods of "
                          "PodGroups.\n") +
                  kOwnGroup);
    const Told runs = Tell(cluster + BarePod("", "n1"), kind, "default/bare");
    EXPECT_EQ(runs.code, 0) << runs.err;
    EXPECT_TRUE(runs.out.starts_with("default/bare belongs to no PodGroup")) << runs.out;
  }
  EXPECT_EQ(Tell(cluster + BarePod(""), "job", "default/bear").code, 2);
}

TEST(ExplainLeftOut, PodOfAnotherScheduler) {
  const std::string cluster =
      NodeYaml() + QueueYaml() + PodGroupYaml() + PodOfAnother("job-0") + PodYaml({.name = "x"});
  const Told told = Tell(cluster, "pod", "default/job-0");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(
      told.out.starts_with("default/job-0 waits for another scheduler: its schedulerName "
                           "is not volcano.\n"))
      << told.out;
  // The pod beside it is none of the sort, and one that is not in the input stays unknown.
  EXPECT_EQ(Tell(cluster, "pod", "default/x").out.find("another scheduler"), std::string::npos);
  EXPECT_EQ(Tell(cluster, "pod", "default/job-1").code, 2);
}

TEST(ExplainLeftOut, JobWhosePodsNameAnotherScheduler) {
  const Told told = Tell(NodeYaml() + QueueYaml() + PodGroupYaml({.min_member = 2}) +
                             PodOfAnother("job-0") + PodOfAnother("job-1"),
                         "job", "default/job");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(
      told.out.starts_with("default/job waits: 0 of the 2 pods of minMember are there "
                           "(NotEnoughTasks).\n"))
      << told.out;
  EXPECT_NE(told.out.find("2 of its pods name another scheduler"), std::string::npos) << told.out;
}

TEST(ExplainLeftOut, PlacedPodsOfAnotherSchedulerAreInTheTables) {
  const Told told = Tell(NodeYaml() + QueueYaml() + PodGroupYaml() + PodOfAnother("job-0", "n1"),
                         "job", "default/job");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(told.out.starts_with("default/job waits for nothing.\n")) << told.out;
  EXPECT_EQ(told.out.find("another scheduler"), std::string::npos) << told.out;
}

TEST(ExplainLeftOut, JobWhosePriorityClassDoesNotExist) {
  const std::string rest = PriorityClassesYaml() + NodeYaml() + QueueYaml() + PodYaml();
  const Told told = Tell(rest + PodGroupYaml({.priority = "hihg"}), "job", "default/job");
  EXPECT_EQ(told.code, 0) << told.err;
  std::string words = told.out;  // as one line
  for (size_t at = 0; (at = words.find("\n", at)) != std::string::npos;)
    words.replace(at, words.find_first_not_of(" \n", at) - at, " ");
  EXPECT_NE(words.find("PriorityClass \"hihg\" does not exist (did you mean \"high\"?)"),
            std::string::npos)
      << told.out;
  const Told right = Tell(rest + PodGroupYaml({.priority = "high"}), "job", "default/job");
  EXPECT_EQ(right.out.find("PriorityClass"), std::string::npos) << right.out;
}

TEST(ExplainLeftOut, ThePodGroupToCreateIsYamlWhateverItsName) {
  for (const auto& [name, written] :
       {std::pair{"123", "name: \"123\""}, {"true", "name: \"true\""}, {"jobs", "name: jobs"}}) {
    const Told told =
        Tell(NodeYaml() + QueueYaml() + PodYaml({.group = name}), "pod", "default/job-0");
    EXPECT_NE(told.out.find(written), std::string::npos) << told.out;
  }
}

}  // namespace
}  // namespace krafla::testing
