// Explanations from texts, for tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "app/explanation_text.h"
#include "app/recalling_sink.h"
#include "cluster_state/cluster_builder.h"
#include "explain/explainer.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"
#include "support/cycle.h"
#include "support/source_dir.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {

// `remembers`: of earlier cycles, beside what the input tells; may be null.
inline Explainer MakeExplainer(const CycleInput& input, const CycleMemory* remembers = nullptr) {
  Diagnostics diagnostics;
  SchedulerConfig config = ReadSchedulerConfig(
      input.config, BuiltInVocabulary(),
      {.file_name = "config", .lenient = input.lenient, .profile = input.profile}, diagnostics);
  ReadClusterOptions read;
  read.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  read.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  CycleMemory memory = remembers != nullptr ? *remembers : CycleMemory{};
  ClusterBuilder builder(BuildOptionsOf(read));
  const Result<ZonedTimestamp> now = ParseRfc3339(input.now);
  EXPECT_TRUE(now.has_value());
  RecallingSink recalling(builder, now->time, memory);
  ReadTextInto(recalling, input.cluster, "cluster", read, diagnostics);
  Cluster cluster = std::move(builder).Build(diagnostics);
  for (const Diagnostic& d : diagnostics.items())
    if (d.severity == Severity::kError) ADD_FAILURE() << ToString(d);
  SessionOptions when;
  when.memory = &memory;  // copied
  when.now = now->time;
  when.zone = FixedOffset(now->offset_seconds);
  return Explainer(std::move(cluster), std::move(config), when);
}

inline Explanation Explained(const CycleInput& input, std::string_view kind, std::string_view name,
                             const CycleMemory* remembers = nullptr) {
  Result<Explanation> explanation = MakeExplainer(input, remembers).Explain(kind, name);
  if (explanation) return std::move(*explanation);
  ADD_FAILURE() << explanation.error().message;
  return {};
}

// The gate of that name of an action ("" before any); fails the test when there is none.
inline Gate GateOf(const Explanation& e, std::string_view action, std::string_view name) {
  for (const Gate& gate : e.gates)
    if (gate.action == action && gate.name == name) return gate;
  ADD_FAILURE() << "no gate " << action << "/" << name << " in\n" << ExplanationAsText(e, false);
  return {};
}

// The last gate of an action: the one that said no, if one did.
inline Gate LastGate(const Explanation& e, std::string_view action) {
  const Gate* last = nullptr;
  for (const Gate& gate : e.gates)
    if (gate.action == action) last = &gate;
  if (last != nullptr) return *last;
  ADD_FAILURE() << "no gate of " << action << " in\n" << ExplanationAsText(e, false);
  return {};
}

inline double NumberOf(const Gate& gate, std::string_view name) {
  for (const NamedNumber& number : gate.numbers)
    if (number.name == name) return number.value;
  ADD_FAILURE() << "no number " << name << " in gate " << gate.name;
  return -1;
}

inline bool HasFlip(const Explanation& e, std::string_view change) {
  if (!e.flips) return false;
  for (const Flip& flip : e.flips->flips)
    if (flip.change == change) return true;
  return false;
}

// Of the first flip of that kind; empty when there is none.
inline std::string FlipText(const Explanation& e, std::string_view kind) {
  if (e.flips)
    for (const Flip& flip : e.flips->flips)
      if (flip.kind == kind) return flip.change;
  return {};
}

inline ::testing::AssertionResult Says(const Explanation& e, std::string_view words) {
  // Lines are wrapped for a terminal; here they are not.
  std::string text = e.answer;
  for (const std::string& fact : e.facts) text += "\n" + fact;
  for (const Gate& gate : e.gates) {
    text += "\n" + gate.text;
    for (const ExplanationTable& table : gate.tables)
      for (const auto& row : table.rows)
        for (const Cell& cell : row) text += "\n" + cell.text;
  }
  for (const ExplanationTable& table : e.tables)
    for (const auto& row : table.rows)
      for (const Cell& cell : row) text += "\n" + cell.text;
  if (text.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << words << "\" is not in:\n"
                                       << ExplanationAsText(e, false);
}

inline std::string ReadExampleFile(const std::string& path) {
  std::ifstream file(testing::SourceDir() + "/examples/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace krafla::testing
