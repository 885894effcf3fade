// An eviction that the API refuses is not one: what its cycle remembered of it, for budgets, evict
// periods and cooldowns, is taken back as soon as the pod is said to have its place as before.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manifest/read_cluster.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;

constexpr std::string_view kConfig = R"(
actions: "preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: cdp
    arguments: {cdp.max-evictions: 2, cdp.eviction-period: 10m}
- plugins:
  - name: tdm
    arguments: {tdm.revocable-zone.rz1: "08:00-11:00", tdm.evict.period: 1m}
  - name: predicates
)";

struct Evictions final : DecisionSink {
  Pods pods;
  void OnCycle(Session& session, const std::vector<JobPhaseChange>&) override {
    for (const Eviction& eviction : session.plan.evictions)
      pods.push_back(session.cluster.TaskKey(eviction.task));
  }
};

class RefusedEvictions : public ::testing::Test {
 protected:
  RefusedEvictions() {
    Diagnostics diagnostics;
    loop.emplace(
        live, ReadSchedulerConfig(kConfig, BuiltInVocabulary(), {.file_name = "test"}, diagnostics),
        TimeZone(), log);
    EXPECT_FALSE(diagnostics.HasErrors());
    Apply(QueueYaml() + PriorityClassesYaml());
  }
  void Apply(const std::string& yaml) {
    Diagnostics diagnostics;
    ReadTextInto(live, yaml, "test.yaml", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
  }
  // At noon and so many seconds.
  Pods CycleAt(int second) {
    Evictions evictions;
    loop->RunCycle(At(second), evictions);
    std::sort(evictions.pods.begin(), evictions.pods.end());
    return evictions.pods;
  }
  static Timestamp At(int second) { return Timestamp::FromUnixSeconds(1'773'144'000 + second); }

  // Jobs of low priority with a pod each on nodes of their own; and what "high" waits with.
  void LowJobs(int jobs, int pods_each) {
    for (int job = 0; job < jobs; ++job) {
      const std::string name = "low" + std::to_string(job);
      Apply(NodeYaml({.name = "n-" + name,
                      .has = "cpu " + std::to_string(pods_each) + ", memory 64Gi, pods 110"}) +
            PodGroupYaml({.name = name, .min_member = 0, .priority = "low"}));
      for (int pod = 0; pod < pods_each; ++pod) Low(name, pod);
    }
  }
  void Low(const std::string& job, int pod) {
    const std::string name = job + "-" + std::to_string(pod);
    const std::string yaml = PodYaml({.name = name, .group = job, .node = "n-" + job});
    told["default/" + name] = yaml;
    Apply(yaml);
  }
  void HighPod(const std::string& name, const std::string& asks = "cpu 1, memory 1Gi") {
    Apply(PodGroupYaml({.name = name, .priority = "high"}) +
          PodYaml({.name = name, .group = name, .asks = asks}));
  }
  void GuestsOfClosedZone(int jobs, int pods_each) {
    Apply(NodeYaml({.name = "shared", .has = "cpu 64, memory 64Gi, pods 110", .zone = "rz1"}));
    for (int job = 0; job < jobs; ++job) {
      const std::string name = "guest" + std::to_string(job);
      Apply(PodGroupYaml({.name = name, .min_member = 0}));
      for (int pod = 0; pod < pods_each; ++pod) {
        const std::string pod_name = name + "-" + std::to_string(pod);
        const std::string yaml = PodYaml({.name = pod_name,
                                          .group = name,
                                          .node = "shared",
                                          .annotations = {{"volcano.sh/preemptable", "true"},
                                                          {"volcano.sh/revocable-zone", "*"}}});
        told["default/" + pod_name] = yaml;
        Apply(yaml);
      }
    }
  }
  // The pod has its place as before.
  void Refuse(const std::string& pod) { Apply(told.at(pod)); }
  void Take(const std::string& pod) {
    live.RemovePod(live.strings().Intern("default"), live.strings().Intern(pod.substr(8)));
  }
  size_t TimesOf(const std::string& job) {
    const CycleMemory::JobEvictions* evictions = loop->memory().FindJobEvictions(job);
    return evictions == nullptr ? 0 : evictions->times.size();
  }
  // After what was told has been looked at; nothing is decided by it.
  void Settle(int second) {
    loop->SetConfig(WithoutActions());
    CycleAt(second);
  }
  SchedulerConfig WithoutActions() {
    SchedulerConfig config = loop->config();
    config.actions.clear();
    return config;
  }

  LiveCluster live{BuildOptions{}};
  Log log{0};
  std::optional<SchedulingLoop> loop;
  std::map<std::string, std::string> told;
};

TEST_F(RefusedEvictions, AJobThatWasNotDisturbedIsNotSparedForIt) {
  LowJobs(1, 1);
  HighPod("high");
  for (int second = 0; second < 10; ++second) {
    EXPECT_EQ(CycleAt(second), (Pods{"default/low0-0"})) << second;
    EXPECT_EQ(TimesOf("default/low0"), 1u) << "while it is not known";
    Refuse("default/low0-0");
  }
  // Two that are taken are as many as it may lose.
  EXPECT_EQ(CycleAt(20), (Pods{"default/low0-0"}));
  Take("default/low0-0");
  EXPECT_EQ(CycleAt(21), Pods{});
  Low("low0", 0);
  EXPECT_EQ(TimesOf("default/low0"), 1u);
  EXPECT_EQ(CycleAt(22), (Pods{"default/low0-0"}));
  Take("default/low0-0");
  EXPECT_EQ(CycleAt(23), Pods{});
  Low("low0", 0);
  EXPECT_EQ(CycleAt(24), Pods{});
  EXPECT_EQ(TimesOf("default/low0"), 2u);
}

TEST_F(RefusedEvictions, OneThatWasTakenCountsForTheOthersOfItsCycle) {
  LowJobs(1, 2);
  HighPod("high", "cpu 2, memory 1Gi");
  ASSERT_EQ(CycleAt(0).size(), 2u);
  Refuse("default/low0-1");
  Take("default/low0-0");
  Settle(1);
  EXPECT_EQ(TimesOf("default/low0"), 1u);
  ASSERT_NE(loop->memory().FindJobLoss("default/low0"), nullptr);
  EXPECT_EQ(loop->memory().FindJobLoss("default/low0")->at, At(0));
  EXPECT_TRUE(loop->TakeWithdrawn().empty());
}

TEST_F(RefusedEvictions, WhatWasThereBeforeIsThereAgain) {
  LowJobs(1, 2);
  HighPod("high");
  const Pods first = CycleAt(0);
  ASSERT_EQ(first.size(), 1u);
  Take(first[0]);
  Apply(PodYaml({.name = "high", .group = "high", .node = "n-low0"}));
  HighPod("higher");
  const Pods second = CycleAt(5);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(loop->memory().FindJobLoss("default/low0")->at, At(5));
  Refuse(second[0]);
  Settle(6);
  ASSERT_NE(loop->memory().FindJobLoss("default/low0"), nullptr);
  EXPECT_EQ(loop->memory().FindJobLoss("default/low0")->at, At(0));
  EXPECT_EQ(loop->memory().FindJobLoss("default/low0")->size, 2);
  EXPECT_EQ(TimesOf("default/low0"), 1u);
  EXPECT_EQ(loop->TakeWithdrawn(), (Pods{"default/low0"}));
  EXPECT_TRUE(loop->TakeWithdrawn().empty());
}

// The answers may come in another order than the decisions.
TEST_F(RefusedEvictions, AnEarlierOneThatIsRefusedLaterLeavesNothingBehind) {
  LowJobs(1, 2);
  HighPod("high");
  const Pods first = CycleAt(0);
  HighPod("higher");
  const Pods second = CycleAt(5);
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 1u);
  ASSERT_NE(first, second);
  Refuse(first[0]);
  Settle(6);
  EXPECT_EQ(loop->memory().FindJobLoss("default/low0")->at, At(5));
  Refuse(second[0]);
  Settle(7);
  EXPECT_EQ(loop->memory().FindJobLoss("default/low0"), nullptr);
  EXPECT_EQ(TimesOf("default/low0"), 0u);
}

TEST_F(RefusedEvictions, AZoneOfWhichNobodyWentIsTriedAgainBeforeItsPeriodIsOver) {
  GuestsOfClosedZone(2, 2);
  EXPECT_EQ(CycleAt(0), (Pods{"default/guest0-0", "default/guest1-0"}));
  EXPECT_EQ(CycleAt(10), Pods{}) << "nothing is known yet";
  Refuse("default/guest0-0");
  EXPECT_EQ(CycleAt(11), Pods{}) << "the other one may have gone";
  ASSERT_NE(loop->memory().LastEviction("rz1"), nullptr);
  Refuse("default/guest1-0");
  EXPECT_EQ(CycleAt(12), (Pods{"default/guest0-0", "default/guest1-0"}));
  Take("default/guest0-0");
  Refuse("default/guest1-0");
  EXPECT_EQ(CycleAt(13), Pods{}) << "one went";
  EXPECT_EQ(CycleAt(72), Pods{}) << "more than a minute has to pass";
  EXPECT_EQ(CycleAt(73), (Pods{"default/guest0-1", "default/guest1-0"}));
}

TEST_F(RefusedEvictions, JobsThatEvictEachOtherAreNamedWhenTheLastEvictionIsTaken) {
  LowJobs(1, 1);
  const auto evict = [&](int second, const std::string& pod, bool is_taken) {
    EXPECT_EQ(CycleAt(second), Pods{pod}) << second;
    if (is_taken) loop->EvictionTaken(pod);
    return loop->TakeEvictionRings();
  };
  const auto turn = [&](const std::string& in, const std::string& out) {
    Take("default/" + out);
    live.RemovePodGroup(live.strings().Intern("default"), live.strings().Intern(out));
    Apply(PodGroupYaml({.name = in, .min_member = 0, .priority = "low"}) +
          PodYaml({.name = in, .group = in, .node = "n-low0"}) +
          PodGroupYaml({.name = out, .priority = "high"}) + PodYaml({.name = out, .group = out}));
  };
  Take("default/low0-0");
  turn("a", "b");
  EXPECT_TRUE(evict(0, "default/a", true).empty());
  turn("b", "a");
  EXPECT_TRUE(evict(10, "default/b", true).empty());
  turn("a", "b");
  EXPECT_TRUE(evict(20, "default/a", true).empty());
  turn("b", "a");
  // Refused: it does not count.
  EXPECT_TRUE(evict(30, "default/b", false).empty());
  Apply(PodYaml({.name = "b", .group = "b", .node = "n-low0"}));
  const auto rings = evict(40, "default/b", true);
  ASSERT_EQ(rings.size(), 1u);
  EXPECT_EQ(rings[0].text,
            "default/a evicted default/b twice and default/b evicted default/a "
            "twice within 1h");
  EXPECT_EQ(rings[0].jobs, (Pods{"default/a", "default/b"}));
}

}  // namespace
}  // namespace krafla::testing
