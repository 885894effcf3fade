// What the tests of the configuration share: a small vocabulary, and complaints as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/scheduler_config.h"

namespace krafla::config_test {

inline std::optional<std::string> CheckWindow(std::string_view text) {
  if (text.size() == 11 && text[5] == '-') return std::nullopt;
  return "expected a window such as 08:00-21:00";
}

inline Vocabulary TestVocabulary() {
  Vocabulary vocabulary;
  vocabulary.plugins = {
      {"priority", {}},
      {"gang", {}},
      {"conformance", {}},
      {"overcommit", {{"overcommit-factor", ArgumentType::kFloat, "", {}}}},
      {"drf", {}},
      {"predicates", {{"predicate.CacheEnable", ArgumentType::kBool, "", {}}}},
      {"proportion", {}},
      {"nodeorder",
       {{"leastrequested.weight", ArgumentType::kInt, "", {}},
        {"mostrequested.weight", ArgumentType::kInt, "", {}}}},
      {"tdm",
       {{"tdm.revocable-zone.*", ArgumentType::kString, "", CheckWindow},
        {"tdm.evict.period", ArgumentType::kDuration, "", {}},
        {"tdm.timezone", ArgumentType::kString, "", {}},
        {"tdm.extra", ArgumentType::kAny, "", {}}}},
  };
  vocabulary.actions = {
      {"enqueue", {}},
      {"allocate", {}},
      {"backfill", {}},
      {"preempt",
       {{"enableTopologyAwarePreemption", ArgumentType::kBool, "", {}},
        {"minCandidateNodesAbsolute", ArgumentType::kInt, "", {}}}},
      {"shuffle", {}},
  };
  return vocabulary;
}

struct Outcome {
  SchedulerConfig config;
  std::string problems;  // one per line, as a user sees them
  bool has_errors = false;
};

inline Outcome Read(std::string_view text, ConfigReadOptions options = {}) {
  options.file_name = "conf";
  Diagnostics diagnostics;
  Outcome outcome;
  outcome.config = ReadSchedulerConfig(text, TestVocabulary(), options, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.items()) {
    if (!outcome.problems.empty()) outcome.problems += '\n';
    outcome.problems += ToString(diagnostic);
  }
  outcome.has_errors = diagnostics.HasErrors();
  return outcome;
}

inline std::string ProblemsOf(std::string_view text) {
  return Read(text).problems;
}

inline Outcome ReadLenient(std::string_view text) {
  return Read(text, {.file_name = {}, .lenient = true, .profile = {}});
}

inline Outcome ReadWithProfile(std::string_view text, std::string profile) {
  return Read(text, {.file_name = {}, .lenient = false, .profile = std::move(profile)});
}

inline SchedulerConfig MustRead(std::string_view text) {
  Outcome outcome = Read(text);
  EXPECT_EQ(outcome.problems, "");
  return std::move(outcome.config);
}

// A configuration whose only plugin is `plugin`, which begins on line 4, column 5.
inline std::string WithPlugin(std::string_view plugin) {
  return fmt::format("actions: allocate\ntiers:\n- plugins:\n  - {}\n", plugin);
}

inline std::string WithBlock(std::string_view block) {
  return fmt::format("actions: allocate\ntiers: []\n{}\n", block);
}

inline void ExpectAt(Location at, int line, int column) {
  EXPECT_EQ(at.line, line);
  EXPECT_EQ(at.column, column);
}

}  // namespace krafla::config_test
