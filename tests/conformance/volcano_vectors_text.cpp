// What texts mean: quantities, durations, booleans, windows, budgets, switches. And one text that
// is ours: why a task found no node.
#include <fmt/format.h>

#include <cctype>
#include <limits>

#include "base/go_bool.h"
#include "base/go_duration.h"
#include "base/int_or_percent.h"
#include "config/config_names.h"
#include "config/scheduler_config.h"
#include "conformance/volcano_vectors.h"
#include "model/disruption_budget.h"
#include "model/quantity.h"
#include "model/zone_window.h"
#include "session/fit_errors.h"

namespace krafla::volcano_tables {

namespace {

constexpr int kMinutesPerDay = 24 * 60;

// Kubernetes wraps around where a quantity does not fit into 64 bits; ours says "a lot".
bool SameOrSaturated(int64_t ours, int64_t recorded) {
  return ours == recorded || ours == std::numeric_limits<int64_t>::max();
}

// The minutes from a window's start to its end; a whole day when they are the same.
int LengthInMinutes(const ZoneWindow& window) {
  const int length = window.end_minute - window.start_minute;
  return length > 0 ? length : length + kMinutesPerDay;
}

std::string ErrorOf(const Error& error) {
  return "error: " + error.message;
}

}  // namespace

Verdict CheckBool(const Json& in, const Json& want) {
  const std::optional<bool> ours = ParseGoBool(in["s"].Text());
  return Verdict::Of(
      ours.has_value() != want["error"].Bool() && ours.value_or(false) == want["value"].Bool(),
      ours ? (*ours ? "true" : "false") : "error");
}

Verdict CheckQuantity(const Json& in, const Json& want) {
  const Result<Quantity> ours = ParseQuantity(in["s"].Text());
  if (!ours) return Verdict::Of(want["error"].Bool(), ErrorOf(ours.error()));
  return Verdict::Of(!want["error"].Bool() &&
                         SameOrSaturated(ours->Value(), want["value"].Integer()) &&
                         SameOrSaturated(ours->MilliValue(), want["milliValue"].Integer()),
                     fmt::format("{} or {} milli", ours->Value(), ours->MilliValue()));
}

Verdict CheckDuration(const Json& in, const Json& want) {
  const Result<int64_t> ours = ParseGoDuration(in["s"].Text());
  if (!ours) return Verdict::Of(want["error"].Bool(), ErrorOf(ours.error()));
  return Verdict::Of(!want["error"].Bool() && *ours == want["ns"].Integer(),
                     fmt::format("{} ns", *ours));
}

Verdict CheckWindowLength(const Json& in, const Json& want) {
  const Result<ZoneWindow> ours = ParseZoneWindow(in["rz"].Text());
  if (!ours) return Verdict::Of(want["err"].Bool(), ErrorOf(ours.error()));
  const int seconds = LengthInMinutes(*ours) * 60;
  return Verdict::Of(!want["err"].Bool() && seconds == want["delta"].Integer(),
                     fmt::format("{} s", seconds));
}

Verdict CheckWindowOpen(const Json& in, const Json& want) {
  const Result<ZoneWindow> window = ParseZoneWindow(in["window"].Text());
  if (!window) return Verdict::Of(want["parseError"].Bool(), ErrorOf(window.error()));
  const Result<ZonedTimestamp> now = ParseRfc3339(in["now"].Text());
  if (!now) return Verdict::Of(false, ErrorOf(now.error()));
  const bool open = IsOpenVolcano(*window, now->time, TimeZone());
  return Verdict::Of(!want["parseError"].Bool() && open == want["available"].Bool(),
                     open ? "open" : "closed");
}

Verdict CheckIntOrPercent(const Json& in, const Json& want) {
  // Volcano logs what it cannot read and goes on with 0.
  const Result<int64_t> parsed = ScaledIntOrPercent(in["input"].Text(), in["taskNum"].Integer());
  const int64_t ours = parsed.value_or(0);
  return Verdict::Of(ours == want.Integer(), fmt::format("{}", ours));
}

Verdict CheckAllowedEvictions(const Json& in, const Json& want) {
  const DisruptionBudget budget{std::string(in["minAvailable"].Text()),
                                std::string(in["maxUnavailable"].Text())};
  JobCensus census;
  census.running = in["running"].Integer();
  census.finished = in["succeeded"].Integer() + in["failed"].Integer();
  census.total = census.running + census.finished + in["pending"].Integer();
  // In Volcano minAvailable wins because only one of the two gets here; with both, as in some of
  // the vectors, this function prefers the other.
  std::string complaint;
  const Allowance ours = AllowedEvictions(
      budget, census, {.floor = false, .max_unavailable_wins = true, .unreadable_protects = false},
      complaint);
  return Verdict::Of(ours.count == want.Integer(), fmt::format("{}", ours.count));
}

Verdict CheckSwitchDefaults(const Json& in, const Json& want) {
  const Json option = in["args"]["option"];
  std::string text = "actions: allocate\ntiers:\n- plugins:\n  - name: test\n";
  for (const auto& [field, value] : option.Entries()) {
    if (field == "Name") continue;
    std::string key = field;
    key[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(key[0])));
    text += fmt::format("    {}: {}\n", key, value.Bool());
  }
  Vocabulary vocabulary;
  vocabulary.plugins.push_back({"test", {}});
  vocabulary.actions.push_back({"allocate", {}});
  Diagnostics diagnostics;
  const SchedulerConfig config = ReadSchedulerConfig(text, vocabulary, {}, diagnostics);
  if (diagnostics.HasErrors()) return Verdict::Of(false, ToString(diagnostics.items().front()));
  const PluginOption& ours = config.tiers.at(0).plugins.at(0);
  std::string others;
  for (const SwitchName& known : SwitchNames()) {
    // The two that are never switched on by themselves, and the test does not look at them.
    if (known.value == Switch::kHierarchy || known.value == Switch::kClusterOrder) continue;
    // Younger than the table: it neither sets them nor looks at them.
    const bool young = known.key.find("HyperNode") != std::string_view::npos ||
                       known.key.find("SubJob") != std::string_view::npos;
    if (!young && ours.Enabled(known.value) != want["expected"].Bool())
      others += fmt::format("{} is {}; ", known.key, ours.Enabled(known.value));
  }
  return Verdict::Of(others.empty(), others);
}

Verdict CheckFitErrorText(const Json& in, const Json& want) {
  if (!in["hyperNode"].Text().empty()) return Verdict::OutOfScope();
  ReasonTable reasons;
  FitError error;
  error.message = in["fitStr"].Text();
  const auto add = [&](std::string_view text) {
    if (text.empty()) return;
    constexpr std::string_view kBeforeReason = "fit failed: ";
    if (const size_t at = text.find(kBeforeReason); at != std::string_view::npos)
      text.remove_prefix(at + kBeforeReason.size());
    ++error.nodes;
    error.reasons.emplace_back(reasons.Intern(text), 1);
  };
  add(want["err"]["error"].Text());
  add(in["fiterr"]["error"].Text());
  const std::string ours = FitErrors::Text(error, reasons);
  return Verdict::Of(ours == want["want"].Text(), ours);
}

}  // namespace krafla::volcano_tables
