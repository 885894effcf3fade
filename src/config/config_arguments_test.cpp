#include "config/config_arguments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/config_test_support.h"

namespace krafla {
namespace {

using namespace config_test;

// The arguments of one plugin, given in flow style.
Arguments ArgumentsOf(std::string_view plugin, std::string_view arguments) {
  const SchedulerConfig config =
      MustRead(WithPlugin(fmt::format("name: {}\n    arguments: {{{}}}", plugin, arguments)));
  return config.tiers.at(0).plugins.at(0).arguments;
}

// The complaint about one argument, without the part that names plugin and key.
std::string Complaint(std::string_view plugin, std::string_view key, std::string_view value) {
  const std::string prefix = fmt::format("plugin {}: {}: ", plugin, key);
  const std::string problems = ProblemsOf(
      WithPlugin(fmt::format("name: {}\n    arguments:\n      {}: {}", plugin, key, value)));
  const size_t at = problems.find(prefix);
  return at == std::string::npos ? problems : problems.substr(at + prefix.size());
}

TEST(SchedulerConfigArguments, WholeNumbers) {
  for (const auto& [text, value] :
       {std::pair{"1", 1}, {"\"1\"", 1}, {"-7", -7}, {"+7", 7}, {"0", 0}}) {
    EXPECT_EQ(ArgumentsOf("nodeorder", fmt::format("leastrequested.weight: {}", text))
                  .GetInt("leastrequested.weight"),
              value);
  }
  for (const char* text : {"1.0", "1.5", "one", "010", "0x10", "1_000", "99999999999999999999",
                           "+-1", "-", "+", " 1", "", "12:30"}) {
    EXPECT_EQ(Complaint("nodeorder", "leastrequested.weight", fmt::format("'{}'", text)),
              fmt::format("expected a whole number such as 10, got \"{}\"", text));
  }
  EXPECT_EQ(Complaint("nodeorder", "leastrequested.weight", "1.0"),
            "expected a whole number such as 10, got \"1.0\"");
  EXPECT_EQ(Complaint("nodeorder", "leastrequested.weight", ""),
            "expected a whole number such as 10, got nothing");
  EXPECT_EQ(Complaint("nodeorder", "leastrequested.weight", "[1]"),
            "expected a whole number such as 10, got a list");
}

TEST(SchedulerConfigArguments, Numbers) {
  for (const auto& [text, value] : {std::pair{"1.5", 1.5},
                                    {"2", 2.0},
                                    {"\"0.25\"", 0.25},
                                    {"1e3", 1000.0},
                                    {"-.5", -0.5},
                                    {"+1.", 1.0}}) {
    EXPECT_EQ(ArgumentsOf("overcommit", fmt::format("overcommit-factor: {}", text))
                  .GetFloat("overcommit-factor"),
              value);
  }
  for (const char* text : {"much", "1.2.3", "nan", "inf", ".inf", "1e999", "0x1p3", "+-1"}) {
    EXPECT_EQ(Complaint("overcommit", "overcommit-factor", text),
              fmt::format("expected a number such as 1.5, got \"{}\"", text));
  }
}

TEST(SchedulerConfigArguments, Booleans) {
  const auto cache = [](std::string_view text) {
    return ArgumentsOf("predicates", fmt::format("predicate.CacheEnable: {}", text))
        .GetBool("predicate.CacheEnable");
  };
  for (const char* text : {"true", "True", "TRUE", "1", "t", "T", "\"true\"", "yes", "on"}) {
    EXPECT_EQ(cache(text), true) << text;
  }
  for (const char* text : {"false", "False", "FALSE", "0", "f", "F", "'false'", "no", "off"}) {
    EXPECT_EQ(cache(text), false) << text;
  }
  EXPECT_EQ(Complaint("predicates", "predicate.CacheEnable", "tRuE"),
            "expected true or false, got \"tRuE\"");
  EXPECT_EQ(Complaint("predicates", "predicate.CacheEnable", "2"),
            "expected true or false, got \"2\"");
}

TEST(SchedulerConfigArguments, Durations) {
  EXPECT_EQ(ArgumentsOf("tdm", "tdm.evict.period: 5m").GetDurationNs("tdm.evict.period"),
            300'000'000'000);
  for (const char* text : {"5", "5 m", "soon", "1h30", "5minutes"}) {
    EXPECT_EQ(Complaint("tdm", "tdm.evict.period", text),
              fmt::format("expected a duration such as 90s, 5m or 1h30m, got \"{}\"", text));
  }
}

TEST(SchedulerConfigArguments, TextIsTakenAsWritten) {
  for (const char* text : {"Europe/Berlin", "12:30", "08", "true", "1.10"}) {
    EXPECT_EQ(ArgumentsOf("tdm", fmt::format("tdm.timezone: {}", text)).GetString("tdm.timezone"),
              text);
  }
  EXPECT_EQ(Complaint("tdm", "tdm.timezone", ""), "expected text, got nothing");
  EXPECT_EQ(Complaint("tdm", "tdm.timezone", "{a: 1}"), "expected text, got a mapping");
}

TEST(SchedulerConfigArguments, ListsAndMappingsBecomeJsonWhereTheyAreTaken) {
  const Arguments arguments =
      ArgumentsOf("tdm", "tdm.extra: {a: [1, two, 'three'], b: ~, c: {d: true}}");
  EXPECT_EQ(arguments.GetString("tdm.extra"), R"({"a":[1,"two","three"],"b":null,"c":{"d":true}})");
  EXPECT_EQ(ArgumentsOf("tdm", "tdm.extra: plain").GetString("tdm.extra"), "plain");
  EXPECT_EQ(ArgumentsOf("tdm", "tdm.extra: ~").GetString("tdm.extra"), "~");
}

TEST(SchedulerConfigArguments, AbsentKeysGiveNothing) {
  const Arguments none;
  EXPECT_EQ(none.Find("x"), nullptr);
  EXPECT_EQ(none.GetInt("x"), std::nullopt);
  EXPECT_EQ(none.GetFloat("x"), std::nullopt);
  EXPECT_EQ(none.GetBool("x"), std::nullopt);
  EXPECT_EQ(none.GetDurationNs("x"), std::nullopt);
  EXPECT_EQ(none.GetString("x"), std::nullopt);
}

TEST(SchedulerConfigArguments, UnknownKeys) {
  EXPECT_EQ(
      ProblemsOf(WithPlugin("name: tdm\n    arguments:\n      tdm.evict.perod: 1m\n"
                            "      tdm.revokable-zone.rz1: 08:00-21:00\n"
                            "      tdm.revocable-zone.: 08:00-21:00\n"
                            "      colour: red")),
      "conf:6:7: error: plugin tdm: unknown argument \"tdm.evict.perod\"; did you mean "
      "\"tdm.evict.period\"?\n"
      "conf:7:7: error: plugin tdm: unknown argument \"tdm.revokable-zone.rz1\"; did you mean "
      "\"tdm.revocable-zone.rz1\"?\n"
      "conf:8:7: error: plugin tdm: unknown argument \"tdm.revocable-zone.\"; did you mean "
      "\"tdm.revocable-zone.*\"?\n"
      "conf:9:7: error: plugin tdm: unknown argument \"colour\"; expected one of "
      "tdm.revocable-zone.*, tdm.evict.period, tdm.timezone, tdm.extra");
  EXPECT_EQ(ProblemsOf(WithPlugin("name: gang\n    arguments: {x: 1}")),
            "conf:5:17: error: plugin gang: unknown argument \"x\"; the plugin takes none");
}

TEST(SchedulerConfigArguments, LenientDropsUnknownKeys) {
  const Outcome outcome =
      ReadLenient(WithPlugin("name: tdm\n    arguments: {tdm.evict.perod: 1m, tdm.timezone: UTC}"));
  EXPECT_EQ(outcome.problems,
            "conf:5:17: warning: plugin tdm: unknown argument \"tdm.evict.perod\"; did you mean "
            "\"tdm.evict.period\"? It is dropped");
  const Arguments& arguments = outcome.config.tiers.at(0).plugins.at(0).arguments;
  ASSERT_EQ(arguments.items.size(), 1u);
  EXPECT_EQ(arguments.items[0].key, "tdm.timezone");
}

TEST(SchedulerConfigArguments, ValidatorsHaveTheLastWord) {
  EXPECT_EQ(Complaint("tdm", "tdm.revocable-zone.rz1", "bad"),
            "expected a window such as 08:00-21:00");
  EXPECT_EQ(ProblemsOf(WithPlugin("name: tdm\n    arguments:\n      tdm.revocable-zone.rz1: bad")),
            "conf:6:31: error: plugin tdm: tdm.revocable-zone.rz1: expected a window such as "
            "08:00-21:00");
}

TEST(SchedulerConfigArguments, LenientKeepsBadValuesAsText) {
  const Outcome outcome =
      ReadLenient(WithPlugin("name: tdm\n    arguments: {tdm.revocable-zone.rz1: bad, "
                             "tdm.evict.period: soon, tdm.timezone: [a]}"));
  EXPECT_EQ(
      outcome.problems,
      "conf:5:41: warning: plugin tdm: tdm.revocable-zone.rz1: expected a window such as "
      "08:00-21:00\n"
      "conf:5:64: warning: plugin tdm: tdm.evict.period: expected a duration such as 90s, 5m or "
      "1h30m, got \"soon\"; the default is used\n"
      "conf:5:84: warning: plugin tdm: tdm.timezone: expected text, got a list");
  const Arguments& arguments = outcome.config.tiers.at(0).plugins.at(0).arguments;
  EXPECT_EQ(arguments.GetString("tdm.revocable-zone.rz1"), "bad");
  EXPECT_EQ(arguments.GetString("tdm.evict.period"), "soon");
  EXPECT_EQ(arguments.GetDurationNs("tdm.evict.period"), std::nullopt);
  EXPECT_EQ(arguments.GetString("tdm.timezone"), "[\"a\"]");
}

TEST(SchedulerConfigArguments, MustBeAMapping) {
  EXPECT_EQ(
      ProblemsOf(WithPlugin("name: tdm\n    arguments: [a]")),
      "conf:5:16: error: plugin tdm: arguments: expected a mapping of argument names to values, "
      "got a list");
  EXPECT_EQ(ProblemsOf(WithPlugin("name: tdm\n    arguments:")), "");
  EXPECT_FALSE(ReadLenient(WithPlugin("name: tdm\n    arguments: [a]")).has_errors);
}

TEST(SchedulerConfigArguments, TheLongestPrefixAndTheExactKeyWin) {
  Vocabulary vocabulary;
  vocabulary.actions = {{"allocate", {}}};
  vocabulary.plugins = {{"p",
                         {{"*", ArgumentType::kAny, "", {}},
                          {"a.*", ArgumentType::kInt, "", {}},
                          {"a.b", ArgumentType::kBool, "", {}}}}};
  Diagnostics diagnostics;
  ReadSchedulerConfig(WithPlugin("name: p\n    arguments: {x: [1], a.c: 5, a.b: true}"), vocabulary,
                      {}, diagnostics);
  EXPECT_TRUE(diagnostics.items().empty());
}

// ---- Configurations

TEST(SchedulerConfigActionArguments, AreCheckedLikeThoseOfPlugins) {
  EXPECT_EQ(
      ProblemsOf(WithBlock("configurations:\n"
                           "- name: premept\n"
                           "- name: preempt\n"
                           "  argument: {}\n"
                           "  arguments:\n"
                           "    enableTopologyAwarePremption: true\n"
                           "    minCandidateNodesAbsolute: few\n"
                           "- name: enqueue\n"
                           "  arguments: {x: 1}\n"
                           "- arguments: {}\n"
                           "- preempt\n"
                           "- name: gangreclaim\n")),
      "conf:4:9: error: unknown action \"premept\"; did you mean \"preempt\"?\n"
      "conf:6:3: error: action preempt: unknown key \"argument\"; did you mean \"arguments\"?\n"
      "conf:8:5: error: action preempt: unknown argument \"enableTopologyAwarePremption\"; did "
      "you mean \"enableTopologyAwarePreemption\"?\n"
      "conf:9:32: error: action preempt: minCandidateNodesAbsolute: expected a whole number such "
      "as 10, got \"few\"\n"
      "conf:11:15: error: action enqueue: unknown argument \"x\"; the action takes none\n"
      "conf:12:3: error: action: name: expected the name of an action, got nothing\n"
      "conf:13:3: error: expected a mapping with the name of an action, got \"preempt\"; write "
      "\"name: preempt\"\n"
      "conf:14:9: error: action \"gangreclaim\" of Volcano is not available in Krafla yet");
  EXPECT_EQ(
      ProblemsOf(WithBlock("configurations: {}")),
      "conf:3:17: error: configurations: expected a list of actions with their arguments, got a "
      "mapping");
  EXPECT_EQ(ProblemsOf(WithBlock("configurations:")), "");
  EXPECT_FALSE(ReadLenient(WithBlock("configurations: {}")).has_errors);
}

TEST(SchedulerConfigActionArguments, TheFirstConfigurationCounts) {
  const Outcome outcome = Read(
      WithBlock("configurations:\n- name: preempt\n  arguments: {minCandidateNodesAbsolute: 1}\n"
                "- name: preempt\n  arguments: {minCandidateNodesAbsolute: 2}\n"));
  EXPECT_EQ(outcome.problems,
            "conf:6:9: warning: action preempt: already configured at line 4, column 9; the first "
            "configuration counts");
  EXPECT_EQ(outcome.config.ArgumentsOf("preempt").GetInt("minCandidateNodesAbsolute"), 1);
}

}  // namespace
}  // namespace krafla
