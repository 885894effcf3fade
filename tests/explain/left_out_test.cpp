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
  EXPECT_EQ(told.out, "default/job-0 waits: its PodGroup default/job does not exist.\n");
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
      told.out.starts_with("default/job waits: 0 of the 2 pods of minAvailable are there "
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

}  // namespace
}  // namespace krafla::testing
