// How many more tasks of a job may be taken away: the arithmetic behind the budget annotations of a
// PodGroup. Pure; who counts what is decided by the caller's census.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/cluster.h"

namespace krafla {

struct BudgetRules {
  bool floor = true;                 // D2: a budget already broken allows nothing (Volcano: one)
  bool max_unavailable_wins = true;  // D3: when both annotations are there (Volcano: minAvailable)
  // D37: an invalid annotation allows no eviction (Volcano: it counts as 0, so that an invalid
  // minAvailable allows all evictions; a negative one is a number; an empty one is absent).
  bool unreadable_protects = true;
};

// The tasks of a job as budgets see them. Unavailable is whoever is neither running nor finished.
struct JobCensus {
  int64_t total = 0;
  int64_t running = 0;
  int64_t finished = 0;  // Succeeded or Failed
};
JobCensus CensusOf(const Job& job);

struct Allowance {
  int64_t count = 0;       // never negative
  bool annotated = false;  // a budget says so; else it is the default of one at a time
};
inline constexpr int64_t kEvictionsWithoutBudget = 1;

enum class BudgetKind : uint8_t { kNone, kMinAvailable, kMaxUnavailable };

// An annotation that is present and empty, as DisruptionBudget holds it.
inline constexpr std::string_view kEmptyBudgetText = "\"\"";

// Which of the two annotations counts.
BudgetKind EffectiveBudget(const DisruptionBudget& budget, bool max_unavailable_wins);
BudgetKind EffectiveBudget(const DisruptionBudget& budget, const BudgetRules& rules);

// `complaint` gets a sentence when the annotation is invalid.
Allowance AllowedEvictions(const DisruptionBudget& budget, const JobCensus& census,
                           const BudgetRules& rules, std::string& complaint);

// "maxUnavailable 30%", for messages; empty when there is no budget.
std::string DescribeBudget(const DisruptionBudget& budget, bool max_unavailable_wins);

}  // namespace krafla
