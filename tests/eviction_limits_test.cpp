// The eviction limits of a loop: what waits, until when, and what a reload has to announce.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/read_cluster.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kTiers = R"(
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
)";
constexpr std::string_view kPreempts = "actions: \"enqueue, allocate, preempt\"";
constexpr std::string_view kAllocates = "actions: \"enqueue, allocate\"";

struct Evictions final : DecisionSink {
  std::vector<std::string> pods;
  std::string why;  // the last job by name waits
  void OnCycle(Session& session, const std::vector<JobPhaseChange>&) override {
    pods.clear();
    const Cluster& c = session.cluster;
    for (const Eviction& eviction : session.plan.evictions)
      pods.push_back(c.TaskKey(eviction.task).substr(8));
    std::ranges::sort(pods);
    why = session.eviction_limit.WhyHeldBack(c.jobs_by_name.back());
  }
};

class EvictionLimitsTest : public ::testing::Test {
 protected:
  static SchedulerConfig Config(std::string_view actions, std::string_view limits) {
    Diagnostics diagnostics;
    SchedulerConfig config =
        ReadSchedulerConfig(fmt::format("{}\neviction-limits: {}{}", actions, limits, kTiers),
                            BuiltInVocabulary(), {.file_name = "test"}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
    return config;
  }
  // Three nodes with a pod of low priority each.
  void Start(std::string_view limits, std::string_view actions = kPreempts) {
    loop.emplace(live, Config(actions, limits), TimeZone(), log);
    loop->SetSteadyClock([this] { return steady_ns; });
    loop->CompareWithFreshSessions();
    Apply(QueueYaml() + PriorityClassesYaml());
    for (int i = 0; i < 3; ++i)
      Apply(NodeYaml({.name = fmt::format("n{}", i), .has = "cpu 1, memory 64Gi, pods 110"}) +
            PodGroupYaml({.name = fmt::format("low{}", i), .min_member = 0, .priority = "low"}) +
            Low(i));
  }
  static std::string Low(int i) {
    return PodYaml({.name = fmt::format("low{}-0", i),
                    .group = fmt::format("low{}", i),
                    .node = fmt::format("n{}", i)});
  }
  void High(const std::string& name, int pods) {
    Apply(PodGroupYaml({.name = name, .min_member = pods, .priority = "high"}));
    for (int i = 0; i < pods; ++i)
      Apply(PodYaml({.name = fmt::format("{}-{}", name, i), .group = name}));
  }
  void Apply(const std::string& yaml) {
    Diagnostics diagnostics;
    ReadTextInto(live, yaml, "test.yaml", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  }
  static Timestamp At(double seconds) {
    return {1'773'144'000'000'000'000 + static_cast<int64_t>(seconds * 1e9)};
  }
  // The pods that the cycle evicts.
  std::vector<std::string> Cycle(double seconds) {
    steady_ns = static_cast<int64_t>(seconds * 1e9);
    evictions.pods.clear();
    loop->RunCycle(At(seconds), evictions);
    return evictions.pods;
  }

  LiveCluster live{BuildOptions{}};
  Log log{0};
  std::optional<SchedulingLoop> loop;
  Evictions evictions;
  int64_t steady_ns = 0;
};

TEST_F(EvictionLimitsTest, EvictionsBeyondTheLimitOfAMinuteWaitUntilItIsOver) {
  Start("{per-minute: 2}");
  for (const char* name : {"high-a", "high-b", "high-c"}) High(name, 1);
  EXPECT_EQ(Cycle(0).size(), 2u);
  EXPECT_TRUE(loop->held_back().on);
  EXPECT_EQ(loop->held_back().evictions, 1);
  EXPECT_EQ(loop->held_back().at, At(60));
  EXPECT_EQ(loop->held_back().limits, "2 evictions a minute");
  EXPECT_EQ(loop->next_timer(), At(60));
  EXPECT_EQ(Cycle(30).size(), 0u);
  EXPECT_EQ(Cycle(59.9).size(), 0u);
  EXPECT_EQ(Cycle(60).size(), 1u);
  EXPECT_EQ(loop->held_back().evictions, 0);
  EXPECT_EQ(loop->held_back().at, std::nullopt);
}

TEST_F(EvictionLimitsTest, TheLimitOfACycleHoldsForAllCyclesOfASchedulePeriod) {
  Start("{per-cycle: 1}");
  for (const char* name : {"high-a", "high-b", "high-c"}) High(name, 1);
  EXPECT_EQ(Cycle(0).size(), 1u);
  EXPECT_EQ(loop->next_timer(), At(1));
  EXPECT_EQ(Cycle(0.5).size(), 0u);
  EXPECT_EQ(Cycle(1).size(), 1u);
  EXPECT_EQ(Cycle(2).size(), 1u);
}

TEST_F(EvictionLimitsTest, AGangThatNeedsMoreThanTheLimitNeverEvictsAndSaysWhy) {
  Start("{per-cycle: 1}");
  High("z-gang", 2);
  EXPECT_EQ(Cycle(0).size(), 0u);
  EXPECT_EQ(evictions.why,
            "it needs 2 evictions at once, more than the limit of 1 evictions a cycle ever allows");
  EXPECT_EQ(loop->held_back().evictions, 0) << "the limit is not reached";
  EXPECT_EQ(loop->held_back().at, std::nullopt) << "waiting does not help";
  EXPECT_EQ(loop->held_back().never,
            std::vector<std::string>{"PodGroup default/z-gang never evicts: " + evictions.why});
  // Beside one that waits.
  High("high-a", 1);
  High("high-b", 1);
  EXPECT_EQ(Cycle(1).size(), 1u);
  EXPECT_GT(loop->held_back().evictions, 0);
  EXPECT_EQ(loop->held_back().at, At(2));
  EXPECT_EQ(loop->held_back().never.size(), 1u);
}

TEST_F(EvictionLimitsTest, ADrainOfMorePodsThanTheLimitWaitsForTheNextCycle) {
  Diagnostics diagnostics;
  loop.emplace(live,
               ReadSchedulerConfig(
                   "actions: \"allocate, shuffle\"\neviction-limits: {per-cycle: 1}\ntiers:\n"
                   "- plugins:\n  - name: tdm\n    arguments: {tdm.revocable-zone.rz1: "
                   "\"00:00-00:01\"}\n",
                   BuiltInVocabulary(), {.file_name = "test"}, diagnostics),
               TimeZone(), log);
  for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  const Texts marks{{"volcano.sh/preemptable", "true"}, {"volcano.sh/jdb-max-unavailable", "100%"}};
  Apply(QueueYaml() + NodeYaml({.zone = "rz1"}) +
        PodGroupYaml({.name = "low", .min_member = 0, .annotations = marks}));
  for (const char* name : {"low-0", "low-1", "low-2"})
    Apply(PodYaml({.name = name, .group = "low", .node = "n1", .annotations = marks}));
  EXPECT_EQ(Cycle(0).size(), 1u);
  EXPECT_EQ(loop->held_back().evictions, 2);
  EXPECT_TRUE(loop->held_back().at);
  EXPECT_TRUE(loop->held_back().never.empty());
}

TEST_F(EvictionLimitsTest, AStepOfTheWallClockAllowsNoFurtherEviction) {
  Start("{per-minute: 1}");
  High("high-a", 1);
  High("high-b", 1);
  EXPECT_EQ(Cycle(0).size(), 1u);
  steady_ns += 1'000'000'000;
  evictions.pods.clear();
  loop->RunCycle(At(3600), evictions);
  EXPECT_EQ(evictions.pods.size(), 0u);
  EXPECT_EQ(loop->held_back().at, At(3659));
}

TEST_F(EvictionLimitsTest, ARefusedEvictionDoesNotCount) {
  Start("{per-minute: 1}");
  High("high-a", 1);
  High("high-b", 1);
  const std::vector<std::string> first = Cycle(0);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(Cycle(1).size(), 0u);
  Apply(Low(first[0][3] - '0'));  // it runs as before
  EXPECT_EQ(Cycle(2).size(), 1u);
}

TEST_F(EvictionLimitsTest, AReloadThatWouldEvictMoreThanTheLimitIsAnnouncedAMinuteAhead) {
  Start("{per-minute: 2}", kAllocates);
  for (const char* name : {"high-a", "high-b", "high-c"}) High(name, 1);
  EXPECT_EQ(Cycle(0).size(), 0u);
  loop->SetConfig(Config(kPreempts, "{per-minute: 2}"));
  EXPECT_EQ(Cycle(10).size(), 0u);
  const std::optional<SchedulingLoop::Announcement> announcement = loop->TakeAnnouncement();
  ASSERT_TRUE(announcement);
  EXPECT_EQ(announcement->evictions, 3u);
  EXPECT_EQ(announcement->allowed, 2);
  EXPECT_EQ(announcement->begins, At(70));
  EXPECT_TRUE(loop->held_back().announced);
  EXPECT_EQ(loop->next_timer(), At(70));
  EXPECT_EQ(Cycle(69).size(), 0u);
  EXPECT_EQ(Cycle(70).size(), 2u) << "within the limit";
  EXPECT_FALSE(loop->TakeAnnouncement());
}

TEST_F(EvictionLimitsTest, AReloadWithinTheLimitsEvictsAtOnce) {
  Start("{per-minute: 3}", kAllocates);
  for (const char* name : {"high-a", "high-b", "high-c"}) High(name, 1);
  EXPECT_EQ(Cycle(0).size(), 0u);
  loop->SetConfig(Config(kPreempts, "{per-minute: 3}"));
  EXPECT_EQ(Cycle(10).size(), 3u);
  EXPECT_FALSE(loop->TakeAnnouncement());
}

TEST_F(EvictionLimitsTest, AReloadThatTakesTheAnnouncedEvictionsBackEndsTheWait) {
  Start("{per-minute: 1}", kAllocates);
  for (const char* name : {"high-a", "high-b"}) High(name, 1);
  EXPECT_EQ(Cycle(0).size(), 0u);
  loop->SetConfig(Config(kPreempts, "{per-minute: 1}"));
  EXPECT_EQ(Cycle(1).size(), 0u);
  EXPECT_TRUE(loop->TakeAnnouncement());
  loop->SetConfig(Config(kAllocates, "{per-minute: 1}"));
  EXPECT_EQ(Cycle(2).size(), 0u);
  EXPECT_EQ(loop->held_back().evictions, 0);
  EXPECT_FALSE(loop->held_back().announced);
}

}  // namespace
}  // namespace krafla::testing
