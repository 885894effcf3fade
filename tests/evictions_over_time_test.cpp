// What a scheduler that runs on and on may do to a job: budgets hold from cycle to cycle, and what
// is remembered for that does not grow.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scheduler_over_time.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;

constexpr const char* kPreemptable = "volcano.sh/preemptable";
constexpr const char* kZone = "volcano.sh/revocable-zone";
constexpr const char* kMaxUnavailable = "volcano.sh/jdb-max-unavailable";
constexpr const char* kMinAvailable = "volcano.sh/jdb-min-available";

std::string Noon(int seconds) {
  std::string text = "2026-03-10T12:00:00Z";
  text[14] = static_cast<char>('0' + seconds / 600);
  text[15] = static_cast<char>('0' + seconds / 60 % 10);
  text[17] = static_cast<char>('0' + seconds % 60 / 10);
  text[18] = static_cast<char>('0' + seconds % 10);
  return text;
}

// The pods of "job" by state: r runs in zone rz1, which has closed, e is ending there, p waits.
std::string JobInZone(std::string_view pods, Texts annotations) {
  std::string text = QueueYaml() +
                     NodeYaml({.has = "cpu 16, memory 64Gi, pods 110", .zone = "rz1"}) +
                     PodGroupYaml({.min_member = 0, .annotations = std::move(annotations)});
  for (size_t i = 0; i < pods.size(); ++i) {
    PodOptions pod{.name = "job-" + std::to_string(i),
                   .annotations = {{kPreemptable, "true"}, {kZone, "*"}}};
    if (pods[i] != 'p') pod.node = "n1";
    std::string yaml = PodYaml(pod);
    if (pods[i] == 'e')
      yaml.insert(yaml.find("  labels:"), "  deletionTimestamp: \"2026-03-10T12:00:00Z\"\n");
    text += yaml;
  }
  return text;
}

std::string DrainConfig(std::string period = "1m") {
  return ConfigYaml({.tiers = {"gang tdm", "predicates"},
                     .tdm = {{"tdm.revocable-zone.rz1", "08:00-11:00"},
                             {"tdm.evict.period", std::move(period)}}});
}

// An evicted pod ends, is gone, waits anew as its successor, and runs elsewhere: at no time more
// are missing than the budget says.
TEST(BudgetsOverTime, EndingPodsAreMissing) {
  SchedulerOverTime scheduler(JobInZone("rrrrrr", {{kMaxUnavailable, "2"}}), DrainConfig("1s"));
  EXPECT_EQ(scheduler.RunAt(Noon(0)).evictions.size(), 2u);
  for (int second = 1; second < 30; ++second)
    EXPECT_EQ(scheduler.RunAt(Noon(second)).evictions, Pods{});
}

TEST(BudgetsOverTime, PodsThatAreGoneAndHaveNoSuccessorYetAreMissing) {
  for (const auto& [key, value] : Texts{{kMaxUnavailable, "2"}, {kMinAvailable, "65%"}}) {
    SchedulerOverTime scheduler(JobInZone("rrrrrr", {{key, value}}), DrainConfig());
    EXPECT_EQ(scheduler.RunAt(Noon(0)).evictions.size(), 2u) << key;
    // One is gone, then both; the zone's own clock is over by then.
    scheduler.Replace(JobInZone("errrr", {{key, value}}));
    EXPECT_EQ(scheduler.RunAt(Noon(70)).evictions, Pods{}) << key;
    scheduler.Replace(JobInZone("rrrr", {{key, value}}));
    EXPECT_EQ(scheduler.RunAt(Noon(80)).evictions, Pods{}) << key;
    scheduler.Replace(JobInZone("rrrrpp", {{key, value}}));
    EXPECT_EQ(scheduler.RunAt(Noon(81)).evictions, Pods{}) << key;
  }
}

TEST(BudgetsOverTime, AJobThatStaysSmallerIsBelievedAfterThePeriod) {
  SchedulerOverTime scheduler(JobInZone("rrrrrr", {{kMaxUnavailable, "2"}}), DrainConfig());
  EXPECT_EQ(scheduler.RunAt(Noon(0)).evictions.size(), 2u);
  scheduler.Replace(JobInZone("rrrr", {{kMaxUnavailable, "2"}}));
  const auto gone = scheduler.RunAt(Noon(100));
  EXPECT_EQ(gone.evictions, Pods{});
  EXPECT_EQ(gone.next_timer, "2026-03-10T12:02:40.000000001Z");
  scheduler.ExpectNothingBefore(gone.next_timer);
  EXPECT_EQ(scheduler.RunAt(gone.next_timer).evictions.size(), 2u);
}

TEST(BudgetsOverTime, AnEvictionThatCameToNothingIsNotHeldAgainstTheJob) {
  SchedulerOverTime scheduler(JobInZone("rrrrrr", {{kMaxUnavailable, "2"}}), DrainConfig("10s"));
  EXPECT_EQ(scheduler.RunAt(Noon(0)).evictions.size(), 2u);
  scheduler.Replace(JobInZone("rrrrrr", {{kMaxUnavailable, "2"}}));  // they run on
  EXPECT_EQ(scheduler.RunAt(Noon(10)).evictions.size(), 0u);
  EXPECT_EQ(scheduler.RunAt(Noon(11)).evictions.size(), 2u);
}

TEST(BudgetsOverTime, WithoutABudgetOneGoesPerPeriod) {
  SchedulerOverTime scheduler(JobInZone("rrr", {}), DrainConfig());
  EXPECT_EQ(scheduler.RunAt(Noon(0)).evictions, Pods{"default/job-0"});
  for (int second = 1; second <= 60; ++second)
    EXPECT_EQ(scheduler.RunAt(Noon(second)).evictions, Pods{});
  EXPECT_EQ(scheduler.RunAt(Noon(61)).evictions, Pods{"default/job-1"});
}

TEST(WhatIsRemembered, IsDroppedWhenItSaysNoMore) {
  SchedulerOverTime scheduler(JobInZone("rr", {}), DrainConfig());
  scheduler.RunAt(Noon(0));
  EXPECT_EQ(scheduler.memory.job_losses.size(), 1u);
  EXPECT_EQ(scheduler.memory.last_evictions.size(), 1u);
  scheduler.Replace(JobInZone("pr", {{kMaxUnavailable, "1"}}));  // nobody may go
  scheduler.RunAt(Noon(59));
  EXPECT_EQ(scheduler.memory.job_losses.size(), 1u);
  EXPECT_EQ(scheduler.memory.last_evictions.size(), 1u);
  scheduler.RunAt(Noon(120));
  EXPECT_TRUE(scheduler.memory.job_losses.empty());
  EXPECT_TRUE(scheduler.memory.last_evictions.empty());
}

TEST(WhatIsRemembered, OfJobsThatAreGoneIsNothing) {
  SchedulerOverTime scheduler(JobInZone("rr", {}), DrainConfig());
  scheduler.RunAt(Noon(0));
  ASSERT_EQ(scheduler.memory.job_losses.size(), 1u);
  scheduler.Replace(QueueYaml() + NodeYaml());
  scheduler.RunAt(Noon(1));
  EXPECT_TRUE(scheduler.memory.job_losses.empty());
}

// tdm has one eviction for "low", and would spend it on low-0, whom a PodDisruptionBudget holds.
TEST(BudgetsAndOtherPlugins, ABudgetIsNotSpentOnThoseWhomOthersSpare) {
  std::string cluster = PriorityClassesYaml() + QueueYaml() +
                        NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
                        PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"}) +
                        PodGroupYaml({.name = "high", .priority = "high"}) +
                        PodYaml({.name = "high-0", .group = "high"});
  for (const char* name : {"low-0", "low-1"})
    cluster += PodYaml({.name = name,
                        .group = "low",
                        .node = "n1",
                        .labels = {{"app", name}},
                        .annotations = {{kPreemptable, "true"}}});
  cluster += PodBudgetYaml({.name = "holds-low-0", .selects = {{"app", "low-0"}}, .allows = 0});
  for (const char* tier : {"tdm pdb", "pdb tdm"}) {
    SchedulerOverTime scheduler(cluster, ConfigYaml({.tiers = {tier, "predicates"}}));
    EXPECT_EQ(scheduler.RunAt(Noon(0)).evictions, Pods{"default/low-1"}) << tier;
  }
}

}  // namespace
}  // namespace krafla::testing
