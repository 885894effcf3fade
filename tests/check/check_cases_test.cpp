// Every rule of the linter: where it fires, and a neighbour where it does not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "check/case_file.h"
#include "check/check_rule.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kCases = fs::path(testing::SourceDir()) / "tests/check/cases";

std::set<std::string> CodesWithCases() {
  std::set<std::string> codes;
  for (const auto& entry : fs::directory_iterator(kCases))
    if (entry.path().extension() == ".case") codes.insert(entry.path().stem().string());
  return codes;
}

std::set<std::string> AllCodes() {
  std::set<std::string> codes;
  for (const CheckRule* rule : AllCheckRules()) codes.emplace(rule->code);
  return codes;
}

TEST(CheckCases, EveryRuleHasACaseFileAndEveryCaseFileARule) {
  EXPECT_EQ(CodesWithCases(), AllCodes());
}

class CheckCase : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckCase, FiresWhereItShouldAndNowhereElse) {
  const std::vector<CheckBlock> blocks = ReadCaseFile((kCases / (GetParam() + ".case")).string());
  size_t firing = 0;
  size_t silent = 0;
  for (const CheckBlock& block : blocks) {
    const CheckReport report = RunBlock(block);
    EXPECT_EQ(FindingsOf(report, GetParam()), block.expect) << GetParam() << ": " << block.name;
    (block.expect.empty() ? silent : firing) += 1;
    for (const Finding& finding : report.findings) {
      EXPECT_FALSE(finding.message.empty()) << finding.code;
      EXPECT_FALSE(finding.fix.empty()) << finding.code;
    }
  }
  EXPECT_GT(firing, 0u) << "no block in which the rule fires";
  EXPECT_GT(silent, 0u) << "no neighbour in which it does not";
}

// A rule that could not be asked is silent for the wrong reason.
TEST_P(CheckCase, NeighboursAreLookedAt) {
  const auto rules = AllCheckRules();
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [](const CheckRule* r) { return r->code == GetParam(); });
  ASSERT_NE(rule, rules.end());
  for (const CheckBlock& block : ReadCaseFile((kCases / (GetParam() + ".case")).string())) {
    const CheckReport report = RunBlock(block);
    if ((*rule)->needs != RuleNeeds::kNothing) {
      EXPECT_EQ(report.rules_without_config, 0u) << block.name;
    }
    if ((*rule)->needs == RuleNeeds::kCluster) {
      EXPECT_EQ(report.rules_without_cluster, 0u) << block.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, CheckCase, ::testing::ValuesIn(AllCodes()),
                         [](const auto& tested) { return tested.param; });

TEST(CheckCases, EveryRuleIsDocumented) {
  std::stringstream text;
  text << std::ifstream(fs::path(testing::SourceDir()) / "docs/check.md").rdbuf();
  for (const CheckRule* rule : AllCheckRules())
    EXPECT_NE(text.str().find("### " + std::string(rule->code) + " " + std::string(rule->slug)),
              std::string::npos)
        << "docs/check.md has no section \"### " << rule->code << " " << rule->slug << "\"";
}

TEST(CheckCases, CodesAndSlugsAreUnique) {
  std::set<std::string_view> seen;
  for (const CheckRule* rule : AllCheckRules()) {
    EXPECT_TRUE(seen.insert(rule->code).second) << rule->code;
    EXPECT_TRUE(seen.insert(rule->slug).second) << rule->slug;
    EXPECT_EQ(rule->code.size(), 4u);
    EXPECT_TRUE(rule->title.ends_with('.')) << rule->code;
  }
}

}  // namespace
}  // namespace krafla::testing
