// krafla check as a command: exit codes, order, and the three forms of its output.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "app/check_command.h"
#include "check/check_rule.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kClean = R"(actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
)";
constexpr std::string_view kWarns = R"(actions: "enqueue, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: predicates
)";
constexpr std::string_view kWrong = R"(actions: "enqueue, allocat"
tiers:
- plugins:
  - name: gan
  - name: tdm
    arguments:
      tdm.revocable-zone.rz1: "22:00-06:00"
)";

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class CheckCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("krafla-check-") + info->name() + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, std::string_view text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  static Outcome Run(CheckCommandOptions options, const std::string& in = "") {
    if (options.now.empty()) options.now = "2026-03-10T12:00:00Z";
    std::istringstream input(in);
    std::ostringstream out;
    std::ostringstream err;
    Outcome outcome;
    outcome.code = CheckCommand(options, input, out, err);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }

  std::filesystem::path folder_;
};

TEST_F(CheckCommandTest, ACleanConfigurationHasNoFindingsAndCodeZero) {
  const Outcome outcome = Run({.config = File("c.yaml", kClean)});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with("clean: no findings; ")) << outcome.out;
  EXPECT_NE(outcome.out.find("need --cluster"), std::string::npos) << outcome.out;
}

TEST_F(CheckCommandTest, WarningsAreOneOnlyWhenStrict) {
  const std::string config = File("c.yaml", kWarns);
  EXPECT_EQ(Run({.config = config}).code, 0);
  EXPECT_EQ(Run({.config = config, .strict = true}).code, 1);
}

TEST_F(CheckCommandTest, NotesAreNoMatterForStrict) {
  const std::string config = File(
      "c.yaml", "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: gang\n");
  const Outcome outcome = Run({.config = config, .strict = true});
  EXPECT_NE(outcome.out.find("note: K212"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.code, 0);
}

TEST_F(CheckCommandTest, ErrorsAreTwoAndAllOfThemAreListed) {
  const Outcome outcome = Run({.config = File("c.yaml", kWrong)});
  EXPECT_EQ(outcome.code, 2);
  for (const char* code : {"K104", "K105", "K304"})
    EXPECT_NE(outcome.out.find(code), std::string::npos) << code << " is not in\n" << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CheckCommandTest, ConfigurationCanComeFromStandardInput) {
  const Outcome outcome = Run({.config = "-", .output = "sarif"}, std::string(kWrong));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find("K105"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\"stdin\""), std::string::npos) << outcome.out;
  const Outcome twice = Run({.config = "-", .cluster = {"-"}}, std::string(kClean));
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("standard input cannot be both the configuration and the cluster"),
            std::string::npos)
      << twice.err;
}

TEST_F(CheckCommandTest, SarifSaysWhyNothingCouldBeChecked) {
  const Outcome missing = Run({.config = (folder_ / "no.yaml").string(), .output = "sarif"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("no.yaml: error: cannot be read"), std::string::npos) << missing.err;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(missing.out).get(root), simdjson::SUCCESS) << missing.out;
  simdjson::dom::element run = root["runs"].at(0);
  EXPECT_EQ(run["results"].get_array().size(), 0u);
  bool successful = true;
  ASSERT_EQ(run["invocations"].at(0)["executionSuccessful"].get(successful), simdjson::SUCCESS);
  EXPECT_FALSE(successful);
  std::string_view text;
  ASSERT_EQ(
      run["invocations"].at(0)["toolExecutionNotifications"].at(0)["message"]["text"].get(text),
      simdjson::SUCCESS);
  EXPECT_NE(text.find("cannot be read"), std::string_view::npos) << text;
}

TEST_F(CheckCommandTest, WhatCannotBeReadIsTwo) {
  const Outcome missing = Run({.config = (folder_ / "no.yaml").string()});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("no.yaml: error: cannot be read"), std::string::npos) << missing.err;
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(Run({}).code, 2) << "nothing to check";
  EXPECT_EQ(Run({.config = File("c.yaml", kClean), .now = "noon"}).code, 2);
}

TEST_F(CheckCommandTest, ClustersThatCannotBeReadAreFindings) {
  const Outcome outcome =
      Run({.config = File("c.yaml", kClean), .cluster = {"-"}}, "kind: Queue\nspec: [\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find("error: K701 manifest-error"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("wait until all manifests can be read"), std::string::npos);
}

TEST_F(CheckCommandTest, NothingToReadIsNoValueToCorrect) {
  for (const std::string& nothing : {File("empty.yaml", ""), folder_.string() + "/none"}) {
    std::filesystem::create_directories(folder_ / "none");
    const Outcome outcome = Run({.config = File("c.yaml", kClean), .cluster = {nothing}});
    EXPECT_NE(outcome.out.find("fix: name a file or a folder that has manifests"),
              std::string::npos)
        << outcome.out;
    EXPECT_EQ(outcome.out.find("correct the value"), std::string::npos) << outcome.out;
  }
}

TEST_F(CheckCommandTest, TheDefaultConfigurationIsCheckedAgainstACluster) {
  const Outcome outcome = Run({.cluster = {"-"}},
                              "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                              "metadata: {name: default}\nspec: {weigth: 2}\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find("-:4:8: error: K705 unknown-spec-key"), std::string::npos)
      << outcome.out;
}

TEST_F(CheckCommandTest, TheTextOfAFindingSaysPlaceConsequenceAndFix) {
  const Outcome outcome = Run({.config = File("c.yaml", kWarns)});
  const std::string expected = (folder_ / "c.yaml").string() +
                               ":1:11: warning: K211 no-allocate\n"
                               "  actions: allocate is not configured\n"
                               "  what will happen: no pod that asks for resources is ever bound\n"
                               "  fix: add allocate\n"
                               "\n"
                               "0 errors, 1 warning, 0 notes; ";
  EXPECT_TRUE(outcome.out.starts_with(expected)) << outcome.out;
}

TEST_F(CheckCommandTest, ABudgetThatCannotBeReadHasNoEffectWithoutTdm) {
  const std::string cluster =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: default}\n---\n"
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
      "metadata: {name: a, namespace: ml, annotations: {volcano.sh/jdb-min-available: \"60 %\"}}\n"
      "spec: {minMember: 1, queue: default}\n";
  const Outcome outcome = Run({.config = File("c.yaml", kClean), .cluster = {"-"}}, cluster);
  EXPECT_TRUE(outcome.out.contains("none now: tdm is not configured, so the budget has no effect"))
      << outcome.out;
  EXPECT_TRUE(outcome.out.contains("fix: write it without blanks, such as \"3\" or \"30%\""))
      << outcome.out;
  EXPECT_FALSE(outcome.out.contains("no pod of the job may be evicted")) << outcome.out;
}

TEST_F(CheckCommandTest, ColoursOnlyWhenAsked) {
  const std::string config = File("c.yaml", kWarns);
  EXPECT_EQ(Run({.config = config}).out.find('\x1b'), std::string::npos);
  EXPECT_NE(Run({.config = config, .color = true}).out.find("\x1b[1;33mwarning\x1b[0m"),
            std::string::npos);
}

TEST_F(CheckCommandTest, LongLinesAreBrokenBetweenWords) {
  std::istringstream lines(
      Run({.config = File("c.yaml", std::string(kWrong) + "compatibility: {profile: x}\n")}).out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  ")) {
      EXPECT_LE(line.size(), 100u) << line;
    }
}

TEST_F(CheckCommandTest, FindingsAreSortedByPlace) {
  const std::string path = File("c.yaml", kWrong);
  const std::string text = Run({.config = path, .output = "json"}).out;
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(text);
  std::vector<std::pair<int64_t, int64_t>> places;
  for (const simdjson::dom::element finding : root["findings"].get_array())
    places.emplace_back(finding["line"].get_int64().value(), finding["column"].get_int64().value());
  ASSERT_GE(places.size(), 3u);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_EQ(Run({.config = path, .output = "json"}).out, text);
}

TEST_F(CheckCommandTest, JsonHasTheDocumentedKeys) {
  const std::string text = Run({.config = File("c.yaml", kWarns), .output = "json"}).out;
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(text);
  const simdjson::dom::element finding = root["findings"].at(0);
  EXPECT_EQ(finding["code"].get_string().value(), "K211");
  EXPECT_EQ(finding["slug"].get_string().value(), "no-allocate");
  EXPECT_EQ(finding["severity"].get_string().value(), "warning");
  EXPECT_EQ(finding["line"].get_int64().value(), 1);
  EXPECT_EQ(finding["column"].get_int64().value(), 11);
  EXPECT_EQ(finding["object"].get_string().value(), "actions");
  EXPECT_EQ(finding["message"].get_string().value(), "allocate is not configured");
  EXPECT_EQ(finding["fix"].get_string().value(), "add allocate");
  EXPECT_EQ(finding["details"].get_array().value().size(), 0u);
  EXPECT_EQ(root["summary"]["warnings"].get_int64().value(), 1);
  EXPECT_EQ(root["summary"]["rulesChecked"].get_int64().value() +
                root["summary"]["rulesNotChecked"].get_int64().value(),
            static_cast<int64_t>(AllCheckRules().size()));
}

// What the standard requires of the parts that are used (sarif-schema-2.1.0).
TEST_F(CheckCommandTest, SarifHasWhatTheStandardRequires) {
  const std::string path = File("a b.yaml", kWrong);
  const std::string text = Run({.config = path, .cluster = {"-"}, .output = "sarif"},
                               "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n")
                               .out;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  EXPECT_EQ(root["version"].get_string().value(), "2.1.0");
  EXPECT_TRUE(root["$schema"].get_string().value().ends_with("sarif-schema-2.1.0.json"));
  ASSERT_EQ(root["runs"].get_array().value().size(), 1u);
  const simdjson::dom::element run = root["runs"].at(0);
  const simdjson::dom::element driver = run["tool"]["driver"];
  EXPECT_FALSE(driver["name"].get_string().value().empty());
  EXPECT_EQ(run["columnKind"].get_string().value(), "unicodeCodePoints");

  const std::set<std::string_view> levels = {"none", "note", "warning", "error"};
  std::vector<std::string_view> ids;
  for (const simdjson::dom::element rule : driver["rules"].get_array()) {
    ids.push_back(rule["id"].get_string().value());
    EXPECT_FALSE(rule["name"].get_string().value().empty());
    EXPECT_FALSE(rule["shortDescription"]["text"].get_string().value().empty());
    EXPECT_FALSE(rule["help"]["text"].get_string().value().empty());
    EXPECT_TRUE(levels.contains(rule["defaultConfiguration"]["level"].get_string().value()));
  }
  EXPECT_EQ(ids.size(), AllCheckRules().size());

  size_t with_place = 0;
  size_t without_place = 0;
  for (const simdjson::dom::element result : run["results"].get_array()) {
    EXPECT_FALSE(result["message"]["text"].get_string().value().empty());
    EXPECT_TRUE(levels.contains(result["level"].get_string().value()));
    const auto index = static_cast<size_t>(result["ruleIndex"].get_int64().value());
    ASSERT_LT(index, ids.size());
    EXPECT_EQ(ids[index], result["ruleId"].get_string().value());
    const simdjson::dom::array locations = result["locations"].get_array();
    if (locations.size() == 0) {
      ++without_place;
      continue;
    }
    ++with_place;
    const simdjson::dom::element physical = locations.at(0)["physicalLocation"];
    const std::string_view uri = physical["artifactLocation"]["uri"].get_string().value();
    EXPECT_TRUE(uri.starts_with("file:///") && uri.ends_with("a%20b.yaml")) << uri;
    EXPECT_GE(physical["region"]["startLine"].get_int64().value(), 1);
    EXPECT_GE(physical["region"]["startColumn"].get_int64().value(), 1);
  }
  EXPECT_GE(with_place, 3u);
  EXPECT_EQ(without_place, 1u) << "the kinds that are not used have no place";
}

}  // namespace
}  // namespace krafla::testing
