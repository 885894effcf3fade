// K41: the disruption budgets of PodGroups.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "check/check_input.h"
#include "check/check_rule.h"
#include "check/drain_pods.h"
#include "model/disruption_budget.h"
#include "model/well_known.h"

namespace krafla {

namespace {

Place PlaceOfBudget(const CheckInput& input, JobId id, BudgetKind kind) {
  const Cluster& cluster = *input.cluster;
  const Job& job = cluster.jobs[id];
  const bool max = kind == BudgetKind::kMaxUnavailable;
  return input.objects.PlaceOfFirst(
      "PodGroup", cluster.Text(job.ns), cluster.Text(job.name),
      {max ? keys::kBudgetMaxUnavailableLong : keys::kBudgetMinAvailableLong,
       max ? keys::kBudgetMaxUnavailable : keys::kBudgetMinAvailable});
}

// One of the two annotations by itself.
DisruptionBudget Only(const DisruptionBudget& budget, BudgetKind kind) {
  DisruptionBudget only;
  if (kind == BudgetKind::kMaxUnavailable) only.max_unavailable = budget.max_unavailable;
  if (kind == BudgetKind::kMinAvailable) only.min_available = budget.min_available;
  return only;
}

const std::string& TextOf(const DisruptionBudget& budget, BudgetKind kind) {
  return kind == BudgetKind::kMaxUnavailable ? budget.max_unavailable : budget.min_available;
}

std::string Consequence(const CheckInput& input, BudgetKind kind, std::string_view text) {
  if (!input.tdm.configured())
    return "none now: tdm is not configured, so the budget has no effect";
  if (input.config.compatibility.budget_unreadable || kind == BudgetKind::kMaxUnavailable)
    return "no pod of the job may be evicted: the nodes of a closed zone are not given back";
  if (text == kEmptyBudgetText)
    return "with budget-unreadable: false it counts as absent: one pod may be evicted per evict "
           "period";
  return "with budget-unreadable: false it counts as 0: all pods of the job may be evicted at once";
}

void Unreadable(const CheckInput& input, RuleReport& report) {
  for (JobId id : input.cluster->jobs_by_name) {
    const Job& job = input.cluster->jobs[id];
    for (const BudgetKind kind : {BudgetKind::kMaxUnavailable, BudgetKind::kMinAvailable}) {
      const std::string& text = TextOf(job.budget, kind);
      if (text.empty()) continue;
      std::string complaint;
      (void)AllowedEvictions(Only(job.budget, kind), CensusOf(job), {}, complaint);
      if (complaint.empty()) continue;
      const bool max = kind == BudgetKind::kMaxUnavailable;
      report.Add({.place = PlaceOfBudget(input, id, kind),
                  .object = input.Title(id),
                  .message = fmt::format("its {} budget cannot be read: {}",
                                         max ? "max-unavailable" : "min-available", complaint),
                  .consequence = Consequence(input, kind, text),
                  .fix = text.contains(' ') ? "write it without blanks, such as \"3\" or \"30%\""
                                            : "write a whole number or a percentage, such as "
                                              "\"3\" or \"30%\""});
    }
  }
}

// What the annotation that counts comes to, in pods of the job as it is.
struct Budget {
  BudgetKind kind = BudgetKind::kNone;
  int64_t count = 0;
};
std::optional<Budget> EffectiveCount(const CheckInput& input, const Job& job) {
  const BudgetKind kind = EffectiveBudget(job.budget, input.config.compatibility.budget_precedence);
  if (kind == BudgetKind::kNone || job.tasks.empty()) return std::nullopt;
  // The allowance of a job of which everybody runs tells the number.
  const auto total = static_cast<int64_t>(job.tasks.size());
  std::string complaint;
  const JobCensus all_run{.total = total, .running = total, .finished = 0};
  const Allowance allowance = AllowedEvictions(Only(job.budget, kind), all_run, {}, complaint);
  if (!complaint.empty()) return std::nullopt;
  if (kind == BudgetKind::kMaxUnavailable) return Budget{kind, allowance.count};
  return Budget{kind, total - allowance.count};
}

std::string Describe(const CheckInput& input, const Job& job) {
  return DescribeBudget(job.budget, input.config.compatibility.budget_precedence);
}

// min-available above the number of pods: AllowedEvictions does not tell by how much.
bool AsksForMoreThanThereIs(const Job& job) {
  const auto total = static_cast<int64_t>(job.tasks.size());
  std::string complaint;
  DisruptionBudget only = Only(job.budget, BudgetKind::kMinAvailable);
  // Without the floor a budget that is broken allows one, one that is just met none.
  const Allowance allowance = AllowedEvictions(
      only, {.total = total, .running = total, .finished = 0}, {.floor = false}, complaint);
  return allowance.count > 0;
}

void NeverAllowsAnybody(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.configured()) return;
  for (JobId id : input.cluster->jobs_by_name) {
    const Job& job = input.cluster->jobs[id];
    const std::optional<Budget> budget = EffectiveCount(input, job);
    if (!budget) continue;
    const auto total = static_cast<int64_t>(job.tasks.size());
    const bool max = budget->kind == BudgetKind::kMaxUnavailable;
    if (max ? budget->count > 0 : budget->count < total) continue;
    const bool too_many = !max && AsksForMoreThanThereIs(job);
    const bool offers = !RevocablePods(input, id).empty();
    // Who does not offer itself may well forbid every eviction.
    if (!too_many && !offers) continue;
    std::string consequence =
        offers ? "nobody of the job may ever go: the nodes of its zone are not given back while it "
                 "runs"
               : "the budget can never be met, and nobody of the job may ever go";
    if (too_many && !input.config.compatibility.budget_floor)
      consequence =
          "the budget can never be met, and with budget-floor: false (profile volcano) a "
          "broken budget lets one more go at each step";
    report.Add({.place = PlaceOfBudget(input, id, budget->kind),
                .object = input.Title(id),
                .message = fmt::format("{} is {} of its {}", Describe(input, job),
                                       max        ? "none"
                                       : too_many ? "more than all"
                                                  : "all",
                                       Count(size_t(total), "pod")),
                .consequence = std::move(consequence),
                .fix = fmt::format("write a {} {} {}", max ? "max-unavailable" : "min-available",
                                   max ? "of at least 1, at most" : "below", total)});
  }
}

// A gang at its minimum goes whole or not at all (D25).
void HoldsGang(const CheckInput& input, RuleReport& report) {
  if (!input.tdm.drains || !input.config.compatibility.drain_gang) return;
  for (JobId id : input.cluster->jobs_by_name) {
    const Job& job = input.cluster->jobs[id];
    const std::optional<Budget> budget = EffectiveCount(input, job);
    const auto total = static_cast<int64_t>(job.tasks.size());
    if (!budget || total > job.min_available || RevocablePods(input, id).empty()) continue;
    // Pods that have ended count as ready: such a job may have some to spare.
    if (CensusOf(job).finished > 0) continue;
    const bool max = budget->kind == BudgetKind::kMaxUnavailable;
    const bool allows_nobody = max ? budget->count <= 0 : budget->count >= total;
    const bool allows_all = max ? budget->count >= total : budget->count <= 0;
    if (allows_nobody || allows_all) continue;
    report.Add({.place = PlaceOfBudget(input, id, budget->kind),
                .object = input.Title(id),
                .message = fmt::format(
                    "all of its {} belong to its minMember of {}, and {} does not "
                    "allow all of them to go at once",
                    Count(size_t(total), "pod"), job.min_available, Describe(input, job)),
                .consequence = "a gang at its minimum leaves a closed zone whole or not at all: it "
                               "never leaves, and the nodes are not given back",
                .fix = fmt::format("allow all of them ({}), or give the job more pods than its "
                                   "minMember",
                                   max ? "max-unavailable: \"100%\"" : "take min-available out")});
  }
}

void WithoutTdm(const CheckInput& input, RuleReport& report) {
  if (input.tdm.configured()) return;
  std::vector<std::string> names;
  JobId first;
  for (JobId id : input.cluster->jobs_by_name) {
    const DisruptionBudget& budget = input.cluster->jobs[id].budget;
    if (budget.min_available.empty() && budget.max_unavailable.empty()) continue;
    if (names.empty()) first = id;
    names.push_back(input.cluster->JobKey(id));
  }
  if (names.empty()) return;
  const BudgetKind kind = EffectiveBudget(input.cluster->jobs[first].budget, true);
  report.Add(
      {.place = PlaceOfBudget(input, first, kind),
       .object = input.Title(first),
       .message = fmt::format(
           "{} a disruption budget, and tdm is not configured ({})",
           names.size() == 1 ? "1 PodGroup has" : fmt::format("{} PodGroups have", names.size()),
           List(names)),
       .consequence = "the budgets have no effect: only tdm reads them",
       .fix = "add tdm, or protect the pods with a PodDisruptionBudget and the plugin pdb"});
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;

constexpr std::array kRules = {
    CheckRule{"K411", "unreadable-budget", kWarning, RuleNeeds::kCluster,
              "A disruption budget cannot be read.", &Unreadable},
    CheckRule{"K412", "budget-never-met", kWarning, RuleNeeds::kCluster,
              "A disruption budget lets nobody go, ever.", &NeverAllowsAnybody},
    CheckRule{"K413", "budget-holds-gang", kWarning, RuleNeeds::kCluster,
              "A disruption budget keeps a gang from leaving a closed zone as a whole.",
              &HoldsGang},
    CheckRule{"K414", "budget-without-tdm", FindingLevel::kNote, RuleNeeds::kCluster,
              "Disruption budgets are set, and have no effect.", &WithoutTdm},
};

}  // namespace

std::span<const CheckRule> JobBudgetRules() {
  return kRules;
}

}  // namespace krafla
