// A rule of the linter: a code, what it is about, and a function that looks for it. To add one,
// write the function and give it a row in the table of its group (the foot of the group's .cpp).
// docs/check.md explains every code to a user; a test compares the two lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/finding.h"

namespace krafla {

struct CheckInput;
class RuleReport;

enum class RuleNeeds : uint8_t {
  kNothing,  // runs always
  kConfig,   // a configuration without mistakes: concludes from what is not there
  kCluster,  // that, and manifests that could be read
};

struct CheckRule {
  std::string_view code;  // stable: "K201"
  std::string_view slug;  // stable: "never-consulted"
  FindingLevel level = FindingLevel::kWarning;
  RuleNeeds needs = RuleNeeds::kNothing;
  std::string_view title;  // one sentence, for lists of rules
  void (*check)(const CheckInput& input, RuleReport& report) = nullptr;
};

// What a rule writes its findings to: knows the rule, so that the rule need not repeat itself.
class RuleReport {
 public:
  RuleReport(const CheckRule& rule, std::vector<Finding>& findings)
      : rule_(rule), findings_(findings) {}

  struct Entry {
    Place place;
    std::string object;
    std::string message;
    std::string consequence;
    std::string fix;
    std::vector<std::string> details = {};
  };
  void Add(Entry entry) { AddAs(rule_.level, std::move(entry)); }
  // For the few rules that are graver in some cases than in others.
  void AddAs(FindingLevel level, Entry entry);

 private:
  const CheckRule& rule_;
  std::vector<Finding>& findings_;
};

// The groups, by the first digit of their codes.
std::span<const CheckRule> ReadingRules();    // K1: the configuration as a text
std::span<const CheckRule> TierRules();       // K2: who is asked, and who is not
std::span<const CheckRule> VictimRules();     // K2: who could be a victim
std::span<const CheckRule> WindowRules();     // K3: when zones are open
std::span<const CheckRule> ZoneRules();       // K3: which nodes and pods belong to them
std::span<const CheckRule> DrainRules();      // K4: how closed zones are emptied
std::span<const CheckRule> JobBudgetRules();  // K4: disruption budgets
std::span<const CheckRule> CooldownRules();   // K4: cooldowns
std::span<const CheckRule> QueueRules();      // K5: queues against the cluster
std::span<const CheckRule> ReferenceRules();  // K6: names that lead nowhere
std::span<const CheckRule> ManifestRules();   // K7: the manifests as texts

// All of them, by code.
std::vector<const CheckRule*> AllCheckRules();

}  // namespace krafla
