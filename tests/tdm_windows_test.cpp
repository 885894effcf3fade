// tdm beyond one daily window: windows by day of the week, and a lead before they close.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/cycle.h"
#include "support/scheduler_over_time.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;

constexpr const char* kRunTime = "krafla.io/expected-run-time";

PodOptions Guest(std::string run_time = "") {
  PodOptions pod;
  pod.annotations = {{"volcano.sh/preemptable", "true"}, {"volcano.sh/revocable-zone", "*"}};
  if (!run_time.empty()) pod.annotations[kRunTime] = std::move(run_time);
  return pod;
}

std::string Config(std::string window, std::string lead = "") {
  Texts arguments{{"tdm.revocable-zone.rz1", std::move(window)}};
  if (!lead.empty()) arguments["tdm.drain-lead"] = std::move(lead);
  return ConfigYaml({.actions = "allocate, preempt",
                     .tiers = {"priority gang tdm", "predicates"},
                     .tdm = std::move(arguments)});
}

struct Placement {
  bool placed = false;
  std::string why_not;
};

Placement Place(const PodOptions& pod, const std::string& config, std::string now) {
  CycleInput input;
  input.cluster = QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml() + PodYaml(pod);
  input.config = config;
  input.now = std::move(now);
  Cycle cycle(input);
  cycle.Run();
  return {!cycle.Binds().empty(), cycle.session->WaitingReason(cycle.FindJob("default/job"))};
}

// 2026-03-13 is a Friday.
TEST(TdmWindows, DifferByDay) {
  const std::string config = Config("Mon-Fri 08:00-21:00; Sat,Sun 10:00-14:00");
  EXPECT_TRUE(Place(Guest(), config, "2026-03-13T20:00:00Z").placed);
  EXPECT_FALSE(Place(Guest(), config, "2026-03-14T09:00:00Z").placed);
  EXPECT_TRUE(Place(Guest(), config, "2026-03-14T13:59:59Z").placed);
  const Placement closed = Place(Guest(), config, "2026-03-15T20:00:00Z");
  EXPECT_FALSE(closed.placed);
  EXPECT_NE(closed.why_not.find("zone rz1 is closed until Mon 2026-03-16 08:00 UTC"),
            std::string::npos)
      << closed.why_not;
}

TEST(TdmWindows, ThatVolcanoDoesNotKnowAreNeverOpenForIt) {
  for (const char* window : {"Mon-Fri 08:00-21:00", "Mon-Sun 08:00-21:00", "08:00-21:00;"}) {
    const Placement closed = Place(Guest(), Config(window) + "compatibility: {windows: false}\n",
                                   "2026-03-13T12:00:00Z");
    EXPECT_FALSE(closed.placed) << window;
    EXPECT_NE(closed.why_not.find("more than one daily window"), std::string::npos)
        << closed.why_not;
  }
  EXPECT_TRUE(Place(Guest(), Config("08:00-21:00") + "compatibility: {windows: false}\n",
                    "2026-03-13T12:00:00Z")
                  .placed);
}

TEST(TdmLead, WhoWillNotBeDoneInTimeIsNotPlaced) {
  const std::string config = Config("08:00-21:00", "10m");
  EXPECT_TRUE(Place(Guest("59m"), config, "2026-03-13T20:00:00Z").placed);
  EXPECT_FALSE(Place(Guest("1h"), config, "2026-03-13T20:00:00Z").placed);
  const Placement late = Place(Guest("90m"), config, "2026-03-13T20:00:00Z");
  EXPECT_FALSE(late.placed);
  EXPECT_NE(late.why_not.find("zone rz1 closes at 21:00 UTC, before the pod would be done"),
            std::string::npos)
      << late.why_not;
  // Without a lead nobody asks.
  EXPECT_TRUE(Place(Guest("90m"), Config("08:00-21:00"), "2026-03-13T20:00:00Z").placed);
  EXPECT_TRUE(Place(Guest("90m"), Config("00:00-00:00", "10m"), "2026-03-13T20:00:00Z").placed);
}

TEST(TdmLead, WhoDoesNotSayIsPlacedUntilItBegins) {
  const std::string config = Config("08:00-21:00", "10m");
  EXPECT_TRUE(Place(Guest(), config, "2026-03-13T20:49:59Z").placed);
  const Placement late = Place(Guest(), config, "2026-03-13T20:50:00Z");
  EXPECT_FALSE(late.placed);
  EXPECT_NE(late.why_not.find(kRunTime), std::string::npos) << late.why_not;
  EXPECT_TRUE(Place(Guest("5m"), config, "2026-03-13T20:50:00Z").placed);
}

// Pods of one template that say different things are told apart.
TEST(TdmLead, EachPodIsJudgedByItsOwnWord) {
  SchedulerOverTime scheduler(QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml() +
                                  PodYaml([] {
                                    PodOptions pod = Guest("2h");
                                    pod.name = "job-long";
                                    return pod;
                                  }()) +
                                  PodYaml([] {
                                    PodOptions pod = Guest("20m");
                                    pod.name = "job-short";
                                    return pod;
                                  }()),
                              Config("08:00-21:00", "10m"));
  EXPECT_EQ(scheduler.RunAt("2026-03-13T20:00:00Z").binds, Pods{"default/job-short n1"});
}

TEST(TdmLead, EmptiesTheZoneBeforeItCloses) {
  const auto runs_since = [](PodOptions pod, std::string name, std::string started) {
    pod.name = std::move(name);
    pod.node = "n1";
    pod.scheduled_at = std::move(started);
    return PodYaml(pod);
  };
  SchedulerOverTime scheduler(
      QueueYaml() + NodeYaml({.zone = "rz1"}) +
          PodGroupYaml(
              {.min_member = 0, .annotations = {{"volcano.sh/jdb-max-unavailable", "2"}}}) +
          runs_since(Guest(), "job-silent", "2026-03-13T12:00:00Z") +
          runs_since(Guest("10m"), "job-done-2059", "2026-03-13T20:49:00Z") +
          runs_since(Guest("10m"), "job-done-2105", "2026-03-13T20:55:00Z"),
      Config("08:00-21:00", "10m"));
  EXPECT_EQ(scheduler.RunAt("2026-03-13T20:49:59Z").evictions, Pods{});
  EXPECT_EQ(scheduler.RunAt("2026-03-13T20:50:00Z").evictions,
            (Pods{"default/job-done-2105", "default/job-silent"}));
  EXPECT_EQ(scheduler.RunAt("2026-03-13T20:55:00Z").evictions, Pods{});
}

// When the window has closed nobody is waited for.
TEST(TdmLead, WhoIsStillThereAtTheEndGoes) {
  PodOptions pod = Guest("10m");
  pod.node = "n1";
  pod.scheduled_at = "2026-03-13T20:49:00Z";
  SchedulerOverTime scheduler(
      QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml({.min_member = 0}) + PodYaml(pod),
      Config("08:00-21:00", "10m"));
  const auto lead = scheduler.RunAt("2026-03-13T20:50:00Z");
  EXPECT_EQ(lead.evictions, Pods{});
  EXPECT_EQ(lead.next_timer, "2026-03-13T21:00:00Z");
  EXPECT_EQ(scheduler.RunAt(lead.next_timer).evictions, Pods{"default/job-0"});
}

}  // namespace
}  // namespace krafla::testing
