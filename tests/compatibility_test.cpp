// Where Krafla decides otherwise than Volcano: for every switch a tiny cluster that both sides
// decide differently, and the rules that hold always. The tests carry the numbers and names of
// docs/deviations.md.
#include <gtest/gtest.h>

#include "app/plan_text.h"
#include "base/diagnostics.h"
#include "scheduler/vocabulary.h"
#include "session/eviction_reason.h"
#include "support/cycle.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

using Pods = std::vector<std::string>;

constexpr const char* kNoon = "2026-03-10T12:00:00Z";
constexpr const char* kPreemptable = "volcano.sh/preemptable";
constexpr const char* kZone = "volcano.sh/revocable-zone";
constexpr const char* kMaxUnavailable = "volcano.sh/jdb-max-unavailable";
constexpr const char* kMinAvailable = "volcano.sh/jdb-min-available";
constexpr const char* kCooldown = "volcano.sh/cooldown-time";

struct Decision {
  Texts binds;
  Pods evictions;
  Texts pipelined;
  Texts phases;
};

CycleInput Input(const std::string& cluster, const std::string& config, std::string_view now) {
  CycleInput input;
  input.cluster = cluster;
  input.config = config;
  input.now = now;
  return input;
}

Decision Decide(const std::string& cluster, const std::string& config,
                std::string_view now = kNoon) {
  Cycle cycle(Input(cluster, config, now));
  cycle.Run();
  return {cycle.Binds(), cycle.Evictions(), cycle.Pipelined(), cycle.Phases()};
}

std::string WithSwitchOff(const std::string& config, std::string_view name) {
  return config + "compatibility: {" + std::string(name) + ": false}\n";
}

// What is decided with every rule ours, and with one of them Volcano's.
struct Both {
  Both(std::string_view name, const std::string& cluster, const std::string& config,
       std::string_view now = kNoon)
      : krafla(Decide(cluster, config, now)),
        volcano(Decide(cluster, WithSwitchOff(config, name), now)) {}

  Decision krafla;
  Decision volcano;
};

// A pod that may use every zone and offers to leave it.
PodOptions Guest(PodOptions o) {
  o.annotations.try_emplace(kPreemptable, "true");
  o.annotations.try_emplace(kZone, "*");
  return o;
}

// Zone rz1 was open until 11:00.
std::string DrainConfig(std::string actions = "preempt",
                        std::string plugins = "priority gang tdm") {
  return ConfigYaml({.actions = std::move(actions),
                     .tiers = {std::move(plugins), "predicates"},
                     .tdm = {{"tdm.revocable-zone.rz1", "08:00-11:00"}}});
}

// A job with `pods` pods in zone rz1.
std::string ZoneCluster(int pods, const PodGroupOptions& group, const PodOptions& pod = {}) {
  std::string text =
      QueueYaml() +
      NodeYaml({.name = "n1", .has = "cpu 16, memory 64Gi, pods 110", .zone = "rz1"}) +
      PodGroupYaml(group);
  for (int i = 0; i < pods; ++i) {
    PodOptions o = pod;
    o.name = group.name + "-" + std::to_string(i);
    o.group = group.name;
    o.ns = group.ns;
    o.node = "n1";
    text += PodYaml(Guest(o));
  }
  return text;
}

// Node n1 is full of job "low", which needs none of its pods; job "high" wants to start one.
std::string FullNode(const PodOptions& victim, PodOptions preemptor = {}) {
  std::string text =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
      PodGroupYaml({.name = "low", .ns = victim.ns, .min_member = 0, .priority = "low"}) +
      PodGroupYaml({.name = "high", .priority = "high"});
  for (const char* name : {"low-0", "low-1"}) {
    PodOptions o = victim;
    o.name = name;
    o.group = "low";
    o.node = "n1";
    text += PodYaml(o);
  }
  preemptor.name = "high-0";
  preemptor.group = "high";
  return text + PodYaml(preemptor);
}

// ---- D1: who empties a closed zone

TEST(D1VictimsInPreempt, PreemptEmptiesAClosedZone) {
  const Both both("victims-in-preempt", ZoneCluster(1, {}), DrainConfig("preempt"));
  EXPECT_EQ(both.krafla.evictions, Pods{"default/job-0"});
  EXPECT_EQ(both.volcano.evictions, Pods{});
}

TEST(D1VictimsInPreempt, ShuffleDoesSoOnBothSides) {
  const Both both("victims-in-preempt", ZoneCluster(1, {}), DrainConfig("shuffle"));
  EXPECT_EQ(both.krafla.evictions, Pods{"default/job-0"});
  EXPECT_EQ(both.volcano.evictions, Pods{"default/job-0"});
}

TEST(D1VictimsInPreempt, TheEvictPeriodKeepsPreemptAndShuffleFromDoubling) {
  const Decision decision = Decide(ZoneCluster(3, {}), DrainConfig("preempt, shuffle"));
  EXPECT_EQ(decision.evictions.size(), 1u);
}

// ---- D2, D3, D4: budget annotations

TEST(D2BudgetFloor, ABrokenBudgetIsNotBrokenFurther) {
  const Both both("budget-floor", ZoneCluster(2, {.annotations = {{kMinAvailable, "3"}}}),
                  DrainConfig());
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

TEST(D3BudgetPrecedence, MaxUnavailableWins) {
  const Both both("budget-precedence",
                  ZoneCluster(4, {.annotations = {{kMaxUnavailable, "1"}, {kMinAvailable, "2"}}}),
                  DrainConfig());
  EXPECT_EQ(both.krafla.evictions.size(), 1u);
  EXPECT_EQ(both.volcano.evictions.size(), 2u);
}

TEST(D4BudgetKeys, ShortAndLongKeysAreRead) {
  const auto evicted = [](const Texts& annotations) {
    return Decide(ZoneCluster(6, {.annotations = annotations}), DrainConfig()).evictions.size();
  };
  EXPECT_EQ(evicted({{"volcano.sh/jdb-max-unavailable", "2"}}), 2u);
  EXPECT_EQ(evicted({{"volcano.sh/job-disruption-budget-max-unavailable", "2"}}), 2u);
  EXPECT_EQ(evicted({{"volcano.sh/jdb-min-available", "3"}}), 3u);
  EXPECT_EQ(evicted({{"volcano.sh/job-disruption-budget-min-available", "3"}}), 3u);
}

TEST(D4BudgetKeys, TheLongKeyWins) {
  const Texts annotations = {{"volcano.sh/jdb-max-unavailable", "4"},
                             {"volcano.sh/job-disruption-budget-max-unavailable", "2"}};
  EXPECT_EQ(Decide(ZoneCluster(6, {.annotations = annotations}), DrainConfig()).evictions.size(),
            2u);
}

// ---- D5: cooldown keys

Pods EvictedDespiteCooldown(const Texts& labels, const Texts& annotations) {
  return Decide(FullNode({.scheduled_at = "2026-03-10T11:50:00Z",
                          .labels = labels,
                          .annotations = annotations}),
                ConfigYaml({.tiers = {"priority gang cdp", "predicates"}}))
      .evictions;
}

TEST(D5CooldownKeys, BothKeysAreReadFromLabelsAndAnnotations) {
  EXPECT_EQ(EvictedDespiteCooldown({}, {}).size(), 1u);
  for (const char* key : {"volcano.sh/cooldown-time", "cooldown-time.volcano.sh"}) {
    EXPECT_EQ(EvictedDespiteCooldown({}, {{key, "30m"}}), Pods{}) << key;
    EXPECT_EQ(EvictedDespiteCooldown({{key, "30m"}}, {}), Pods{}) << key;
    EXPECT_EQ(EvictedDespiteCooldown({}, {{key, "5m"}}).size(), 1u) << key;
  }
}

TEST(D5CooldownKeys, LabelsComeBeforeAnnotationsAndTheFirstKeyWins) {
  EXPECT_EQ(EvictedDespiteCooldown({{"cooldown-time.volcano.sh", "5m"}},
                                   {{"volcano.sh/cooldown-time", "30m"}})
                .size(),
            1u);
  EXPECT_EQ(EvictedDespiteCooldown(
                {}, {{"volcano.sh/cooldown-time", "5m"}, {"cooldown-time.volcano.sh", "30m"}})
                .size(),
            1u);
}

// ---- D6, D7, D8, D10: windows

// Whether a waiting guest gets its place in zone rz1.
std::string WaitingGuest() {
  return QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml() + PodYaml(Guest({}));
}

std::string WindowConfig(std::string window, Texts more = {}) {
  more["tdm.revocable-zone.rz1"] = std::move(window);
  return ConfigYaml({.actions = "allocate", .tiers = {"gang tdm", "predicates"}, .tdm = more});
}

const Texts kPlaced = {{"default/job-0", "n1"}};

TEST(D6Windows, AWindowPastMidnightIsOpenAfterMidnight) {
  const Both both("windows", WaitingGuest(), WindowConfig("22:00-06:00"), "2026-03-10T03:00:00Z");
  EXPECT_EQ(both.krafla.binds, kPlaced);
  EXPECT_EQ(both.volcano.binds, Texts{});
}

TEST(D7Windows, EqualEndsMeanTheWholeDay) {
  const Both both("windows", WaitingGuest(), WindowConfig("23:59-23:59"));
  EXPECT_EQ(both.krafla.binds, kPlaced);
  EXPECT_EQ(both.volcano.binds, Texts{});
}

TEST(D8Windows, TheEndIsExclusive) {
  const Both at_end("windows", WaitingGuest(), WindowConfig("08:00-21:00"), "2026-03-10T21:00:00Z");
  EXPECT_EQ(at_end.krafla.binds, Texts{});
  EXPECT_EQ(at_end.volcano.binds, kPlaced);
  const Both before("windows", WaitingGuest(), WindowConfig("08:00-21:00"), "2026-03-10T20:59:59Z");
  EXPECT_EQ(before.krafla.binds, kPlaced);
  EXPECT_EQ(before.volcano.binds, kPlaced);
}

TEST(D10TimeZone, TheOffsetOfNowCountsUnlessTheConfigurationNamesAZone) {
  const std::string offset_counts = WindowConfig("18:00-21:00");
  EXPECT_EQ(Decide(WaitingGuest(), offset_counts, "2026-03-10T20:00:00+08:00").binds, kPlaced);
  EXPECT_EQ(Decide(WaitingGuest(), offset_counts, "2026-03-10T12:00:00Z").binds, Texts{});
  const std::string shanghai = WindowConfig("18:00-21:00", {{"tdm.timezone", "Asia/Shanghai"}});
  EXPECT_EQ(Decide(WaitingGuest(), shanghai, "2026-03-10T12:00:00Z").binds, kPlaced);
  EXPECT_EQ(Decide(WaitingGuest(), shanghai, "2026-03-10T20:00:00Z").binds, Texts{});
}

TEST(D10TimeZone, DaylightSavingFollowsTheDatabase) {
  const std::string berlin = WindowConfig("12:30-13:30", {{"tdm.timezone", "Europe/Berlin"}});
  EXPECT_EQ(Decide(WaitingGuest(), berlin, "2026-01-10T12:00:00Z").binds, kPlaced);  // 13:00
  EXPECT_EQ(Decide(WaitingGuest(), berlin, "2026-07-10T12:00:00Z").binds, Texts{});  // 14:00
}

// ---- D9: the clock of the evict period

// A pod in each of two zones: rz1 has closed at 11:00, rz2 closes at 12:01.
std::string TwoZones(bool someone_in_rz1) {
  std::string text = QueueYaml() + NodeYaml({.name = "n1", .zone = "rz1"}) +
                     NodeYaml({.name = "n2", .zone = "rz2"}) +
                     PodGroupYaml({.name = "a", .min_member = 0}) +
                     PodGroupYaml({.name = "b", .min_member = 0}) +
                     PodYaml(Guest({.name = "b-0", .group = "b", .node = "n2"}));
  if (someone_in_rz1) text += PodYaml(Guest({.name = "a-0", .group = "a", .node = "n1"}));
  return text;
}

// Evictions of a second cycle at 12:02, two minutes after one at noon, with five minutes between
// two steps.
Pods SecondCycle(const std::string& first_cluster, std::string config) {
  Cycle first(Input(first_cluster, config, kNoon));
  first.Run();
  Cycle second(Input(TwoZones(false), config, "2026-03-10T12:02:00Z"));
  second.memory = first.memory;
  second.Run();
  return second.Evictions();
}

TEST(D9EvictPeriodPerZone, EachZoneHasItsOwnClock) {
  const std::string config = ConfigYaml({.tiers = {"gang tdm", "predicates"},
                                         .tdm = {{"tdm.revocable-zone.rz1", "08:00-11:00"},
                                                 {"tdm.revocable-zone.rz2", "08:00-12:01"},
                                                 {"tdm.evict.period", "5m"}}});
  const std::string volcano = WithSwitchOff(config, "evict-period-per-zone");
  EXPECT_EQ(SecondCycle(TwoZones(true), config), Pods{"default/b-0"});
  EXPECT_EQ(SecondCycle(TwoZones(true), volcano), Pods{});
  // Volcano's clock starts even when nobody was evicted.
  EXPECT_EQ(SecondCycle(TwoZones(false), config), Pods{"default/b-0"});
  EXPECT_EQ(SecondCycle(TwoZones(false), volcano), Pods{});
}

// ---- D11: what is wrong in a configuration

struct ReadResult {
  SchedulerConfig config;
  std::vector<std::string> messages;
  bool refused = false;
};

ReadResult Read(const std::string& config, bool lenient) {
  Diagnostics diagnostics;
  ReadResult result;
  result.config =
      ReadSchedulerConfig(config, BuiltInVocabulary(),
                          {.file_name = "scheduler.yaml", .lenient = lenient}, diagnostics);
  for (const Diagnostic& d : diagnostics.items()) result.messages.push_back(ToString(d));
  result.refused = diagnostics.HasErrors();
  return result;
}

TEST(D11InvalidArguments, TheConfigurationIsRejectedWithFileLineKeyAndReason) {
  const ReadResult window = Read(WindowConfig("25:00-26:00"), false);
  ASSERT_EQ(window.messages.size(), 1u);
  EXPECT_TRUE(window.refused);
  EXPECT_TRUE(window.messages[0].starts_with("scheduler.yaml:6:")) << window.messages[0];
  EXPECT_NE(window.messages[0].find("tdm.revocable-zone.rz1"), std::string::npos);
  EXPECT_NE(window.messages[0].find("25:00"), std::string::npos) << window.messages[0];

  EXPECT_TRUE(Read(WindowConfig("08:00-21:00", {{"tdm.evict.period", "soon"}}), false).refused);
  EXPECT_TRUE(Read(WindowConfig("08:00-21:00", {{"tdm.evict.perod", "1m"}}), false).refused);
  EXPECT_TRUE(Read(ConfigYaml({.actions = "allocat", .tiers = {"gang"}}), false).refused);
  EXPECT_TRUE(Read(ConfigYaml({.tiers = {"gnag"}}), false).refused);
}

TEST(D11InvalidArguments, LenientKeepsABadZoneClosedAndTakesDefaults) {
  CycleInput input = Input(WaitingGuest(), WindowConfig("25:00-26:00"), kNoon);
  input.lenient = true;
  Cycle cycle(input);
  cycle.Run();
  EXPECT_EQ(cycle.Binds(), Texts{});

  const ReadResult period = Read(WindowConfig("08:00-21:00", {{"tdm.evict.period", "soon"}}), true);
  EXPECT_FALSE(period.refused);
  EXPECT_EQ(period.messages.size(), 1u);
  const Arguments& tdm = period.config.tiers[0].plugins[1].arguments;
  EXPECT_EQ(tdm.GetDurationNs("tdm.evict.period"), std::nullopt);

  const ReadResult unknown = Read(WindowConfig("08:00-21:00", {{"tdm.evict.perod", "9m"}}), true);
  EXPECT_FALSE(unknown.refused);
  EXPECT_EQ(unknown.messages.size(), 1u);
}

// ---- D13, D30: which zones a pod may use

TEST(D13NamedZones, APodMayNameItsZones) {
  const auto waiting = [](std::string zones, std::string node_zone) {
    return QueueYaml() + NodeYaml({.zone = std::move(node_zone)}) + PodGroupYaml() +
           PodYaml({.annotations = {{kZone, std::move(zones)}}});
  };
  const std::string config = ConfigYaml({.actions = "allocate",
                                         .tiers = {"gang tdm", "predicates"},
                                         .tdm = {{"tdm.revocable-zone.rz1", "08:00-21:00"},
                                                 {"tdm.revocable-zone.rz2", "08:00-21:00"}}});
  const Both named("named-zones", waiting("rz1", "rz1"), config);
  EXPECT_EQ(named.krafla.binds, kPlaced);
  EXPECT_EQ(named.volcano.binds, Texts{});
  EXPECT_EQ(Decide(waiting("rz1", "rz2"), config).binds, Texts{});
  EXPECT_EQ(Decide(waiting("rz3, rz2", "rz2"), config).binds, kPlaced);
  const Both all("named-zones", waiting("*", "rz1"), config);
  EXPECT_EQ(all.krafla.binds, kPlaced);
  EXPECT_EQ(all.volcano.binds, kPlaced);
}

TEST(D30ImpliedZone, PreemptableAloneOpensNoZone) {
  const Both both("implied-zone",
                  QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml() +
                      PodYaml({.annotations = {{kPreemptable, "true"}}}),
                  WindowConfig("08:00-21:00"));
  EXPECT_EQ(both.krafla.binds, Texts{});
  EXPECT_EQ(both.volcano.binds, kPlaced);
}

// ---- D14: budgets are added up

TEST(D14BudgetAccounting, AJobWithoutABudgetLosesOnePodForAllZones) {
  const std::string cluster = QueueYaml() + NodeYaml({.name = "n1", .zone = "rz1"}) +
                              NodeYaml({.name = "n2", .zone = "rz2"}) +
                              PodGroupYaml({.min_member = 0}) +
                              PodYaml(Guest({.name = "job-1", .node = "n1"})) +
                              PodYaml(Guest({.name = "job-2", .node = "n2"}));
  const std::string config = ConfigYaml({.tiers = {"gang tdm", "predicates"},
                                         .tdm = {{"tdm.revocable-zone.rz1", "08:00-11:00"},
                                                 {"tdm.revocable-zone.rz2", "08:00-11:00"}}});
  const Both both("budget-accounting", cluster, config);
  EXPECT_EQ(both.krafla.evictions, Pods{"default/job-1"});
  EXPECT_EQ(both.volcano.evictions, (Pods{"default/job-1", "default/job-2"}));
}

const std::string kPdbConfig = ConfigYaml({.tiers = {"priority gang pdb", "predicates"}});

// Two jobs that want a place each where only pods of one PodDisruptionBudget run, which allows one
// disruption.
TEST(D14BudgetAccounting, ADisruptionBudgetIsUsedUpWithinTheCycle) {
  const std::string cluster = FullNode({.labels = {{"app", "web"}}}) +
                              PodGroupYaml({.name = "also", .priority = "high"}) +
                              PodYaml({.name = "also-0", .group = "also"}) +
                              PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 1});
  const Both both("budget-accounting", cluster, kPdbConfig);
  EXPECT_EQ(both.krafla.evictions.size(), 1u);
  EXPECT_EQ(both.krafla.pipelined.size(), 1u);
  EXPECT_EQ(both.volcano.evictions.size(), 2u);
  EXPECT_EQ(both.volcano.pipelined.size(), 2u);
}

TEST(D14BudgetAccounting, ADiscardedStatementRefunds) {
  // "high" needs two places and the budget gives one: taken back, and there for "also", which needs
  // one.
  std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
      PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"}) +
      PodGroupYaml({.name = "high", .min_member = 2, .priority = "high"}) +
      PodGroupYaml({.name = "also", .priority = "mid"}) +
      PodYaml({.name = "high-0", .group = "high"}) + PodYaml({.name = "high-1", .group = "high"}) +
      PodYaml({.name = "also-0", .group = "also"}) +
      PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 1});
  for (const char* name : {"low-0", "low-1"})
    cluster += PodYaml({.name = name, .group = "low", .node = "n1", .labels = {{"app", "web"}}});
  const Decision decision = Decide(cluster, kPdbConfig);
  EXPECT_EQ(decision.evictions.size(), 1u);
  EXPECT_EQ(decision.pipelined, (Texts{{"default/also-0", "n1"}}));
}

// ---- D15: a guard's veto holds in every tier

TEST(D15Guards, CooldownHoldsThoughTheNextTierWouldNotAsk) {
  const Both both(
      "guards",
      FullNode({.scheduled_at = "2026-03-10T11:58:00Z", .annotations = {{kCooldown, "5m"}}}),
      ConfigYaml({.tiers = {"priority gang cdp", "drf predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

TEST(D15Guards, SystemPodsAreSpared) {
  const Both both("guards", FullNode({.ns = "kube-system"}),
                  ConfigYaml({.tiers = {"priority gang conformance", "drf predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

TEST(D15Guards, DisruptionBudgetsHold) {
  const Both both("guards",
                  FullNode({.labels = {{"app", "web"}}}) +
                      PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 0}),
                  ConfigYaml({.tiers = {"priority gang pdb", "drf predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

// Queue "taker" has all of the node, queue "waiter" nothing; both deserve half.
std::string TwoQueues(PodOptions victim, PodOptions waiting = {}) {
  std::string text = QueueYaml({.name = "taker"}) + QueueYaml({.name = "waiter"}) + NodeYaml() +
                     PodGroupYaml({.name = "hog", .queue = "taker", .min_member = 0}) +
                     PodGroupYaml({.name = "late", .queue = "waiter"});
  for (int i = 0; i < 4; ++i) {
    victim.name = "hog-" + std::to_string(i);
    victim.group = "hog";
    victim.node = "n1";
    text += PodYaml(victim);
  }
  waiting.name = "late-0";
  waiting.group = "late";
  return text + PodYaml(waiting);
}

TEST(D15Guards, CooldownHoldsForReclaimToo) {
  const Both both(
      "guards",
      TwoQueues({.scheduled_at = "2026-03-10T11:58:00Z", .annotations = {{kCooldown, "5m"}}}),
      ConfigYaml({.actions = "reclaim", .tiers = {"gang cdp", "predicates proportion"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

// ---- D16: an empty intersection ends the tier

TEST(D16EmptyIntersection, EndsTheTierLikeAnEmptyAnswer) {
  // priority would give a-0, gang b-0: nobody is in both, and conformance must not begin anew.
  const std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
      PodGroupYaml({.name = "a", .min_member = 1, .priority = "low"}) +
      PodGroupYaml({.name = "b", .min_member = 0, .priority = "high"}) +
      PodGroupYaml({.name = "p", .priority = "mid"}) +
      PodYaml({.name = "a-0", .group = "a", .node = "n1"}) +
      PodYaml({.name = "b-0", .group = "b", .node = "n1"}) + PodYaml({.name = "p-0", .group = "p"});
  const Both both("empty-intersection", cluster,
                  ConfigYaml({.tiers = {"priority gang conformance", "predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

// ---- D19: superfluous victims are put back

TEST(D19Reprieve, AVictimThatIsNotNeededAfterAllStays) {
  // "small" goes first, being the least important; then "big" alone turns out to be enough.
  const std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml() +
      PodGroupYaml({.name = "small", .min_member = 0, .priority = "low"}) +
      PodGroupYaml({.name = "big", .min_member = 0, .priority = "mid"}) +
      PodGroupYaml({.name = "high", .priority = "high"}) +
      PodYaml({.name = "small-0", .group = "small", .node = "n1", .asks = "cpu 1"}) +
      PodYaml({.name = "big-0", .group = "big", .node = "n1", .asks = "cpu 3"}) +
      PodYaml({.name = "high-0", .group = "high", .asks = "cpu 3"});
  const Both both("reprieve", cluster, ConfigYaml({.tiers = {"priority gang", "predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{"default/big-0"});
  EXPECT_EQ(both.volcano.evictions, (Pods{"default/big-0", "default/small-0"}));
  EXPECT_EQ(both.krafla.pipelined, both.volcano.pipelined);
}

// ---- D20: all nodes are looked at

TEST(D20AllNodes, TheBestOfManyNodesIsFound) {
  std::string cluster = QueueYaml() + PodGroupYaml() + PodYaml({});
  for (int i = 0; i < 400; ++i)
    cluster += NodeYaml(
        {.name = "n" + std::to_string(1000 + i),
         .has = i == 399 ? "cpu 64, memory 640Gi, pods 110" : "cpu 2, memory 4Gi, pods 110"});
  const std::string config =
      ConfigYaml({.actions = "allocate", .tiers = {"gang", "predicates nodeorder"}});
  EXPECT_EQ(Decide(cluster, config).binds, (Texts{{"default/job-0", "n1399"}}));
  CycleInput volcano = Input(cluster, config, kNoon);
  volcano.profile = "volcano";
  Cycle cycle(volcano);
  cycle.Run();
  EXPECT_EQ(cycle.Binds(), (Texts{{"default/job-0", "n1399"}}));
}

// ---- D21, D22, D23, D24

TEST(D21PdbUnlabelled, APodWithoutLabelsIsAVictimLikeAnyOther) {
  const Both both("pdb-unlabelled",
                  FullNode({}) + PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 0}),
                  kPdbConfig);
  EXPECT_EQ(both.krafla.evictions.size(), 1u);
  EXPECT_EQ(both.volcano.evictions, Pods{});
}

TEST(D22CsiAttachLimit, ADriverThatNobodyDeclaresIsNotCounted) {
  const std::string cluster = QueueYaml() + NodeYaml() + PodGroupYaml() + R"(---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/csi
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
status: {phase: Pending}
)" + PodYaml({.spec = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"});
  const Both both("csi-attach-limit", cluster,
                  ConfigYaml({.actions = "allocate", .tiers = {"gang", "predicates"}}));
  EXPECT_EQ(both.krafla.binds, kPlaced);
  EXPECT_EQ(both.volcano.binds, Texts{});
}

TEST(D23ClosedQueue, NothingEntersAClosedQueue) {
  const std::string cluster = QueueYaml({.state = "Closed"}) + NodeYaml() +
                              PodGroupYaml({.phase = "Pending"}) + PodYaml({});
  const std::string config =
      ConfigYaml({.actions = "enqueue, allocate", .tiers = {"gang", "predicates proportion"}});
  const Both both("closed-queue", cluster, config);
  EXPECT_EQ(both.krafla.phases.at("default/job"), "Pending");
  EXPECT_EQ(both.volcano.phases.at("default/job"), "Inqueue");

  Cycle cycle(Input(cluster, config, kNoon));
  cycle.Run();
  const std::string* reason = cycle.session->EnqueueRefusal(cycle.FindJob("default/job"));
  ASSERT_NE(reason, nullptr);
  EXPECT_NE(reason->find("Closed"), std::string::npos) << *reason;
}

TEST(D24VictimsFilter, NobodyNominatedMeansNobodyEvicted) {
  const Both both("victims-filter",
                  FullNode({.labels = {{"app", "web"}}}) +
                      PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 1}),
                  ConfigYaml({.actions = "shuffle", .tiers = {"gang pdb", "predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

// ---- D25, D26, D29: whom a closing zone takes

TEST(D25DrainGang, AGangAtItsMinimumGoesWhole) {
  const Both both("drain-gang", ZoneCluster(3, {.min_member = 3}), DrainConfig());
  EXPECT_EQ(both.krafla.evictions.size(), 3u);
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

TEST(D25DrainGang, ABudgetThatForbidsAllOfItKeepsTheGang) {
  const Both both("drain-gang",
                  ZoneCluster(3, {.min_member = 3, .annotations = {{kMaxUnavailable, "2"}}}),
                  DrainConfig());
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 2u);
}

TEST(D25DrainGang, SurplusGoesFirst) {
  const Both both("drain-gang",
                  ZoneCluster(4, {.min_member = 3, .annotations = {{kMaxUnavailable, "2"}}}),
                  DrainConfig());
  EXPECT_EQ(both.krafla.evictions.size(), 1u);
  EXPECT_EQ(both.volcano.evictions.size(), 2u);
}

TEST(D26DrainGuards, ConformanceAndDisruptionBudgetsHold) {
  const Both system("drain-guards", ZoneCluster(1, {.ns = "kube-system"}),
                    DrainConfig("preempt", "gang conformance tdm"));
  EXPECT_EQ(system.krafla.evictions, Pods{});
  EXPECT_EQ(system.volcano.evictions, Pods{"kube-system/job-0"});

  const Both budget("drain-guards",
                    ZoneCluster(1, {}, {.labels = {{"app", "web"}}}) +
                        PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 0}),
                    DrainConfig("preempt", "gang pdb tdm"));
  EXPECT_EQ(budget.krafla.evictions, Pods{});
  EXPECT_EQ(budget.volcano.evictions, Pods{"default/job-0"});
}

TEST(D26DrainGuards, CooldownDoesNotHold) {
  const Both both(
      "drain-guards",
      ZoneCluster(1, {},
                  {.scheduled_at = "2026-03-10T11:58:00Z", .annotations = {{kCooldown, "5m"}}}),
      DrainConfig("preempt", "gang cdp tdm"));
  EXPECT_EQ(both.krafla.evictions, Pods{"default/job-0"});
  EXPECT_EQ(both.volcano.evictions, Pods{"default/job-0"});
}

TEST(D29PreemptableDefault, AClosingZoneTakesOnlyWhoSaysSo) {
  const auto cluster = [](const Texts& group, const Texts& pod) {
    return QueueYaml() + NodeYaml({.zone = "rz1"}) + PodGroupYaml({.annotations = group}) +
           PodYaml({.node = "n1", .annotations = pod});
  };
  const Both silent("preemptable-default", cluster({}, {{kZone, "*"}}), DrainConfig());
  EXPECT_EQ(silent.krafla.evictions, Pods{});
  EXPECT_EQ(silent.volcano.evictions, Pods{"default/job-0"});
  const Both group_says("preemptable-default", cluster({{kPreemptable, "true"}}, {{kZone, "*"}}),
                        DrainConfig());
  EXPECT_EQ(group_says.krafla.evictions, Pods{"default/job-0"});
  const Both pod_refuses("preemptable-default",
                         cluster({}, {{kZone, "*"}, {kPreemptable, "false"}}), DrainConfig());
  EXPECT_EQ(pod_refuses.krafla.evictions, Pods{});
  EXPECT_EQ(pod_refuses.volcano.evictions, Pods{});
}

TEST(D29PreemptableDefault, TdmAloneNamesOnlyWhoSaysSo) {
  const std::string alone = DrainConfig("preempt", "tdm");
  EXPECT_EQ(Decide(FullNode({}), alone).evictions, Pods{});
  EXPECT_EQ(Decide(FullNode({.annotations = {{kPreemptable, "true"}}}), alone).evictions.size(),
            1U);
  // A guard names nobody.
  EXPECT_EQ(Decide(FullNode({}), DrainConfig("preempt", "cdp tdm")).evictions, Pods{});
  // Where priority names it, tdm has nothing against it.
  EXPECT_EQ(Decide(FullNode({}), DrainConfig("preempt", "priority tdm")).evictions.size(), 1U);
}

// ---- D27, D28: predicates and evictions

TEST(D27PredicateErrorCache, ARefusalIsAskedAgainAfterEvictions) {
  // Workers must be beside the leader. The first one is tried before the leader has a place, the
  // second one after.
  const std::string beside_the_leader =
      "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
      "kubernetes.io/hostname, labelSelector: {matchLabels: {part: leader}}}]}}";
  std::string cluster = PriorityClassesYaml() + QueueYaml() +
                        NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
                        PodGroupYaml({.name = "low", .min_member = 0, .priority = "low"}) +
                        PodGroupYaml({.name = "team", .min_member = 2, .priority = "high"}) +
                        PodYaml({.name = "low-0", .group = "low", .node = "n1"}) +
                        PodYaml({.name = "low-1", .group = "low", .node = "n1"}) +
                        PodYaml({.name = "worker-0",
                                 .group = "team",
                                 .role = "worker",
                                 .priority = "high",
                                 .spec = beside_the_leader}) +
                        PodYaml({.name = "leader-0",
                                 .group = "team",
                                 .role = "leader",
                                 .priority = "mid",
                                 .labels = {{"part", "leader"}}}) +
                        PodYaml({.name = "worker-1",
                                 .group = "team",
                                 .role = "worker",
                                 .priority = "low",
                                 .spec = beside_the_leader});
  const Both both("predicate-error-cache", cluster,
                  ConfigYaml({.tiers = {"priority gang", "predicates"}}));
  EXPECT_EQ(both.krafla.pipelined, (Texts{{"default/leader-0", "n1"}, {"default/worker-1", "n1"}}));
  EXPECT_EQ(both.krafla.evictions, (Pods{"default/low-0", "default/low-1"}));
  EXPECT_EQ(both.volcano.pipelined, Texts{});
  EXPECT_EQ(both.volcano.evictions, Pods{});
}

TEST(D28ReclaimPredicates, NobodyIsEvictedForAPodThatCannotLand) {
  // The port that late-0 needs is taken by a pod of its own queue, which no reclaim removes.
  const std::string port = "ports: [{containerPort: 80, hostPort: 8080}]";
  std::string cluster =
      QueueYaml({.name = "taker"}) + QueueYaml({.name = "waiter"}) + NodeYaml() +
      PodGroupYaml({.name = "hog", .queue = "taker", .min_member = 0}) +
      PodGroupYaml({.name = "web", .queue = "waiter"}) +
      PodGroupYaml({.name = "late", .queue = "waiter"}) +
      PodYaml({.name = "web-0", .group = "web", .node = "n1", .container = port}) +
      PodYaml({.name = "late-0", .group = "late", .container = port});
  for (const char* name : {"hog-0", "hog-1", "hog-2"})
    cluster += PodYaml({.name = name, .group = "hog", .node = "n1"});
  const Both both("reclaim-predicates", cluster,
                  ConfigYaml({.actions = "reclaim", .tiers = {"gang", "predicates proportion"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.krafla.pipelined, Texts{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
  EXPECT_EQ(both.volcano.pipelined, (Texts{{"default/late-0", "n1"}}));
}

// ---- D31: always

TEST(D31Always, TasksThatSucceededCountAsReady) {
  const auto waiting_beside = [](std::string phase) {
    return FullNode({}) +
           PodYaml({.name = "high-1", .group = "high", .node = "n1", .phase = std::move(phase)});
  };
  const std::string config = ConfigYaml({.tiers = {"priority gang", "predicates"}});
  // minMember is 1: with a task that has ended well the job has it, with one that has failed it
  // starves.
  EXPECT_EQ(Decide(waiting_beside("Succeeded"), config).evictions, Pods{});
  EXPECT_EQ(Decide(waiting_beside("Failed"), config).evictions.size(), 1u);
}

TEST(D31Always, ReclaimSparesWhoIsNotPreemptable) {
  const std::string config =
      ConfigYaml({.actions = "reclaim", .tiers = {"gang", "predicates proportion"}});
  EXPECT_EQ(Decide(TwoQueues({}), config).evictions.size(), 1u);
  EXPECT_EQ(Decide(TwoQueues({.annotations = {{kPreemptable, "false"}}}), config).evictions,
            Pods{});
}

TEST(D31Always, WithinJobPreemptionRunsInsideEachQueuesTurn) {
  // In each queue a job of two priorities: the important task takes the place of its own job's
  // other one.
  std::string cluster = PriorityClassesYaml();
  for (const char* queue : {"a", "b"}) {
    const std::string q = queue;
    cluster +=
        QueueYaml({.name = q}) +
        NodeYaml({.name = "n" + q, .has = "cpu 2, memory 4Gi, pods 9", .labels = {{"for", q}}}) +
        PodGroupYaml({.name = "own-" + q, .queue = q, .min_member = 2, .priority = "low"}) +
        PodGroupYaml({.name = "low-" + q, .queue = q, .min_member = 0, .priority = "low"}) +
        PodGroupYaml({.name = "high-" + q, .queue = q, .priority = "high"}) +
        PodYaml(
            {.name = "own-" + q + "-0", .group = "own-" + q, .node = "n" + q, .priority = "low"}) +
        PodYaml({.name = "low-" + q + "-0", .group = "low-" + q, .node = "n" + q}) +
        PodYaml({.name = "own-" + q + "-1",
                 .group = "own-" + q,
                 .priority = "high",
                 .spec = "nodeSelector: {for: " + q + "}"}) +
        PodYaml({.name = "high-" + q + "-0",
                 .group = "high-" + q,
                 .spec = "nodeSelector: {for: " + q + "}"});
  }
  // gang protects the minimum; here its word on victims is not wanted.
  const std::string config = R"(actions: preempt
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}]
- plugins: [{name: predicates}]
)";
  Cycle cycle(Input(cluster, config, kNoon));
  cycle.Run();
  Pods in_order;
  for (const Eviction& e : cycle.session->plan.evictions)
    in_order.push_back(cycle.cluster.TaskKey(e.task) + " " +
                       std::string(ToString(ReasonOf(*cycle.session, e))));
  EXPECT_EQ(in_order, (Pods{"default/low-a-0 priority", "default/own-a-0 within-job",
                            "default/low-b-0 priority", "default/own-b-0 within-job"}));
}

// ---- D32: an eviction that was taken back leaves no trace

TEST(D32ExactUndo, AVictimThatWasPutBackIsSeenAgain) {
  // The gang evicts on n1, finds no second place and takes it back. Then the other job looks for
  // the emptier node: n2, unless the pod on n1 was lost from sight.
  const std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.name = "n1"}) + NodeYaml({.name = "n2"}) +
      PodGroupYaml({.name = "low", .min_member = 0, .priority = "low", .phase = "Running"}) +
      PodGroupYaml({.name = "gang", .min_member = 2, .priority = "high"}) +
      PodGroupYaml({.name = "other", .priority = "mid"}) +
      PodYaml({.name = "low-0", .group = "low", .node = "n1", .asks = "cpu 3, memory 1Gi"}) +
      PodYaml({.name = "low-1",
               .group = "low",
               .node = "n2",
               .annotations = {{kPreemptable, "false"}}}) +
      PodYaml({.name = "gang-0", .group = "gang", .asks = "cpu 4, memory 1Gi"}) +
      PodYaml({.name = "gang-1", .group = "gang", .asks = "cpu 4, memory 1Gi"}) +
      PodYaml({.name = "other-0", .group = "other"});
  const Both both("exact-undo", cluster,
                  ConfigYaml({.tiers = {"priority gang", "predicates nodeorder"}}));
  EXPECT_EQ(both.krafla.pipelined, (Texts{{"default/other-0", "n2"}}));
  EXPECT_EQ(both.volcano.pipelined, (Texts{{"default/other-0", "n1"}}));
}

// ---- D33: a pod whose claim is not there

TEST(D33MissingClaims, APodWithoutItsClaimWaitsWithItsJob) {
  const std::string cluster =
      QueueYaml() + NodeYaml() + PodGroupYaml({.min_member = 2}) +
      PodYaml({.name = "job-0",
               .spec = "volumes: [{name: data, persistentVolumeClaim: {claimName: gone}}]"}) +
      PodYaml({.name = "job-1"}) + PodYaml({.name = "job-2"});
  const Both both("missing-claims", cluster,
                  ConfigYaml({.actions = "allocate", .tiers = {"gang", "predicates"}}));
  EXPECT_EQ(both.krafla.binds.size(), 2u);
  EXPECT_EQ(both.volcano.binds.size(), 2u);
  const std::string all_or_none =
      QueueYaml() + NodeYaml() + PodGroupYaml({.min_member = 1}) +
      PodYaml({.name = "job-0",
               .role = "work",
               .spec = "volumes: [{name: data, persistentVolumeClaim: {claimName: gone}}]"}) +
      PodYaml({.name = "job-1", .role = "work"});
  const Both role("missing-claims", all_or_none,
                  ConfigYaml({.actions = "allocate", .tiers = {"gang", "predicates"}}));
  EXPECT_EQ(role.krafla.binds, Texts{});
  EXPECT_EQ(role.volcano.binds, (Texts{{"default/job-1", "n1"}}));
}

// ---- D34: a dry run asks the queue's share

TEST(D34DryRunShare, NobodyIsEvictedForAPodItsQueueHasNoShareFor) {
  const std::string cluster =
      PriorityClassesYaml() + QueueYaml({.capability = "cpu 4, memory 64Gi"}) +
      NodeYaml({.has = "cpu 8, memory 64Gi, pods 110"}) +
      PodGroupYaml({.name = "low", .min_member = 0, .priority = "low", .phase = "Running"}) +
      PodGroupYaml({.name = "high", .priority = "high"}) +
      PodYaml({.name = "low-0", .group = "low", .node = "n1", .asks = "cpu 2, memory 1Gi"}) +
      PodYaml({.name = "low-1", .group = "low", .node = "n1", .asks = "cpu 2, memory 1Gi"}) +
      PodYaml({.name = "high-0", .group = "high", .asks = "cpu 6, memory 1Gi"});
  const std::string config =
      ConfigYaml({.tiers = {"priority gang", "predicates proportion"}}) +
      "configurations:\n- name: preempt\n  arguments: {enableTopologyAwarePreemption: true}\n";
  const Both both("dry-run-share", cluster, config);
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 2u);
}

// ---- found in review

std::string AffinityYaml(std::string_view kind) {
  return "affinity: {" + std::string(kind) +
         ": {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
         "kubernetes.io/hostname, "
         "labelSelector: {matchLabels: {app: web}}}]}}";
}

std::string OneVictimAndAPodWith(std::string_view affinity) {
  return PriorityClassesYaml() + QueueYaml() + NodeYaml() +
         PodGroupYaml({.name = "low", .min_member = 0, .priority = "low", .phase = "Running"}) +
         PodGroupYaml({.name = "high", .priority = "high"}) +
         PodYaml({.name = "low-0",
                  .group = "low",
                  .node = "n1",
                  .asks = "cpu 4, memory 1Gi",
                  .labels = {{"app", "web"}}}) +
         PodYaml({.name = "high-0", .group = "high", .spec = AffinityYaml(affinity)});
}

TEST(D27PredicateErrorCache, ThePodItNeedsIsNotEvictedForIt) {
  const Both both("predicate-error-cache", OneVictimAndAPodWith("podAffinity"),
                  ConfigYaml({.tiers = {"priority gang", "predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions, Pods{"default/low-0"});
}

TEST(D27PredicateErrorCache, ThePodItCannotStandMayBeEvictedForIt) {
  const Both both("predicate-error-cache", OneVictimAndAPodWith("podAntiAffinity"),
                  ConfigYaml({.tiers = {"priority gang", "predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{"default/low-0"});
  EXPECT_EQ(both.volcano.evictions, Pods{});
}

TEST(D15Guards, ABudgetIsNotSpentOnPodsThatStayAnyway) {
  std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 2, memory 8Gi, pods 110"}) +
      PodBudgetYaml({.selects = {{"app", "web"}}, .allows = 1}) +
      PodGroupYaml({.name = "a", .min_member = 0, .priority = "high", .phase = "Running"}) +
      PodGroupYaml({.name = "b", .min_member = 0, .priority = "low", .phase = "Running"}) +
      PodGroupYaml({.name = "new", .priority = "mid"}) +
      PodYaml({.name = "a-0", .group = "a", .node = "n1", .labels = {{"app", "web"}}}) +
      PodYaml({.name = "b-0", .group = "b", .node = "n1", .labels = {{"app", "web"}}}) +
      PodYaml({.name = "new-0", .group = "new"});
  const Decision decision =
      Decide(cluster, ConfigYaml({.tiers = {"priority gang pdb", "predicates"}}));
  EXPECT_EQ(decision.evictions, Pods{"default/b-0"});
}

TEST(D25DrainGang, AMemberOnAVanishedNodeHoldsNobodyBack) {
  const std::string cluster =
      QueueYaml() + NodeYaml({.zone = "rz1"}) +
      PodGroupYaml({.min_member = 2, .phase = "Running", .annotations = {{kPreemptable, "true"}}}) +
      PodYaml(
          {.name = "job-0", .node = "n1", .annotations = {{kPreemptable, "true"}, {kZone, "*"}}}) +
      PodYaml(
          {.name = "job-1", .node = "gone", .annotations = {{kPreemptable, "true"}, {kZone, "*"}}});
  const Decision decision =
      Decide(cluster, ConfigYaml({.tiers = {"gang tdm", "predicates"},
                                  .tdm = {{"tdm.revocable-zone.rz1", "08:00-09:00"}}}));
  EXPECT_EQ(decision.evictions, Pods{"default/job-0"});
}

// ---- D36: cooldowns of PodGroups and Queues

TEST(D36InheritedCooldown, APodGroupsCooldownCountsForItsPods) {
  const std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml({.has = "cpu 1, memory 8Gi, pods 110"}) +
      PodGroupYaml(
          {.name = "low", .min_member = 0, .priority = "low", .annotations = {{kCooldown, "5m"}}}) +
      PodGroupYaml({.name = "high", .priority = "high"}) +
      PodYaml(
          {.name = "low-0", .group = "low", .node = "n1", .scheduled_at = "2026-03-10T11:58:00Z"}) +
      PodYaml({.name = "high-0", .group = "high"});
  const Both both("inherited-cooldown", cluster,
                  ConfigYaml({.tiers = {"priority gang cdp", "predicates"}}));
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions, Pods{"default/low-0"});
}

// ---- D37: invalid disruption budgets

TEST(D37BudgetUnreadable, AnInvalidBudgetProtectsTheJob) {
  for (const char* text : {"60 %", "many", "-1"}) {
    const Both both(
        "budget-unreadable",
        ZoneCluster(4, {.min_member = 0,
                        .phase = "Running",
                        .annotations = {{kPreemptable, "true"}, {kMinAvailable, text}}}),
        DrainConfig());
    EXPECT_EQ(both.krafla.evictions, Pods{}) << text;
    EXPECT_EQ(both.volcano.evictions.size(), 4u) << text;
  }
}

TEST(D37BudgetUnreadable, AnEmptyBudgetIsAbsentForVolcanoOnly) {
  const Both both("budget-unreadable",
                  ZoneCluster(4, {.min_member = 0,
                                  .phase = "Running",
                                  .annotations = {{kPreemptable, "true"}, {kMaxUnavailable, ""}}}),
                  DrainConfig());
  EXPECT_EQ(both.krafla.evictions, Pods{});
  EXPECT_EQ(both.volcano.evictions.size(), 1u);
}

// ---- D38: a nomination to a node that is gone

TEST(D38LostNomination, APodNominatedToANodeThatIsGoneMayPreemptElsewhere) {
  std::string cluster = FullNode({});
  const std::string pending = "  phase: Pending\n";
  ASSERT_NE(cluster.find(pending), std::string::npos) << cluster;
  cluster.replace(cluster.find(pending), pending.size(), pending + "  nominatedNodeName: gone\n");
  const std::string config = ConfigYaml({.tiers = {"priority gang", "predicates"}});
  const Both both("lost-nomination", cluster, config);
  EXPECT_EQ(both.krafla.evictions.size(), 1u);
  EXPECT_EQ(both.volcano.evictions, Pods{});

  Cycle cycle(Input(cluster, WithSwitchOff(config, "lost-nomination"), kNoon));
  cycle.Run();
  const std::string text = PlanAsText(*cycle.session, false);
  EXPECT_NE(text.find("high-0 is nominated for node gone, which does not exist"), std::string::npos)
      << text;
}

TEST(D38LostNomination, APodRefusedBecauseOfItsNominationIsNamedByRun) {
  std::string cluster = FullNode({});
  const std::string pending = "  phase: Pending\n";
  cluster.replace(cluster.find(pending), pending.size(), pending + "  nominatedNodeName: n1\n");
  Cycle cycle(
      Input(cluster,
            ConfigYaml({.actions = "allocate, preempt", .tiers = {"priority gang", "predicates"}}),
            kNoon));
  cycle.Run();
  EXPECT_EQ(cycle.Evictions(), Pods{});
  const std::string text = PlanAsText(*cycle.session, false);
  EXPECT_NE(text.find("high-0 is nominated for node n1, whose predicates pass"), std::string::npos)
      << text;
}

// ---- D35: (anti-)affinity of pods placed in this cycle

TEST(D35NewcomersAffinity, APodPlacedAMomentAgoKeepsOthersAway) {
  const std::string cluster =
      PriorityClassesYaml() + QueueYaml() + NodeYaml() +
      PodGroupYaml({.name = "first", .priority = "high"}) +
      PodGroupYaml({.name = "second", .priority = "low"}) +
      PodYaml({.name = "first-0", .group = "first", .spec = AffinityYaml("podAntiAffinity")}) +
      PodYaml({.name = "second-0", .group = "second", .labels = {{"app", "web"}}});
  const Both both(
      "newcomers-affinity", cluster,
      ConfigYaml({.actions = "allocate", .tiers = {"priority gang", "predicates nodeorder"}}));
  EXPECT_EQ(both.krafla.binds, (Texts{{"default/first-0", "n1"}}));
  EXPECT_EQ(both.volcano.binds.size(), 2u);
}

}  // namespace
}  // namespace krafla::testing
