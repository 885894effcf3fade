// Pods beyond a job's minMember wait for the jobs of a burst, in a loop whose cycles follow changes
// within milliseconds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "manifest/read_cluster.h"
#include "record/memory_json.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

constexpr int64_t kMs = 1'000'000;

struct Binds final : DecisionSink {
  std::vector<std::string> pods;  // of the last cycle
  std::string why;                // job a waits
  size_t evictions = 0;           // of all cycles
  void OnCycle(Session& session, const std::vector<JobPhaseChange>&) override {
    const Cluster& c = session.cluster;
    pods.clear();
    evictions += session.plan.evictions.size();
    for (const Bind& bind : session.plan.binds) pods.emplace_back(c.Text(c.tasks[bind.task].name));
    std::ranges::sort(pods);
    why.clear();
    for (const JobId job : c.jobs_by_name)
      if (c.JobKey(job) == "default/a") why = session.surplus_wait.Why(job);
  }
};

class SurplusWaitTest : public ::testing::Test {
 protected:
  using Pods = std::vector<std::string>;

  explicit SurplusWaitTest(bool follows_changes = true, std::string_view config = kConfig) {
    Diagnostics diagnostics;
    loop.emplace(
        live, ReadSchedulerConfig(config, BuiltInVocabulary(), {.file_name = "test"}, diagnostics),
        TimeZone(), log);
    EXPECT_FALSE(diagnostics.HasErrors());
    loop->SetSchedulePeriod(1000 * kMs);
    loop->SetFollowsChanges(follows_changes);
    loop->CompareWithFreshSessions();
    Apply(QueueYaml() + NodeYaml({.has = "cpu 12, memory 64Gi, pods 110"}));
    At(0);
  }
  void Apply(const std::string& yaml) {
    Diagnostics diagnostics;
    ReadTextInto(live, yaml, "test.yaml", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  }
  void Group(const std::string& name, int min_member) {
    Apply(PodGroupYaml({.name = name, .min_member = min_member, .phase = "Pending"}));
  }
  void CreatePods(const std::string& group, int first, int last) {
    for (int i = first; i <= last; ++i)
      Apply(PodYaml({.name = fmt::format("{}-{:02}", group, i), .group = group}));
  }
  // A cycle so many milliseconds after the start.
  Pods At(int64_t ms) {
    binds.pods.clear();
    loop->RunCycle(Time(ms), binds);
    return binds.pods;
  }
  static Timestamp Time(int64_t ms) { return {1'700'000'000'000 * kMs + ms * kMs}; }

  LiveCluster live{BuildOptions{}};
  Log log{0};
  std::optional<SchedulingLoop> loop;
  Binds binds;
};

TEST_F(SurplusWaitTest, EachJobOfABurstGetsItsMinimumBeforeAnyGetsMore) {
  for (const char* name : {"a", "b", "c"}) Group(name, 2);
  EXPECT_EQ(At(10), Pods{});
  CreatePods("a", 0, 11);
  EXPECT_EQ(At(20), (Pods{"a-00", "a-01"}));
  CreatePods("b", 0, 11);
  EXPECT_EQ(At(30), (Pods{"b-00", "b-01"}));
  CreatePods("c", 0, 11);
  EXPECT_EQ(At(40), (Pods{"c-00", "c-01"}));
  ASSERT_EQ(loop->next_timer(), Time(1010));
  EXPECT_EQ(At(1009), Pods{});
  // As one cycle on all of them decides: in turn.
  EXPECT_EQ(At(1010), (Pods{"a-02", "a-03", "b-02", "b-03", "c-02", "c-03"}));
  EXPECT_EQ(loop->next_timer(), std::nullopt);
}

TEST_F(SurplusWaitTest, JobsOfABurstShareTheRestAtOneInstant) {
  Group("a", 2);
  At(10);
  CreatePods("a", 0, 11);
  EXPECT_EQ(At(100), (Pods{"a-00", "a-01"}));
  Group("b", 2);
  At(300);
  CreatePods("b", 0, 11);
  EXPECT_EQ(At(400), (Pods{"b-00", "b-01"}));
  EXPECT_EQ(loop->next_timer(), Time(1010));
  EXPECT_EQ(At(1010), (Pods{"a-02", "a-03", "a-04", "a-05", "b-02", "b-03", "b-04", "b-05"}));
}

TEST_F(SurplusWaitTest, AJobWhosePodsComeLaterThanThoseOfTheNextSharesTheRestToo) {
  Group("a", 2);
  At(10);
  Group("b", 2);
  At(300);
  CreatePods("b", 0, 11);
  EXPECT_EQ(At(310), (Pods{"b-00", "b-01"}));
  CreatePods("a", 0, 11);
  EXPECT_EQ(At(400), (Pods{"a-00", "a-01"}));
  EXPECT_EQ(loop->next_timer(), Time(1300)) << "b began to wait first";
  EXPECT_EQ(At(1200), Pods{});
  EXPECT_EQ(At(1300), (Pods{"a-02", "a-03", "a-04", "a-05", "b-02", "b-03", "b-04", "b-05"}));
}

TEST_F(SurplusWaitTest, AClockThatIsSetBackNeitherShortensNorLengthensAWait) {
  constexpr int64_t kBackMs = -3'600'000;
  Group("a", 2);
  At(10);
  CreatePods("a", 0, 5);
  EXPECT_EQ(At(20), (Pods{"a-00", "a-01"}));
  loop->ClockWasSet(kBackMs * kMs);
  EXPECT_EQ(At(30 + kBackMs), Pods{});
  EXPECT_EQ(loop->next_timer(), Time(1010 + kBackMs));
  EXPECT_EQ(At(1010 + kBackMs), (Pods{"a-02", "a-03", "a-04", "a-05"}));
}

TEST_F(SurplusWaitTest, AJobThatIsAdmittedAfterThatInstantBeginsABurstOfItsOwn) {
  Group("a", 1);
  At(10);
  CreatePods("a", 0, 1);
  EXPECT_EQ(At(20), (Pods{"a-00"}));
  EXPECT_EQ(At(1010), (Pods{"a-01"}));
  Group("b", 1);
  At(1100);
  CreatePods("b", 0, 1);
  EXPECT_EQ(At(1200), (Pods{"b-00"}));
  EXPECT_EQ(loop->next_timer(), Time(2100));
  EXPECT_EQ(At(2100), (Pods{"b-01"}));
}

// The plugin of the first tier that says which jobs starve does not look at minMember.
constexpr std::string_view kReclaimConfig = R"(
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
- plugins:
  - name: conformance
  - name: predicates
  - name: nodeorder
)";

class ReclaimingBurst : public SurplusWaitTest {
 protected:
  ReclaimingBurst() : SurplusWaitTest(true, kReclaimConfig) {}
};

// There is an idle node for them.
TEST_F(ReclaimingBurst, PodsThatWaitForABurstEvictNoOtherPods) {
  Apply(QueueYaml({.name = "other"}) +
        NodeYaml({.name = "full", .has = "cpu 1, memory 64Gi, pods 110"}) +
        PodGroupYaml({.name = "old", .queue = "other", .phase = "Running"}) +
        PodYaml({.name = "old-0", .group = "old", .node = "full"}));
  Group("a", 1);
  At(10);
  CreatePods("a", 0, 3);
  EXPECT_EQ(At(20), (Pods{"a-00"}));
  EXPECT_EQ(binds.evictions, 0u);
  EXPECT_EQ(At(1010), (Pods{"a-01", "a-02", "a-03"}));
  EXPECT_EQ(binds.evictions, 0u);
}

TEST_F(SurplusWaitTest, APodGroupThatComesLaterInTheBurstGetsItsMinimumToo) {
  Group("a", 2);
  At(10);
  CreatePods("a", 0, 11);
  EXPECT_EQ(At(20), (Pods{"a-00", "a-01"}));
  Group("b", 2);
  EXPECT_EQ(At(900), Pods{}) << "its pods do not exist yet";
  CreatePods("b", 0, 0);
  EXPECT_EQ(At(1015), Pods{}) << "of a since 20 ms, because b has 1 of its 2 pods";
  CreatePods("b", 1, 1);
  EXPECT_EQ(At(1018),
            (Pods{"a-02", "a-03", "a-04", "a-05", "a-06", "a-07", "a-08", "a-09", "b-00", "b-01"}))
      << "b is complete, and has no more pods: nothing is left to wait for";
}

TEST_F(SurplusWaitTest, ALonePodIsBoundInTheNextCycleDuringABurst) {
  Group("a", 2);
  Group("b", 2);
  At(10);
  CreatePods("a", 0, 3);
  EXPECT_EQ(At(20), (Pods{"a-00", "a-01"}));
  Group("lone", 1);
  CreatePods("lone", 0, 0);
  EXPECT_EQ(At(30), (Pods{"lone-00"}));
}

TEST_F(SurplusWaitTest, APodOfAPodGroupWithoutMinimumIsBoundInTheNextCycle) {
  Group("b", 2);
  Group("zero", 0);
  At(10);
  CreatePods("zero", 0, 0);
  EXPECT_EQ(At(20), (Pods{"zero-00"}));
}

TEST_F(SurplusWaitTest, AJobThatIsAdmittedWithAllOfItsPodsDoesNotWait) {
  Group("a", 2);
  CreatePods("a", 0, 3);
  EXPECT_EQ(At(10), (Pods{"a-00", "a-01", "a-02", "a-03"}));
}

TEST_F(SurplusWaitTest, APodGroupThatNeverGetsItsPodsDelaysOthersForOneSchedulePeriod) {
  Group("a", 1);
  CreatePods("a", 0, 0);
  EXPECT_EQ(At(10), (Pods{"a-00"}));
  At(5000);
  Group("empty", 3);
  CreatePods("a", 1, 1);
  EXPECT_EQ(At(6000), Pods{});
  EXPECT_EQ(binds.why,
            "pods beyond minMember wait up to 1s: PodGroup default/empty was just admitted and has "
            "0 of its 3 pods");
  EXPECT_EQ(loop->next_timer(), Time(7000));
  CreatePods("a", 2, 2);
  EXPECT_EQ(At(6500), Pods{});
  EXPECT_EQ(At(7000), (Pods{"a-01", "a-02"}));
  EXPECT_EQ(loop->next_timer(), std::nullopt);
  CreatePods("a", 3, 3);
  EXPECT_EQ(At(7010), (Pods{"a-03"})) << "empty still has no pods, and delays no other job again";
}

TEST_F(SurplusWaitTest, APodWaitsForAStreamOfPodGroupsForOneSchedulePeriodInAll) {
  Group("a", 1);
  CreatePods("a", 0, 0);
  At(10);
  CreatePods("a", 1, 1);
  for (int64_t ms = 5000; ms < 6000; ms += 100) {
    Group(fmt::format("empty-{}", ms), 2);
    EXPECT_EQ(At(ms), Pods{}) << ms;
  }
  EXPECT_EQ(loop->next_timer(), Time(6000));
  Group("one-more", 2);
  EXPECT_EQ(At(6000), (Pods{"a-01"}));
  CreatePods("a", 2, 2);
  EXPECT_EQ(At(6500), (Pods{"a-02"})) << "the same stream";
  Group("later", 2);
  CreatePods("a", 3, 3);
  EXPECT_EQ(At(8000), Pods{}) << "another one";
}

TEST_F(SurplusWaitTest, TheReasonNamesTheAdmissionWhereAJobWaitsForABurst) {
  Group("a", 1);
  At(10);
  CreatePods("a", 0, 1);
  EXPECT_EQ(At(20), (Pods{"a-00"}));
  EXPECT_EQ(binds.why,
            "pods beyond minMember wait up to 1s after the admission of their PodGroup: other jobs "
            "of a burst get theirs first");
  EXPECT_EQ(At(1010), (Pods{"a-01"}));
  EXPECT_EQ(binds.why, "");
}

TEST_F(SurplusWaitTest, AClockThatIsSetBackEndsTheWait) {
  Group("a", 1);
  At(5000);
  CreatePods("a", 0, 1);
  EXPECT_EQ(At(5010), (Pods{"a-00"}));
  EXPECT_EQ(At(1000), (Pods{"a-01"}));
}

TEST_F(SurplusWaitTest, TheMemoryOfItIsBounded) {
  for (int i = 0; i < 50; ++i) Group(fmt::format("g-{}", i), 2);
  At(10);
  EXPECT_EQ(loop->memory().admissions.size(), 50u);
  Apply(PodGroupYaml({.name = "last"}));
  At(1010);
  EXPECT_TRUE(loop->memory().admissions.empty());
  EXPECT_TRUE(loop->memory().surplus_waits.empty());
}

TEST_F(SurplusWaitTest, RecordsKeepIt) {
  Group("a", 1);
  Group("b", 2);
  At(10);
  CreatePods("a", 0, 1);
  At(20);
  ASSERT_EQ(loop->memory().surplus_waits.size(), 2u) << "of the burst, and of a";
  ASSERT_EQ(loop->memory().admissions.size(), 2u);
  const Result<CycleMemory> read = MemoryFromJson(MemoryAsJson(loop->memory()));
  ASSERT_TRUE(read);
  EXPECT_TRUE(SameMemory(*read, loop->memory()));
  EXPECT_FALSE(SameMemory(*read, {}));
}

class PacedLoopTest : public SurplusWaitTest {
 protected:
  PacedLoopTest() : SurplusWaitTest(/*follows_changes=*/false) {}
};

TEST_F(PacedLoopTest, NoPodWaitsWhereACycleSeesAWholeSchedulePeriod) {
  Group("a", 1);
  Group("b", 2);
  At(1000);
  CreatePods("a", 0, 3);
  EXPECT_EQ(At(2000), (Pods{"a-00", "a-01", "a-02", "a-03"}));
  EXPECT_TRUE(loop->memory().admissions.empty());
}

}  // namespace
}  // namespace krafla::testing
