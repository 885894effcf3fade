#include "model/disruption_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/did_you_mean.h"
#include "base/int_or_percent.h"

namespace krafla {

namespace {

// The annotation as a number of tasks. Kubernetes keeps such counts in 32 bits; a larger one is
// unreadable there, and therefore here. None: the text is invalid.
std::optional<int64_t> ReadCount(const std::string& text, int64_t total, const BudgetRules& rules,
                                 std::string& complaint) {
  using Limits = std::numeric_limits<int32_t>;
  if (text == kEmptyBudgetText) {
    complaint = "the value is empty; write 3 or 25%";
    return std::nullopt;
  }
  Result<int64_t> count = ScaledIntOrPercent(text, total);
  const bool is_percent = text.ends_with('%');
  if (count && !is_percent && (*count > Limits::max() || *count < Limits::min()))
    count = Fail(fmt::format("{} is too large a number", Quoted(text)));
  if (!count) {
    complaint = count.error().message;
    return std::nullopt;
  }
  if (*count < 0 && rules.unreadable_protects) {
    complaint = fmt::format("{} is negative; write 3 or 25%", Quoted(text));
    return std::nullopt;
  }
  return std::clamp<int64_t>(*count, Limits::min(), Limits::max());
}

}  // namespace

JobCensus CensusOf(const Job& job) {
  return {.total = static_cast<int64_t>(job.tasks.size()),
          .running = job.Count(TaskStatus::kRunning),
          .finished = job.Count(TaskStatus::kSucceeded) + job.Count(TaskStatus::kFailed)};
}

BudgetKind EffectiveBudget(const DisruptionBudget& budget, bool max_unavailable_wins) {
  return EffectiveBudget(budget, BudgetRules{.max_unavailable_wins = max_unavailable_wins});
}

BudgetKind EffectiveBudget(const DisruptionBudget& budget, const BudgetRules& rules) {
  const auto counts = [&](const std::string& text) {
    return !text.empty() && (rules.unreadable_protects || text != kEmptyBudgetText);
  };
  const bool has_min = counts(budget.min_available);
  const bool has_max = counts(budget.max_unavailable);
  if (has_max && (rules.max_unavailable_wins || !has_min)) return BudgetKind::kMaxUnavailable;
  return has_min ? BudgetKind::kMinAvailable : BudgetKind::kNone;
}

Allowance AllowedEvictions(const DisruptionBudget& budget, const JobCensus& census,
                           const BudgetRules& rules, std::string& complaint) {
  const auto read = [&](const std::string& text) {
    return ReadCount(text, census.total, rules, complaint);
  };
  switch (EffectiveBudget(budget, rules)) {
    case BudgetKind::kNone:
      break;
    case BudgetKind::kMaxUnavailable: {
      const int64_t limit = read(budget.max_unavailable).value_or(0);
      const int64_t unavailable = census.total - census.finished - census.running;
      return {std::max<int64_t>(0, limit - unavailable), true};
    }
    case BudgetKind::kMinAvailable: {
      const std::optional<int64_t> count = read(budget.min_available);
      if (!count && rules.unreadable_protects) return {0, true};
      const int64_t floor = count.value_or(0);
      if (census.running >= floor) return {census.running - floor, true};
      return {rules.floor ? 0 : kEvictionsWithoutBudget, true};
    }
  }
  return {kEvictionsWithoutBudget, false};
}

std::string DescribeBudget(const DisruptionBudget& budget, bool max_unavailable_wins) {
  switch (EffectiveBudget(budget, max_unavailable_wins)) {
    case BudgetKind::kMaxUnavailable:
      return fmt::format("maxUnavailable {}", Printable(budget.max_unavailable));
    case BudgetKind::kMinAvailable:
      return fmt::format("minAvailable {}", Printable(budget.min_available));
    case BudgetKind::kNone:
      break;
  }
  return {};
}

}  // namespace krafla
