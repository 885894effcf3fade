#include "scheduler/scheduling_loop.h"

#include <gtest/gtest.h>

#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"
#include "support/tiny_cluster.h"

namespace krafla {
namespace {

using testing::NodeYaml;
using testing::PodGroupYaml;
using testing::PodYaml;
using testing::PriorityClassesYaml;
using testing::QueueYaml;

constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

struct Decisions final : DecisionSink {
  std::vector<std::string> lines;
  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override {
    const Cluster& c = session.cluster;
    for (const JobPhaseChange& change : phases)
      lines.push_back(c.JobKey(change.job) + " " + std::string(ToString(change.before)) + " -> " +
                      std::string(ToString(change.after)));
    for (const Bind& bind : session.plan.binds)
      lines.push_back(c.TaskKey(bind.task) + " on " + std::string(c.NodeName(bind.node)));
    for (const Eviction& e : session.plan.evictions)
      lines.push_back(c.TaskKey(e.task) + " goes for " + c.TaskKey(e.for_task));
  }
  std::vector<std::string> Take() { return std::exchange(lines, {}); }
};

class SchedulingLoopTest : public ::testing::Test {
 protected:
  SchedulingLoopTest() {
    Diagnostics diagnostics;
    SchedulerConfig config =
        ReadSchedulerConfig(kConfig, BuiltInVocabulary(), {.file_name = "test"}, diagnostics);
    EXPECT_FALSE(diagnostics.HasErrors());
    loop.emplace(live, std::move(config), TimeZone(), log);
  }
  void Apply(const std::string& yaml) {
    Diagnostics diagnostics;
    ReadTextInto(live, yaml, "test.yaml", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  }
  std::vector<std::string> Cycle() {
    loop->RunCycle(Timestamp::FromUnixSeconds(++seconds), decisions);
    return decisions.Take();
  }
  bool Due() { return loop->IsDue(Timestamp::FromUnixSeconds(seconds + 1)); }

  using Lines = std::vector<std::string>;
  LiveCluster live{BuildOptions{}};
  Log log{0};
  std::optional<SchedulingLoop> loop;
  Decisions decisions;
  int64_t seconds = 1'700'000'000;
};

TEST_F(SchedulingLoopTest, DecisionsCountUntilTheClusterSaysOtherwise) {
  Apply(QueueYaml() + PriorityClassesYaml() + NodeYaml({.has = "cpu 2, memory 8Gi, pods 10"}) +
        PodGroupYaml({.name = "low", .min_member = 1, .priority = "low", .phase = "Pending"}) +
        PodYaml({.name = "low-0", .group = "low"}) + PodYaml({.name = "low-1", .group = "low"}));
  EXPECT_TRUE(Due());
  EXPECT_EQ(Cycle(), (Lines{"default/low Pending -> Inqueue", "default/low-0 on n1",
                            "default/low-1 on n1"}));
  // What it decided itself is a change, and leads to nothing more.
  EXPECT_TRUE(Due());
  EXPECT_EQ(Cycle(), Lines{});
  EXPECT_FALSE(Due());
  EXPECT_EQ(live.cluster().idle[NodeId(0)].cpu(), 0);

  Apply(PodYaml({.name = "low-0", .group = "low", .node = "n1"}) +
        PodYaml({.name = "low-1", .group = "low", .node = "n1"}));
  EXPECT_EQ(Cycle(), (Lines{"default/low Inqueue -> Running"}));

  Apply(PodGroupYaml({.name = "high", .priority = "high"}) +
        PodYaml({.name = "high-0", .group = "high"}));
  const Lines evicted = Cycle();
  ASSERT_EQ(evicted.size(), 1u);
  EXPECT_TRUE(evicted[0].ends_with("goes for default/high-0")) << evicted[0];
  // The place is being freed: nobody else is evicted for the same pod, cycle after cycle.
  EXPECT_EQ(Cycle(), Lines{});
  EXPECT_FALSE(Due());
  const TaskId high = live.cluster().jobs[live.cluster().jobs_by_name[0]].tasks[0];
  EXPECT_EQ(live.cluster().TaskKey(high), "default/high-0");
  EXPECT_EQ(live.cluster().tasks[high].status, TaskStatus::kPending) << "marks are taken back";

  const std::string victim = evicted[0].substr(0, evicted[0].find(' '));
  live.RemovePod(live.strings().Intern("default"), live.strings().Intern(victim.substr(8)));
  EXPECT_TRUE(Due());
  EXPECT_EQ(Cycle(), (Lines{"default/high-0 on n1"}));
}

TEST_F(SchedulingLoopTest, ANewConfigurationIsAReasonToLookAgain) {
  Apply(QueueYaml() + NodeYaml());
  Cycle();
  EXPECT_FALSE(Due());
  loop->SetConfig(loop->config());
  EXPECT_TRUE(Due());
}

}  // namespace
}  // namespace krafla
