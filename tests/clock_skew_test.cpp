// While the scheduler's clock differs too much from the API server's, no zone is drained and no
// cooldown ends; when it was set, durations that the scheduler remembers go on.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain/explain_support.h"
#include "manifest/read_cluster.h"
#include "record/memory_json.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"
#include "session/zone_drainer.h"
#include "support/cycle.h"
#include "support/scheduler_over_time.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;

constexpr const char* kNoon = "2026-03-10T12:00:00Z";

Timestamp At(std::string_view text) {
  return ParseRfc3339(text).value().time;
}

std::string GuestsOnAZone(int pods) {
  std::string text = QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml({.min_member = 0});
  for (int i = 0; i < pods; ++i)
    text += PodYaml(
        {.name = "job-" + std::to_string(i),
         .node = "n1",
         .annotations = {{"volcano.sh/preemptable", "true"}, {"volcano.sh/revocable-zone", "*"}}});
  return text;
}

std::string ClosedZoneConfig(const std::string& period = "1m") {
  return ConfigYaml(
      {.actions = "preempt",
       .tiers = {"gang tdm", "predicates"},
       .tdm = {{"tdm.revocable-zone.rz1", "01:00-02:00"}, {"tdm.evict.period", period}}});
}

// "low" holds the only slot since 11:00, with a cooldown of 10 minutes; "high" preempts.
std::string OneSlot() {
  return PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 1, memory 8Gi, pods 110"}) +
         PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"}) +
         PodGroupYaml({.name = "high", .priority = "high"}) +
         PodYaml({.name = "low-0",
                  .group = "low",
                  .node = "n1",
                  .scheduled_at = "2026-03-10T11:00:00Z",
                  .annotations = {{"volcano.sh/cooldown-time", "10m"}}}) +
         PodYaml({.name = "high-0", .group = "high"});
}

constexpr std::string_view kCooldownConfig =
    "actions: \"preempt\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n"
    "  - name: cdp\n- plugins:\n  - name: predicates\n";

TEST(ClockSkew, HoldsDrainsAndSaysWhy) {
  Cycle trusted({.cluster = GuestsOnAZone(2), .config = ClosedZoneConfig()});
  trusted.Run();
  EXPECT_EQ(trusted.Evictions().size(), 1u);

  Cycle held({.cluster = GuestsOnAZone(2), .config = ClosedZoneConfig()});
  held.memory.clock_skew_s = 45;
  held.Run();
  EXPECT_EQ(held.Evictions(), Pods{});
  EXPECT_EQ(held.session->NextTimer(), At("2026-03-11T01:00:00Z")) << "the window only";
  const auto* report = dynamic_cast<const DrainReport*>(held.session->FindPlugin("tdm"));
  ASSERT_NE(report, nullptr);
  ASSERT_EQ(report->HeldDrains().size(), 1u);
  EXPECT_EQ(report->HeldDrains().front().why, "clock skew of 45 s against the API server");
}

// D9: asking does not start Volcano's one clock for all zones meanwhile.
TEST(ClockSkew, HoldsDrainsWithVolcanosSharedClockToo) {
  Cycle held({.cluster = GuestsOnAZone(2), .config = ClosedZoneConfig(), .profile = "volcano"});
  held.memory.clock_skew_s = -3'600;
  held.Run();
  EXPECT_EQ(held.Evictions(), Pods{});
  EXPECT_EQ(held.memory.LastEviction(""), nullptr);
}

TEST(ClockSkew, EndsNoCooldown) {
  SchedulerOverTime scheduler(OneSlot(), kCooldownConfig);
  scheduler.memory.clock_skew_s = 45;
  const auto held = scheduler.RunAt(kNoon);
  EXPECT_EQ(held.evictions, Pods{});
  EXPECT_EQ(held.next_timer, "never") << "no instant ends it";
  scheduler.memory.clock_skew_s.reset();
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:00:01Z").evictions, Pods{"default/low-0"});
}

TEST(ClockSkew, LetsPodsWithoutACooldownBePreempted) {
  std::string cluster = OneSlot();
  const std::string cooldown = "volcano.sh/cooldown-time";
  cluster.replace(cluster.find(cooldown), cooldown.size(), "example.com/other-key");
  SchedulerOverTime scheduler(cluster, kCooldownConfig);
  scheduler.memory.clock_skew_s = 45;
  EXPECT_EQ(scheduler.RunAt(kNoon).evictions, Pods{"default/low-0"});
}

// Two evictions of 11:00 and 11:05 have ceased to count at 12:30, by a clock that is not trusted.
TEST(ClockSkew, ForgetsNoEvictionThatCountsForALimit) {
  std::string cluster = OneSlot();
  const std::string cooldown = "volcano.sh/cooldown-time";
  cluster.replace(cluster.find(cooldown), cooldown.size(), "example.com/other-key");
  SchedulerOverTime scheduler(
      cluster,
      "actions: \"preempt\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n"
      "  - name: cdp\n    arguments: {cdp.max-evictions: 2}\n- plugins:\n  - name: predicates\n");
  scheduler.memory.JobEvictionsOf("default/low").times = {At("2026-03-10T11:00:00Z"),
                                                          At("2026-03-10T11:05:00Z")};
  scheduler.memory.clock_skew_s = 45;
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:30:00Z").evictions, Pods{});
  EXPECT_EQ(scheduler.memory.JobEvictionsOf("default/low").times.size(), 2u);
  scheduler.memory.clock_skew_s.reset();
  EXPECT_EQ(scheduler.RunAt("2026-03-10T12:30:01Z").evictions, Pods{"default/low-0"});
}

TEST(ClockSkew, IsExplained) {
  CycleMemory memory;
  memory.clock_skew_s = 45;
  const CycleInput zone{.cluster = GuestsOnAZone(2), .config = ClosedZoneConfig()};
  EXPECT_TRUE(Says(Explained(zone, "zone", "rz1", &memory),
                   "drain held: clock skew of 45 s against the API server"));
  EXPECT_FALSE(Says(Explained(zone, "zone", "rz1"), "clock skew"));
  EXPECT_TRUE(Says(Explained(zone, "pod", "default/job-0", &memory),
                   "zone rz1 is closed, but clock skew of 45 s against the API server holds it"));
  const CycleInput slot{.cluster = OneSlot(), .config = std::string(kCooldownConfig)};
  EXPECT_TRUE(Says(Explained(slot, "job", "default/high", &memory),
                   "its cooldown does not end: clock skew of 45 s against the API server"));
}

TEST(ClockSkew, IsKeptByRecords) {
  CycleMemory memory;
  EXPECT_EQ(MemoryAsJson(memory).find("clockSkew"), std::string::npos);
  memory.clock_skew_s = -31;
  const Result<CycleMemory> again = MemoryFromJson(MemoryAsJson(memory));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->clock_skew_s, -31);
  EXPECT_TRUE(SameMemory(memory, *again));
  EXPECT_FALSE(SameMemory(memory, CycleMemory{}));
  EXPECT_FALSE(MemoryFromJson(R"({"zones":[],"losses":[],"evictions":[],"clockSkewSeconds":"x"})"));
}

// The loop on a zone that is closed, with pods to evict.
class ClockLoop : public ::testing::Test, public DecisionSink {
 protected:
  ClockLoop() {
    Diagnostics diagnostics;
    ReadTextInto(live, GuestsOnAZone(3), "test.yaml", {}, diagnostics);
    loop.emplace(live,
                 ReadSchedulerConfig(ClosedZoneConfig(), BuiltInVocabulary(), {.file_name = "test"},
                                     diagnostics),
                 TimeZone(), log);
    EXPECT_FALSE(diagnostics.HasErrors());
  }
  void OnCycle(Session& session, const std::vector<JobPhaseChange>&) override {
    evicted = session.plan.evictions.size();
  }
  size_t EvictedAt(std::string_view time) {
    evicted = 0;
    loop->RunCycle(At(time), *this);
    return evicted;
  }

  LiveCluster live{BuildOptions{}};
  Log log{0};
  std::optional<SchedulingLoop> loop;
  size_t evicted = 0;
};

TEST_F(ClockLoop, ADrainGoesOnWhenTheSkewIsOver) {
  loop->SetClockSkew(45);
  EXPECT_EQ(EvictedAt(kNoon), 0u);
  EXPECT_EQ(EvictedAt(kNoon), 0u);  // the phases of jobs have changed before
  EXPECT_FALSE(loop->IsDue(At("2026-03-10T12:00:01Z")));
  loop->SetClockSkew(46);
  EXPECT_FALSE(loop->IsDue(At("2026-03-10T12:00:01Z"))) << "another size is no reason";
  loop->SetClockSkew({});
  EXPECT_TRUE(loop->IsDue(At("2026-03-10T12:00:01Z")));
  EXPECT_EQ(EvictedAt("2026-03-10T12:00:01Z"), 1u);
}

// More than the evict period has to pass.
Timestamp JustAfter(std::string_view instant) {
  return {At(instant).ns + 1};
}

TEST_F(ClockLoop, AStepBackNeitherShortensNorLengthensAnEvictPeriod) {
  EXPECT_EQ(EvictedAt(kNoon), 1u);
  EXPECT_EQ(loop->next_timer(), JustAfter("2026-03-10T12:01:00Z"));
  // 20 s later the clock is set back by an hour.
  loop->ClockWasSet(-3'600 * Timestamp::kNsPerSecond);
  EXPECT_TRUE(loop->IsDue(At("2026-03-10T11:00:20Z"))) << "timers are instants of the old clock";
  EXPECT_EQ(EvictedAt("2026-03-10T11:00:20Z"), 0u);
  EXPECT_EQ(loop->next_timer(), JustAfter("2026-03-10T11:01:00Z"));
  EXPECT_EQ(EvictedAt("2026-03-10T11:01:00Z"), 0u);
  EXPECT_EQ(EvictedAt("2026-03-10T11:01:01Z"), 1u);
}

TEST_F(ClockLoop, AStepForwardNeitherShortensNorLengthensAnEvictPeriod) {
  EXPECT_EQ(EvictedAt(kNoon), 1u);
  loop->ClockWasSet(3'600 * Timestamp::kNsPerSecond);
  EXPECT_EQ(EvictedAt("2026-03-10T13:00:20Z"), 0u);
  EXPECT_EQ(loop->next_timer(), JustAfter("2026-03-10T13:01:00Z"));
  EXPECT_EQ(EvictedAt("2026-03-10T13:01:01Z"), 1u);
}

// What a cycle remembered is taken back when its evictions are refused, also after the clock was
// set: the zone's evict period then does not count.
TEST_F(ClockLoop, ARefusedEvictionIsForgottenAfterAStepToo) {
  EXPECT_EQ(EvictedAt(kNoon), 1u);
  loop->ClockWasSet(-3'600 * Timestamp::kNsPerSecond);
  Diagnostics diagnostics;
  ReadTextInto(live, GuestsOnAZone(3), "test.yaml", {}, diagnostics);  // all of them stay
  EXPECT_EQ(EvictedAt("2026-03-10T11:00:20Z"), 1u);
}

TEST(CycleMemoryShift, MovesEveryInstantAndLeavesAbsentOnes) {
  CycleMemory memory;
  memory.SetLastEviction("rz1", At(kNoon));
  memory.JobLossOf("a/b").at = At(kNoon);
  memory.JobEvictionsOf("a/b").times = {At(kNoon)};
  memory.admissions = {{.job = "a/b", .at = At(kNoon), .pods = 1}};
  memory.surplus_waits = {{.job = "a/b", .since = At(kNoon), .until = At(kNoon)}};
  memory.ShiftBy(-Timestamp::kNsPerSecond);
  const Timestamp before = At("2026-03-10T11:59:59Z");
  EXPECT_EQ(memory.admissions[0].at, before);
  EXPECT_EQ(memory.surplus_waits[0].since, before);
  EXPECT_EQ(memory.surplus_waits[0].until, before);
  EXPECT_EQ(*memory.LastEviction("rz1"), before);
  EXPECT_EQ(memory.FindJobLoss("a/b")->at, before);
  EXPECT_FALSE(memory.FindJobLoss("a/b")->ended.Present());
  EXPECT_EQ(memory.FindJobEvictions("a/b")->times, std::vector<Timestamp>{before});
  EXPECT_TRUE(Shifted(Timestamp{Timestamp::kAbsentNs + 5}, -10).Present());
}

}  // namespace
}  // namespace krafla::testing
