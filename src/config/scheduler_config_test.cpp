#include "config/scheduler_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/config_names.h"
#include "config/config_test_support.h"

namespace krafla {
namespace {

using namespace config_test;

TEST(SchedulerConfig, AFileAsItIsUsed) {
  const SchedulerConfig config = MustRead(R"(
actions: "enqueue, allocate,backfill ,  preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
    enableJobStarving: false
- plugins:
  - name: tdm
    arguments:
      tdm.revocable-zone.rz1: "08:00-21:00"
      tdm.revocable-zone.rz2: 22:00-06:00
      tdm.evict.period: 1m30s
configurations:
- name: preempt
  arguments:
    enableTopologyAwarePreemption: true
    minCandidateNodesAbsolute: 3
metrics:
  type: prometheus
  address: http://prometheus:9090
compatibility:
  profile: krafla
  windows: false
)");
  ASSERT_EQ(config.actions.size(), 4u);
  EXPECT_EQ(config.actions[0].name, "enqueue");
  EXPECT_EQ(config.actions[3].name, "preempt");
  ExpectAt(config.actions[0].location, 2, 11);
  ExpectAt(config.actions[1].location, 2, 20);
  ExpectAt(config.actions[3].location, 2, 41);
  EXPECT_TRUE(config.HasAction("backfill"));
  EXPECT_FALSE(config.HasAction("shuffle"));

  ASSERT_EQ(config.tiers.size(), 2u);
  ASSERT_EQ(config.tiers[0].plugins.size(), 2u);
  const PluginOption& gang = config.tiers[0].plugins[1];
  EXPECT_EQ(gang.name, "gang");
  ExpectAt(gang.location, 6, 11);
  EXPECT_FALSE(gang.Enabled(Switch::kPreemptable));
  EXPECT_FALSE(gang.Enabled(Switch::kJobStarving));
  EXPECT_TRUE(gang.Enabled(Switch::kJobOrder));
  EXPECT_FALSE(gang.Enabled(Switch::kHierarchy));

  const Arguments& zones = config.tiers[1].plugins[0].arguments;
  ASSERT_EQ(zones.items.size(), 3u);
  EXPECT_EQ(zones.GetString("tdm.revocable-zone.rz1"), "08:00-21:00");
  EXPECT_EQ(zones.GetString("tdm.revocable-zone.rz2"), "22:00-06:00");
  EXPECT_EQ(zones.GetDurationNs("tdm.evict.period"), 90'000'000'000);
  ExpectAt(zones.items[0].location, 12, 31);

  const Arguments& preempt = config.ArgumentsOf("preempt");
  EXPECT_EQ(preempt.GetBool("enableTopologyAwarePreemption"), true);
  EXPECT_EQ(preempt.GetInt("minCandidateNodesAbsolute"), 3);
  EXPECT_TRUE(config.ArgumentsOf("allocate").items.empty());
  EXPECT_FALSE(config.compatibility.windows);
  EXPECT_TRUE(config.compatibility.guards);
}

TEST(SchedulerConfig, TheDefaultIsReadWithoutComplaint) {
  const SchedulerConfig config = MustRead(DefaultSchedulerConfigText());
  std::string shape;
  for (const ActionOption& action : config.actions) shape += action.name + ' ';
  for (const Tier& tier : config.tiers) {
    shape += '|';
    for (const PluginOption& plugin : tier.plugins) shape += ' ' + plugin.name;
  }
  EXPECT_EQ(shape,
            "enqueue allocate backfill | priority gang conformance| overcommit drf predicates "
            "proportion nodeorder");
}

TEST(SchedulerConfig, JsonIsYaml) {
  const SchedulerConfig config = MustRead(
      R"({"actions": "allocate",
          "tiers": [{"plugins": [{"name": "gang", "enableJobOrder": false}]}]})");
  EXPECT_FALSE(config.tiers.at(0).plugins.at(0).Enabled(Switch::kJobOrder));
}

// ---- Actions

TEST(SchedulerConfigActions, AnActionMayBeListedTwice) {
  const SchedulerConfig config = MustRead("actions: preempt, allocate, preempt\ntiers: []\n");
  ASSERT_EQ(config.actions.size(), 3u);
  ExpectAt(config.actions[2].location, 1, 29);
}

TEST(SchedulerConfigActions, BlockTextIsTrimmed) {
  const SchedulerConfig config = MustRead("actions: |\n  enqueue,\n  allocate\ntiers: []\n");
  ASSERT_EQ(config.actions.size(), 2u);
  EXPECT_EQ(config.actions[1].name, "allocate");
  ExpectAt(config.actions[1].location, 1, 10);
}

TEST(SchedulerConfigActions, UnknownNamesAreAllReported) {
  EXPECT_EQ(
      ProblemsOf("actions: \"enqeue, allocate, gangpreempt, dance\"\ntiers: []\n"),
      "conf:1:11: error: actions: unknown action \"enqeue\"; did you mean \"enqueue\"?\n"
      "conf:1:29: error: actions: action \"gangpreempt\" of Volcano is not available in Krafla "
      "yet\n"
      "conf:1:42: error: actions: unknown action \"dance\"; expected one of enqueue, allocate, "
      "backfill, preempt, shuffle");
}

TEST(SchedulerConfigActions, LenientLeavesUnknownNamesOut) {
  const Outcome outcome = ReadLenient("actions: \"enqeue, allocate, gangpreempt,\"\ntiers: []\n");
  EXPECT_EQ(
      outcome.problems,
      "conf:1:11: warning: actions: unknown action \"enqeue\"; did you mean \"enqueue\"? It is "
      "left out\n"
      "conf:1:29: warning: actions: action \"gangpreempt\" of Volcano is not available in "
      "Krafla yet; it is left out\n"
      "conf:1:41: warning: actions: expected the name of an action beside the comma, got "
      "nothing; the comma is passed over");
  ASSERT_EQ(outcome.config.actions.size(), 1u);
  EXPECT_EQ(outcome.config.actions[0].name, "allocate");
}

TEST(SchedulerConfigActions, LenientStillNeedsOneAction) {
  const Outcome outcome = ReadLenient("actions: dance\ntiers: []\n");
  EXPECT_TRUE(outcome.has_errors);
  EXPECT_TRUE(outcome.problems.ends_with("conf:1:10: error: actions: no known action is left"))
      << outcome.problems;
}

TEST(SchedulerConfigActions, AMissingListIsAnErrorEvenWhenLenient) {
  const std::string expected =
      "expected names separated by commas, such as \"enqueue, allocate, backfill\"";
  EXPECT_EQ(ProblemsOf("tiers: []\n"), "conf:1:1: error: actions: missing; " + expected);
  EXPECT_EQ(ProblemsOf("actions:\ntiers: []\n"), "conf:1:9: error: actions: missing; " + expected);
  EXPECT_EQ(ProblemsOf("actions: ' '\ntiers: []\n"),
            "conf:1:10: error: actions: " + expected + ", got \" \"");
  EXPECT_EQ(ProblemsOf("actions: [allocate]\ntiers: []\n"),
            "conf:1:10: error: actions: " + expected + ", got a list");
  EXPECT_TRUE(ReadLenient("tiers: []\n").has_errors);
  EXPECT_TRUE(ReadLenient("actions: ''\ntiers: []\n").has_errors);
}

TEST(SchedulerConfigActions, TheListIsOfHumanLength) {
  EXPECT_EQ(ProblemsOf("tiers: []\nactions: '" + std::string(1 << 20, ',') + "'\n"),
            "conf:2:10: error: actions: expected at most 16384 bytes, got 1048576");
}

TEST(SchedulerConfigActions, EmptyNamesBetweenCommas) {
  EXPECT_EQ(
      ProblemsOf("actions: \"enqueue, , allocate\"\ntiers: []\n"),
      "conf:1:19: error: actions: expected the name of an action beside the comma, got nothing");
}

// ---- Tiers and plugins

TEST(SchedulerConfigTiers, AMissingListIsAnErrorOrEmptyWhenLenient) {
  EXPECT_EQ(ProblemsOf("actions: allocate\n"),
            "conf:1:1: error: tiers: missing; expected a list of tiers, each with its plugins");
  EXPECT_EQ(ProblemsOf("actions: allocate\ntiers:\n"),
            "conf:2:7: error: tiers: missing; expected a list of tiers, each with its plugins");
  EXPECT_EQ(
      ProblemsOf("actions: allocate\ntiers: gang\n"),
      "conf:2:8: error: tiers: expected a list of tiers, each with its plugins, got \"gang\"");
  const Outcome outcome = ReadLenient("actions: allocate\n");
  EXPECT_EQ(
      outcome.problems,
      "conf:1:1: warning: tiers: missing; expected a list of tiers, each with its plugins; no "
      "plugin is loaded");
  EXPECT_TRUE(outcome.config.tiers.empty());
}

TEST(SchedulerConfigTiers, EachTierNeedsPlugins) {
  EXPECT_EQ(
      ProblemsOf("actions: allocate\ntiers:\n- gang\n- plugin: []\n- plugins:\n- plugins: []\n"),
      "conf:3:3: error: tiers: expected a tier, which is a mapping with the key plugins, got "
      "\"gang\"\n"
      "conf:4:3: error: tiers: unknown key \"plugin\"; did you mean \"plugins\"?\n"
      "conf:4:3: error: tiers: expected a list of plugins in the tier, got nothing\n"
      "conf:5:11: error: tiers: expected a list of plugins in the tier, got nothing");
  EXPECT_FALSE(
      ReadLenient("actions: allocate\ntiers:\n- gang\n- plugin: []\n- plugins:\n").has_errors);
}

TEST(SchedulerConfigPlugins, UnknownNames) {
  EXPECT_EQ(ProblemsOf(WithPlugin("name: gnag")),
            "conf:4:11: error: unknown plugin \"gnag\"; did you mean \"gang\"?");
  EXPECT_EQ(
      ProblemsOf(WithPlugin("name: magic")),
      "conf:4:11: error: unknown plugin \"magic\"; expected one of priority, gang, conformance, "
      "overcommit, drf, predicates, proportion, nodeorder, tdm");
}

TEST(SchedulerConfigPlugins, EveryPluginOfVolcanoIsKnownByName) {
  for (std::string_view name :
       {"network-topology-aware", "nodegroup", "task-topology", "resourcequota", "rescheduling",
        "usage", "numa-aware", "deviceshare", "extender", "resource-strategy-fit", "binpack", "cdp",
        "pdb", "sla"}) {
    EXPECT_EQ(
        ProblemsOf(WithPlugin(fmt::format("name: {}", name))),
        fmt::format("conf:4:11: error: plugin \"{}\" of Volcano is not available in Krafla yet",
                    name));
  }
  EXPECT_TRUE(ProblemsOf(WithPlugin("name: capacity"))
                  .starts_with("conf:4:11: error: plugin \"capacity\" of Volcano is not available "
                               "in Krafla yet"));
}

TEST(SchedulerConfigPlugins, LenientLeavesUnknownPluginsOut) {
  const Outcome outcome = ReadLenient(
      "actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n  - name: capacity\n    arguments:\n"
      "      x: y\n  - name: drf\n");
  EXPECT_EQ(
      outcome.problems,
      "conf:4:11: warning: unknown plugin \"gnag\"; did you mean \"gang\"? It is left out\n"
      "conf:5:11: warning: plugin \"capacity\" of Volcano is not available in Krafla yet; it is "
      "left out\n"
      "conf:5:11: warning: plugin capacity: no other plugin shares the cluster among queues; "
      "proportion takes its place: queues get shares by spec.weight, and spec.deserved is not "
      "looked at");
  ASSERT_EQ(outcome.config.tiers.at(0).plugins.size(), 2u);
  EXPECT_EQ(outcome.config.tiers[0].plugins[1].name, "drf");
}

TEST(SchedulerConfigPlugins, LenientLetsProportionTakeThePlaceOfCapacity) {
  const Outcome outcome = ReadLenient(
      "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n  - name: drf\n"
      "  - name: capacity\n    enabledAllocatable: false\n  - name: nodeorder\n");
  EXPECT_EQ(outcome.config.replaced_share_plugin, "capacity");
  const std::vector<PluginOption>& plugins = outcome.config.tiers.at(1).plugins;
  ASSERT_EQ(plugins.size(), 3u);
  EXPECT_EQ(plugins[1].name, "proportion");
  EXPECT_FALSE(plugins[1].Enabled(Switch::kAllocatable)) << "with the switches it had";
  EXPECT_TRUE(plugins[1].Enabled(Switch::kReclaimable));
}

TEST(SchedulerConfigPlugins, LenientAddsNoSharesWhereThereAreSomeOrNoneWereWanted) {
  EXPECT_TRUE(ReadLenient("actions: allocate\ntiers:\n- plugins:\n  - name: capacity\n"
                          "  - name: proportion\n")
                  .config.replaced_share_plugin.empty());
  EXPECT_TRUE(ReadLenient("actions: allocate\ntiers:\n- plugins:\n  - name: numa-aware\n"
                          "  - name: gnag\n")
                  .config.replaced_share_plugin.empty());
}

TEST(SchedulerConfigPlugins, NamesAreRequired) {
  EXPECT_EQ(ProblemsOf(WithPlugin("gang")),
            "conf:4:5: error: expected a mapping with the name of a plugin, got \"gang\"; write "
            "\"name: gang\"");
  EXPECT_EQ(ProblemsOf(WithPlugin("[]")),
            "conf:4:5: error: expected a mapping with the name of a plugin, got a list");
  EXPECT_EQ(ProblemsOf(WithPlugin("")),
            "conf:4:4: error: expected a mapping with the name of a plugin, got nothing");
  EXPECT_EQ(ProblemsOf(WithPlugin("enableJobOrder: true")),
            "conf:4:5: error: plugin: name: expected the name of a plugin, got nothing");
  EXPECT_EQ(ProblemsOf(WithPlugin("name: [gang]")),
            "conf:4:11: error: plugin: name: expected the name of a plugin, got a list");
  EXPECT_FALSE(ReadLenient(WithPlugin("gang")).has_errors);
  EXPECT_FALSE(ReadLenient(WithPlugin("name: {}")).has_errors);
}

TEST(SchedulerConfigPlugins, APluginListedTwiceIsAWarningAndKept) {
  const Outcome outcome = Read(
      "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n  - name: drf\n"
      "  - name: gang\n");
  EXPECT_EQ(outcome.problems,
            "conf:7:11: warning: plugin gang: already listed at line 4, column 11; expected each "
            "plugin once");
  EXPECT_FALSE(outcome.has_errors);
  EXPECT_EQ(outcome.config.tiers.at(1).plugins.size(), 2u);
}

TEST(SchedulerConfigPlugins, AliasesMayStandForPlugins) {
  const Outcome outcome = Read(
      "actions: allocate\ntiers:\n- plugins:\n  - &g {name: gang, enableJobOrder: false}\n"
      "  - name: drf\n    enableJobOrder: &no false\n    enableJobReady: *no\n");
  EXPECT_EQ(outcome.problems, "");
  EXPECT_FALSE(outcome.config.tiers.at(0).plugins.at(1).Enabled(Switch::kJobReady));
}

// ---- Switches

TEST(SchedulerConfigSwitches, NamesFollowTheEnumeration) {
  size_t index = 0;
  for (const SwitchName& name : SwitchNames()) {
    EXPECT_EQ(static_cast<size_t>(name.value), index++) << name.key;
  }
  EXPECT_EQ(index, static_cast<size_t>(Switch::kCount));
}

TEST(SchedulerConfigSwitches, AbsentMeansOnButForTwo) {
  const PluginOption gang = MustRead(WithPlugin("name: gang")).tiers.at(0).plugins.at(0);
  for (const SwitchName& name : SwitchNames()) {
    const bool off = name.value == Switch::kHierarchy || name.value == Switch::kClusterOrder;
    EXPECT_EQ(gang.Enabled(name.value), !off) << name.key;
  }
}

TEST(SchedulerConfigSwitches, BothSpellingsOfEach) {
  for (const SwitchName& name : SwitchNames()) {
    const size_t prefix = name.key.starts_with("enabled") ? 7 : 6;
    const std::string_view stem = name.key.substr(prefix);
    for (std::string_view spelling : {"enable", "enabled"}) {
      for (bool on : {false, true}) {
        const std::string text =
            WithPlugin(fmt::format("{{name: gang, {}{}: {}}}", spelling, stem, on));
        SwitchSet expected = DefaultSwitches();
        expected.set(static_cast<size_t>(name.value), on);
        EXPECT_EQ(MustRead(text).tiers.at(0).plugins.at(0).enabled, expected) << text;
      }
    }
  }
}

TEST(SchedulerConfigSwitches, SpellingsOfTrueAndFalse) {
  const auto job_order = [](std::string_view value) {
    const SchedulerConfig config =
        MustRead(WithPlugin(fmt::format("{{name: gang, enableJobOrder: {}}}", value)));
    return config.tiers.at(0).plugins.at(0).Enabled(Switch::kJobOrder);
  };
  for (const char* value :
       {"true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "\"true\"", "'yes'"}) {
    EXPECT_TRUE(job_order(value)) << value;
  }
  for (const char* value :
       {"false", "False", "FALSE", "no", "No", "off", "OFF", "n", "\"false\"", "'no'"}) {
    EXPECT_FALSE(job_order(value)) << value;
  }
}

TEST(SchedulerConfigSwitches, OtherValuesAreErrors) {
  EXPECT_EQ(ProblemsOf(WithPlugin("name: gang\n    enableJobOrder: maybe\n    enableJobReady: 1\n"
                                  "    enablePredicate:\n    enabledVictim: [true]")),
            "conf:5:21: error: plugin gang: enableJobOrder: expected true or false, got \"maybe\"\n"
            "conf:6:21: error: plugin gang: enableJobReady: expected true or false, got \"1\"\n"
            "conf:7:21: error: plugin gang: enablePredicate: expected true or false, got nothing\n"
            "conf:8:20: error: plugin gang: enabledVictim: expected true or false, got a list");
  const Outcome outcome = ReadLenient(WithPlugin("{name: gang, enableJobOrder: maybe}"));
  EXPECT_EQ(
      outcome.problems,
      "conf:4:34: warning: plugin gang: enableJobOrder: expected true or false, got \"maybe\"; "
      "the default is used");
  EXPECT_EQ(outcome.config.tiers.at(0).plugins.at(0).enabled, DefaultSwitches());
}

TEST(SchedulerConfigSwitches, UnknownKeys) {
  EXPECT_EQ(
      ProblemsOf(WithPlugin("name: gang\n    enablePreemptible: true\n    enableVictims: true\n"
                            "    argument: {}\n    enable: true")),
      "conf:5:5: error: plugin gang: unknown key \"enablePreemptible\"; did you mean "
      "\"enablePreemptable\"?\n"
      "conf:6:5: error: plugin gang: unknown key \"enableVictims\"; did you mean "
      "\"enabledVictim\"?\n"
      "conf:7:5: error: plugin gang: unknown key \"argument\"; did you mean \"arguments\"?\n"
      "conf:8:5: error: plugin gang: unknown key \"enable\"; expected one of name, arguments, "
      "enableJobOrder, enableHierarchy, enableJobReady, enableJobPipelined, enableTaskOrder, "
      "enablePreemptable, enableReclaimable, enablePreemptive, enableQueueOrder, "
      "enabledClusterOrder, enablePredicate, enableBestNode, enableNodeOrder, "
      "enableTargetJob, …");
  const Outcome outcome = ReadLenient(WithPlugin("{name: gang, enablePreemptible: false}"));
  EXPECT_EQ(outcome.problems,
            "conf:4:18: warning: plugin gang: unknown key \"enablePreemptible\"; did you mean "
            "\"enablePreemptable\"? It is dropped");
  EXPECT_EQ(outcome.config.tiers.at(0).plugins.at(0).enabled, DefaultSwitches());
}

TEST(SchedulerConfigSwitches, AreCheckedForUnknownPluginsToo) {
  EXPECT_EQ(ProblemsOf(WithPlugin("{name: gnag, enableJobOrder: maybe}")),
            "conf:4:12: error: unknown plugin \"gnag\"; did you mean \"gang\"?\n"
            "conf:4:34: error: plugin gnag: enableJobOrder: expected true or false, got \"maybe\"");
}

TEST(SchedulerConfigSwitches, TwoSpellingsOfOneSwitch) {
  const std::string text =
      WithPlugin("name: gang\n    enableJobOrder: false\n    enabledJobOrder: true");
  EXPECT_EQ(
      ProblemsOf(text),
      "conf:6:5: error: plugin gang: enabledJobOrder: the same switch as enableJobOrder at line "
      "5, column 5; keep one of the two");
  const Outcome outcome = ReadLenient(text);
  EXPECT_TRUE(outcome.problems.ends_with("; the first one counts")) << outcome.problems;
  EXPECT_FALSE(outcome.config.tiers.at(0).plugins.at(0).Enabled(Switch::kJobOrder));
}

// ---- The file as a whole

TEST(SchedulerConfigFile, UnknownKeys) {
  EXPECT_EQ(
      ProblemsOf("action: allocate\ntier: []\nactions: allocate\ntiers: []\nplugins: []\n"),
      "conf:1:1: error: unknown key \"action\"; did you mean \"actions\"?\n"
      "conf:2:1: error: unknown key \"tier\"; did you mean \"tiers\"?\n"
      "conf:5:1: error: unknown key \"plugins\"; expected one of actions, tiers, configurations, "
      "metrics, compatibility, eviction-api, eviction-limits");
  const Outcome outcome = ReadLenient(WithBlock("metric: {}"));
  EXPECT_EQ(outcome.problems,
            "conf:3:1: warning: unknown key \"metric\"; did you mean \"metrics\"? It is dropped");
}

TEST(SchedulerConfigFile, EvictionApiIsOffUnlessSaid) {
  EXPECT_FALSE(ReadLenient(WithBlock("metrics: {}")).config.eviction_api);
  EXPECT_TRUE(ReadLenient(WithBlock("eviction-api: true")).config.eviction_api);
  EXPECT_NE(ProblemsOf(WithBlock("eviction-api: sometimes")).find("eviction-api: expected"),
            std::string::npos);
}

TEST(SchedulerConfigFile, EmptyOrNoMapping) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n"}) {
    EXPECT_EQ(ProblemsOf(text),
              "conf:1:1: error: the configuration is empty; expected at least actions and tiers");
    EXPECT_TRUE(ReadLenient(text).has_errors);
  }
  EXPECT_EQ(ProblemsOf("- a\n"),
            "conf:1:1: error: expected a mapping with the keys actions and tiers, got a list");
  EXPECT_EQ(ProblemsOf("hello\n"),
            "conf:1:1: error: expected a mapping with the keys actions and tiers, got \"hello\"");
}

TEST(SchedulerConfigFile, AConfigMapIsRecognised) {
  EXPECT_EQ(
      ProblemsOf(
          "apiVersion: v1\nkind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    actions: x\n"),
      "conf:2:1: error: this is a ConfigMap; expected the scheduler configuration inside it, the "
      "text under its data");
}

TEST(SchedulerConfigFile, EveryKindOfProblemInTheOrderOfTheFile) {
  EXPECT_EQ(
      ProblemsOf("compatibility: {profile: x}\n"
                 "actions: dance\n"
                 "actions: allocate\n"
                 "tiers:\n"
                 "- plugins:\n"
                 "  - name: gang\n"
                 "    <<: {enableJobOrder: true}\n"
                 "    enableJobOrder: !bool maybe\n"),
      "conf:1:26: error: compatibility.profile: unknown profile \"x\"; expected one of krafla, "
      "volcano\n"
      "conf:2:10: error: actions: unknown action \"dance\"; expected one of enqueue, allocate, "
      "backfill, preempt, shuffle\n"
      "conf:3:1: error: the key \"actions\" is given twice; the first is at line 2, column 1\n"
      "conf:7:5: error: merge keys (<<) are not understood; write the merged keys out\n"
      "conf:8:21: error: the tag !bool is not understood; leave it out\n"
      "conf:8:21: error: plugin gang: enableJobOrder: expected true or false, got \"maybe\"");
}

TEST(SchedulerConfigFile, SyntaxErrorsStandAlone) {
  EXPECT_EQ(
      ProblemsOf("actions: \"allocate\ntiers: []\n"),
      "conf:1:10: error: the quoted text that starts here is not closed; the closing quote is "
      "missing");
  EXPECT_EQ(ProblemsOf("actions: allocate\ntiers:\n\t- plugins: []\n"),
            "conf:3:1: error: a tab is not allowed here; indent with spaces");
  EXPECT_EQ(ProblemsOf("actions: allocate\ntiers: []\n---\nactions: x\n"),
            "conf:4:1: error: a second document starts here; the file may hold only one");
  EXPECT_TRUE(ReadLenient("actions: \"allocate\ntiers: []\n").has_errors);
}

TEST(SchedulerConfigFile, NoiseIsAnError) {
  std::string noise;
  uint32_t state = 12345;
  for (int round = 0; round < 2000; ++round) {
    noise.clear();
    for (int i = 0; i < round % 97 + 1; ++i) {
      state = state * 1664525 + 1013904223;
      noise += static_cast<char>(state >> 24);
    }
    EXPECT_TRUE(Read(noise).has_errors);
    EXPECT_TRUE(ReadLenient(noise).has_errors);
  }
}

TEST(SchedulerConfigFile, LongNamesAreCutInMessages) {
  const std::string problems = ProblemsOf(WithPlugin("name: " + std::string(1 << 20, 'x')));
  EXPECT_LT(problems.size(), 400u);
  EXPECT_EQ(ProblemsOf(std::string(1 << 20, '[')),
            "conf:1:65: error: the file nests deeper than 64 levels");
}

TEST(SchedulerConfigFile, TheListOfProblemsIsBounded) {
  std::string text = "actions: allocate\ntiers: []\n";
  for (int i = 0; i < 50'000; ++i) text += fmt::format("tiesr{}: 1\n", i);
  for (bool lenient : {false, true}) {
    Diagnostics diagnostics;
    ReadSchedulerConfig(text, TestVocabulary(),
                        {.file_name = "conf", .lenient = lenient, .profile = {}}, diagnostics);
    ASSERT_EQ(diagnostics.items().size(), 201u);
    EXPECT_EQ(ToString(diagnostics.items().back()),
              lenient ? "conf: warning: more than 200 warnings; the rest is not listed"
                      : "conf: error: more than 200 errors; the rest is not listed");
    EXPECT_EQ(diagnostics.HasErrors(), !lenient);
  }
}

TEST(SchedulerConfigFile, MetricsAreNotLookedInto) {
  EXPECT_EQ(ProblemsOf(WithBlock("metrics: [anything, {at: all}]")), "");
}

}  // namespace
}  // namespace krafla
