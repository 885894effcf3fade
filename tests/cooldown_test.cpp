// cdp beyond a pod's own cooldown: those of its PodGroup, its Queue and the configuration, and how
// they grow for jobs that are evicted again and again.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "scheduler/vocabulary.h"
#include "support/scheduler_over_time.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;

constexpr const char* kCooldown = "volcano.sh/cooldown-time";
constexpr const char* kNoon = "2026-03-10T12:00:00Z";

std::string CdpConfig(const Texts& arguments, std::string_view more = "") {
  return "actions: \"preempt\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n"
         "  - name: cdp\n    arguments: " +
         tiny::Map(arguments) + "\n- plugins:\n  - name: predicates\n" + std::string(more);
}

struct Cooldowns {
  std::string pod;
  std::string job;
  std::string queue;
};

Texts Annotation(const std::string& cooldown) {
  return cooldown.empty() ? Texts{} : Texts{{kCooldown, cooldown}};
}

// Node n1 has one place, which "low" has had since `scheduled_at`; "high" wants it.
std::string OnePlace(const Cooldowns& cooldowns, std::string_view scheduled_at) {
  std::string queue = QueueYaml();
  if (!cooldowns.queue.empty()) {
    const std::string name = "metadata: {name: default";
    queue.insert(queue.find(name) + name.size(),
                 ", annotations: " + tiny::Map(Annotation(cooldowns.queue)));
  }
  return PriorityClassesYaml() + queue + NodeYaml({.has = "cpu 1, memory 8Gi, pods 110"}) +
         PodGroupYaml({.name = "low",
                       .min_member = 0,
                       .priority = "low",
                       .annotations = Annotation(cooldowns.job)}) +
         PodGroupYaml({.name = "high", .priority = "high"}) +
         PodYaml({.name = "low-0",
                  .group = "low",
                  .node = "n1",
                  .scheduled_at = std::string(scheduled_at),
                  .annotations = Annotation(cooldowns.pod)}) +
         PodYaml({.name = "high-0", .group = "high"});
}

// When "low", scheduled at noon, may be evicted for the first time.
std::string CooledAt(const Cooldowns& cooldowns, const std::string& config) {
  SchedulerOverTime scheduler(OnePlace(cooldowns, kNoon), config);
  const auto cycle = scheduler.RunAt(kNoon);
  if (!cycle.evictions.empty()) return "at once";
  scheduler.ExpectNothingBefore(cycle.next_timer);
  EXPECT_EQ(scheduler.RunAt(cycle.next_timer).evictions, Pods{"default/low-0"});
  return cycle.next_timer.substr(11, 5);
}

TEST(Cooldown, ThePodsOwnStandsBeforeTheJobsBeforeTheQueuesBeforeTheDefault) {
  const std::string config = CdpConfig({{"cdp.default-cooldown", "1m"}});
  EXPECT_EQ(CooledAt({"4m", "3m", "2m"}, config), "12:04");
  EXPECT_EQ(CooledAt({"", "3m", "2m"}, config), "12:03");
  EXPECT_EQ(CooledAt({"", "", "2m"}, config), "12:02");
  EXPECT_EQ(CooledAt({"", "", ""}, config), "12:01");
  EXPECT_EQ(CooledAt({"0s", "3m", "2m"}, config), "at once");  // says no for itself
  EXPECT_EQ(CooledAt({"", "0s", "2m"}, config), "at once");
  EXPECT_EQ(CooledAt({"", "", ""}, CdpConfig({})), "at once");
}

TEST(Cooldown, InVolcanoOnlyThePodHasOne) {
  const std::string config = CdpConfig({}, "compatibility: {inherited-cooldown: false}\n");
  EXPECT_EQ(CooledAt({"4m", "3m", "2m"}, config), "12:04");
  EXPECT_EQ(CooledAt({"", "3m", "2m"}, config), "at once");
  EXPECT_EQ(CooledAt({"", "3m", "2m"}, CdpConfig({})), "12:03");
}

std::string Minute(int minute) {
  return fmt::format("2026-03-10T{:02}:{:02}:00Z", 12 + minute / 60, minute % 60);
}

// "low" has a place again at each of these minutes after noon, and "high" wants it again: how many
// minutes later it gets it.
class AgainAndAgain {
 public:
  explicit AgainAndAgain(const Texts& arguments)
      : scheduler_(OnePlace({}, kNoon), CdpConfig(arguments)) {}

  std::string EvictedAfterPlacedAt(int minute) {
    scheduler_.Replace(OnePlace({"5m", "", ""}, Minute(minute)));
    auto cycle = scheduler_.RunAt(Minute(minute));
    for (int tries = 0; cycle.evictions.empty() && tries < 5; ++tries) {
      if (cycle.next_timer == "never") return "never";
      scheduler_.ExpectNothingBefore(cycle.next_timer);
      cycle = scheduler_.RunAt(cycle.next_timer);
      if (!cycle.evictions.empty()) return scheduler_.LastInstant().substr(11, 5);
    }
    return cycle.evictions.empty() ? "never" : "at once";
  }

  SchedulerOverTime scheduler_;
};

TEST(Cooldown, TheBackoffMakesEachCooldownLonger) {
  AgainAndAgain job({{"cdp.backoff", "2"}, {"cdp.max-cooldown", "30m"}});
  EXPECT_EQ(job.EvictedAfterPlacedAt(0), "12:05");
  EXPECT_EQ(job.EvictedAfterPlacedAt(6), "12:16");   // 10m
  EXPECT_EQ(job.EvictedAfterPlacedAt(17), "12:37");  // 20m
  EXPECT_EQ(job.EvictedAfterPlacedAt(38), "13:05");  // 30m would be 13:08; the first is an hour old
  ASSERT_EQ(job.scheduler_.memory.job_evictions.size(), 1u);
  EXPECT_EQ(job.scheduler_.memory.job_evictions[0].job, "default/low");
  EXPECT_EQ(job.scheduler_.memory.job_evictions[0].times.size(), 3u);
}

TEST(Cooldown, AJobIsEvictedSoManyTimesAndNoMore) {
  AgainAndAgain job({{"cdp.max-evictions", "2"}, {"cdp.eviction-period", "40m"}});
  EXPECT_EQ(job.EvictedAfterPlacedAt(0), "12:05");
  EXPECT_EQ(job.EvictedAfterPlacedAt(6), "12:11");
  EXPECT_EQ(job.EvictedAfterPlacedAt(12), "12:45");  // 40m after the first
}

TEST(Cooldown, WithoutALimitNothingIsRemembered) {
  AgainAndAgain job({});
  EXPECT_EQ(job.EvictedAfterPlacedAt(0), "12:05");
  EXPECT_TRUE(job.scheduler_.memory.job_evictions.empty());
}

TEST(Cooldown, EvictionsAreForgottenAfterThePeriodAndWithTheJob) {
  const Texts arguments{{"cdp.max-evictions", "2"}, {"cdp.eviction-period", "40m"}};
  AgainAndAgain job(arguments);
  EXPECT_EQ(job.EvictedAfterPlacedAt(0), "12:05");
  job.scheduler_.RunAt(Minute(44));
  EXPECT_EQ(job.scheduler_.memory.job_evictions.size(), 1u);
  job.scheduler_.RunAt(Minute(45));
  EXPECT_TRUE(job.scheduler_.memory.job_evictions.empty());

  AgainAndAgain gone(arguments);
  EXPECT_EQ(gone.EvictedAfterPlacedAt(0), "12:05");
  gone.scheduler_.Replace(QueueYaml() + NodeYaml());
  gone.scheduler_.RunAt(Minute(6));
  EXPECT_TRUE(gone.scheduler_.memory.job_evictions.empty());
}

// A closing zone is nobody's fault: it neither counts nor waits.
TEST(Cooldown, ZonesThatCloseDoNotCount) {
  SchedulerOverTime scheduler(
      QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml({.min_member = 0}) +
          PodYaml({.node = "n1",
                   .annotations = {{"volcano.sh/preemptable", "true"},
                                   {"volcano.sh/revocable-zone", "*"}}}),
      "actions: \"preempt\"\ntiers:\n- plugins:\n  - name: gang\n  - name: cdp\n    arguments: "
      "{cdp.max-evictions: 1}\n  - name: tdm\n    arguments: {tdm.revocable-zone.rz1: "
      "\"08:00-11:00\"}\n  - name: predicates\n");
  EXPECT_EQ(scheduler.RunAt(kNoon).evictions.size(), 1u);
  EXPECT_TRUE(scheduler.memory.job_evictions.empty());
}

TEST(Cooldown, ArgumentsThatCannotBeMeantAreRefused) {
  const auto message = [](const Texts& arguments) -> std::string {
    Diagnostics diagnostics;
    ReadSchedulerConfig(CdpConfig(arguments), BuiltInVocabulary(), {.file_name = "c.yaml"},
                        diagnostics);
    return diagnostics.items().empty() ? "" : ToString(diagnostics.items()[0]);
  };
  EXPECT_EQ(message({{"cdp.default-cooldown", "5m"},
                     {"cdp.max-evictions", "3"},
                     {"cdp.eviction-period", "1h"},
                     {"cdp.backoff", "1.5"},
                     {"cdp.max-cooldown", "30m"}}),
            "");
  for (const auto& [key, value] : Texts{{"cdp.default-cooldown", "-5m"},
                                        {"cdp.max-evictions", "0"},
                                        {"cdp.eviction-period", "0s"},
                                        {"cdp.backoff", "0.5"},
                                        {"cdp.max-cooldown", "long"},
                                        {"cdp.max-eviction", "3"}}) {
    EXPECT_NE(message({{key, value}}).find(key), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace krafla::testing
