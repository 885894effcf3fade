// When a cycle is worth running although nothing has changed (Session::NextTimer): up to that
// instant every cycle decides the same, at that instant one may decide otherwise.
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
constexpr const char* kCooldown = "volcano.sh/cooldown-time";
constexpr const char* kRunTime = "krafla.io/expected-run-time";

PodOptions Guest(PodOptions o) {
  o.annotations.try_emplace(kPreemptable, "true");
  o.annotations.try_emplace(kZone, "*");
  return o;
}

std::string TdmConfig(Texts arguments, std::string actions = "allocate, preempt") {
  return ConfigYaml({.actions = std::move(actions),
                     .tiers = {"priority gang tdm", "predicates"},
                     .tdm = std::move(arguments)});
}

// ---- tdm: windows

TEST(NextTimer, NothingDependsOnTimeWithoutPluginsThatDo) {
  SchedulerOverTime scheduler(QueueYaml() + NodeYaml(),
                              ConfigYaml({.tiers = {"priority gang", "predicates"}}));
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "never");
}

TEST(NextTimer, IsTheNextOpeningOrClosingOfAZoneThatNodesCarry) {
  SchedulerOverTime scheduler(
      QueueYaml() + NodeYaml({.name = "n1", .zone = "rz1"}) +
          NodeYaml({.name = "n2", .zone = "rz2"}),
      TdmConfig({{"tdm.revocable-zone.rz1", "08:00-21:00"},
                 {"tdm.revocable-zone.rz2", "13:00-14:00"},
                 {"tdm.revocable-zone.rz3", "12:30-12:40"}}));  // no node has it
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "2026-03-10T13:00:00Z");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T13:00:00Z").next_timer, "2026-03-10T14:00:00Z");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T14:00:00Z").next_timer, "2026-03-10T21:00:00Z");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T21:00:00Z").next_timer, "2026-03-11T08:00:00Z");
}

TEST(NextTimer, VolcanosWindowsChangeAtMidnightAndAfterTheirLastSecond) {
  SchedulerOverTime scheduler(QueueYaml() + NodeYaml({.zone = "rz1"}),
                              TdmConfig({{"tdm.revocable-zone.rz1", "22:00-06:00"}}, "allocate") +
                                  "compatibility: {windows: false}\n");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "2026-03-10T22:00:00Z");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T22:00:00Z").next_timer, "2026-03-11T00:00:00Z");
}

TEST(NextTimer, AZoneThatIsAlwaysOpenHasNone) {
  SchedulerOverTime scheduler(QueueYaml() + NodeYaml({.zone = "rz1"}),
                              TdmConfig({{"tdm.revocable-zone.rz1", "00:00-00:00"}}));
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "never");
}

// ---- tdm: evict periods

// Job "job" has three pods in zone rz1, which was open until 11:00.
std::string ThreeInZone(Texts annotations = {}) {
  std::string text = QueueYaml() + NodeYaml({.zone = "rz1"}) +
                     PodGroupYaml({.min_member = 0, .annotations = std::move(annotations)});
  for (const char* name : {"job-0", "job-1", "job-2"})
    text += PodYaml(Guest({.name = name, .node = "n1"}));
  return text;
}

TEST(NextTimer, IsTheEndOfTheEvictPeriodWhileSomebodyIsLeft) {
  SchedulerOverTime scheduler(ThreeInZone(), TdmConfig({{"tdm.revocable-zone.rz1", "08:00-11:00"},
                                                        {"tdm.evict.period", "5m"}}));
  // More than the period has to pass.
  const std::string times[] = {"2026-03-10T12:00:00Z", "2026-03-10T12:05:00.000000001Z",
                               "2026-03-10T12:10:00.000000002Z", "2026-03-11T08:00:00Z"};
  for (int i = 0; i < 3; ++i) {
    const auto cycle = scheduler.RunAt(times[i]);
    EXPECT_EQ(cycle.evictions, Pods{"default/job-" + std::to_string(i)}) << times[i];
    EXPECT_EQ(cycle.next_timer, times[i + 1]);
    if (i < 2) scheduler.ExpectNothingBefore(cycle.next_timer);
  }
}

TEST(NextTimer, ABudgetThatIsUsedUpHasNone) {
  SchedulerOverTime scheduler(
      ThreeInZone({{"volcano.sh/jdb-max-unavailable", "1"}}),
      TdmConfig({{"tdm.revocable-zone.rz1", "08:00-11:00"}, {"tdm.evict.period", "5m"}}));
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").evictions, Pods{"default/job-0"});
  // The zone's clock ends at 12:05; afterwards only another state of the pods can change anything.
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:01Z").next_timer, "2026-03-10T12:05:00.000000001Z");
  const auto later = scheduler.RunAt("2026-03-10T12:05:01Z");
  EXPECT_EQ(later.evictions, Pods{});
  EXPECT_EQ(later.next_timer, "2026-03-11T08:00:00Z");
}

TEST(NextTimer, VolcanosSharedClockTicksWhoeverIsThere) {
  SchedulerOverTime scheduler(
      QueueYaml() + NodeYaml({.zone = "rz1"}),
      TdmConfig({{"tdm.revocable-zone.rz1", "08:00-11:00"}, {"tdm.evict.period", "5m"}}) +
          "compatibility: {evict-period-per-zone: false}\n");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "2026-03-10T12:05:00.000000001Z");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:05:01Z").next_timer, "2026-03-10T12:10:01.000000001Z");
}

// A job without a budget, on an ordinary node: one eviction per evict period for whoever preempts.
TEST(NextTimer, IsTheEndOfAJobsOwnEvictPeriod) {
  std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
      PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"}) +
      PodGroupYaml({.name = "high", .priority = "high"}) +
      PodGroupYaml({.name = "also", .priority = "high"}) +
      PodYaml({.name = "high-0", .group = "high"}) + PodYaml({.name = "also-0", .group = "also"});
  for (const char* name : {"low-0", "low-1"})
    cluster += PodYaml(
        {.name = name, .group = "low", .node = "n1", .annotations = {{kPreemptable, "true"}}});
  SchedulerOverTime scheduler(
      cluster, ConfigYaml({.tiers = {"tdm", "predicates"}, .tdm = {{"tdm.evict.period", "5m"}}}));
  const auto first = scheduler.RunAt("2026-03-10T12:00:00Z");
  EXPECT_EQ(first.evictions.size(), 1u);
  EXPECT_EQ(first.next_timer, "2026-03-10T12:05:00.000000001Z");
  scheduler.ExpectNothingBefore(first.next_timer);
  EXPECT_EQ(scheduler.RunAt(first.next_timer).evictions.size(), 1u);
}

// ---- tdm: the lead

TEST(NextTimer, ALeadComesBeforeTheClosing) {
  SchedulerOverTime scheduler(ThreeInZone(), TdmConfig({{"tdm.revocable-zone.rz1", "08:00-21:00"},
                                                        {"tdm.drain-lead", "10m"}}));
  const auto noon = scheduler.RunAt("2026-03-10T12:00:00Z");
  EXPECT_EQ(noon.evictions, Pods{});
  EXPECT_EQ(noon.next_timer, "2026-03-10T20:50:00Z");
  const auto lead = scheduler.RunAt("2026-03-10T20:50:00Z");
  EXPECT_EQ(lead.evictions, Pods{"default/job-0"});
  EXPECT_EQ(lead.next_timer, "2026-03-10T20:51:00.000000001Z");
}

TEST(NextTimer, IsWhenAWaitingPodWouldNoLongerBeDoneInTime) {
  SchedulerOverTime scheduler(
      QueueYaml() + NodeYaml({.has = "cpu 1, memory 8Gi, pods 110", .zone = "rz1"}) +
          PodGroupYaml() + PodGroupYaml({.name = "full"}) +
          PodYaml(Guest({.name = "full-0", .group = "full", .node = "n1"})) +
          PodYaml(Guest({.annotations = {{kRunTime, "90m"}}})),
      TdmConfig({{"tdm.revocable-zone.rz1", "08:00-21:00"}, {"tdm.drain-lead", "10m"}}));
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "2026-03-10T19:30:00Z");
  EXPECT_EQ(scheduler.RunAt("2026-03-10T19:30:00Z").next_timer, "2026-03-10T20:50:00Z");
}

// ---- cdp

// Node n1 is full of two pods of job "low", scheduled at 11:58 and 11:59; "high" wants a place.
std::string TwoCooling(bool somebody_waits = true) {
  std::string cluster = PriorityClassesYaml() + QueueYaml() +
                        NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
                        PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"});
  for (const char* digit : {"8", "9"})
    cluster += PodYaml({.name = std::string("low-") + digit,
                        .group = "low",
                        .node = "n1",
                        .scheduled_at = std::string("2026-03-10T11:5") + digit + ":00Z",
                        .annotations = {{kCooldown, "5m"}}});
  if (somebody_waits)
    cluster += PodGroupYaml({.name = "high", .priority = "high"}) +
               PodYaml({.name = "high-0", .group = "high"});
  return cluster;
}

const std::string kCdpConfig = ConfigYaml({.tiers = {"priority gang cdp", "predicates"}});

TEST(NextTimer, IsTheEarliestEndOfACooldownThatSparedSomebody) {
  SchedulerOverTime scheduler(TwoCooling(), kCdpConfig);
  const auto noon = scheduler.RunAt("2026-03-10T12:00:00Z");
  EXPECT_EQ(noon.evictions, Pods{});
  EXPECT_EQ(noon.next_timer, "2026-03-10T12:03:00Z");
  scheduler.ExpectNothingBefore(noon.next_timer);
  EXPECT_EQ(scheduler.RunAt(noon.next_timer).evictions, Pods{"default/low-8"});
}

TEST(NextTimer, ACooldownNobodyWaitsForIsNone) {
  SchedulerOverTime scheduler(TwoCooling(false), kCdpConfig);
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:00Z").next_timer, "never");
}

// ---- sla

TEST(NextTimer, IsWhenAWaitingJobsTimeIsUp) {
  const auto group = [](const std::string& name, const std::string& created) {
    return "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " +
           name + ", namespace: default, creationTimestamp: \"" + created +
           "\", annotations: {volcano.sh/sla-waiting-time: 1h}}\n"
           "spec: {queue: default, minMember: 1, minResources: {cpu: \"8\"}}\n"
           "status: {phase: Pending}\n";
  };
  SchedulerOverTime scheduler(
      QueueYaml({.capability = "cpu 4"}) + NodeYaml() + group("a", "2026-03-10T11:30:00Z") +
          group("b", "2026-03-10T11:20:00Z") + group("c", "2026-03-10T10:00:00Z"),
      ConfigYaml({.actions = "enqueue", .tiers = {"sla", "proportion"}}));
  const auto noon = scheduler.RunAt("2026-03-10T12:00:00Z");
  EXPECT_EQ(scheduler.PhaseOf("default/c"), "Inqueue");  // its time was up an hour ago
  EXPECT_EQ(scheduler.PhaseOf("default/b"), "Pending");
  EXPECT_EQ(noon.next_timer, "2026-03-10T12:20:00Z");
  scheduler.ExpectNothingBefore(noon.next_timer);
  EXPECT_EQ(scheduler.PhaseOf("default/b"), "Pending");
  EXPECT_EQ(scheduler.RunAt(noon.next_timer).next_timer, "2026-03-10T12:30:00Z");
  EXPECT_EQ(scheduler.PhaseOf("default/b"), "Inqueue");
}

}  // namespace
}  // namespace krafla::testing
