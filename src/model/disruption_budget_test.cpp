#include "model/disruption_budget.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr BudgetRules kOurs;
constexpr BudgetRules kVolcano{
    .floor = false, .max_unavailable_wins = false, .unreadable_protects = false};

struct Tasks {
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t finished = 0;
};

JobCensus Of(Tasks tasks) {
  return {.total = tasks.running + tasks.waiting + tasks.finished,
          .running = tasks.running,
          .finished = tasks.finished};
}

int64_t MaxUnavailable(std::string text, Tasks tasks, const BudgetRules& rules = kOurs) {
  std::string complaint;
  return AllowedEvictions({.min_available = "", .max_unavailable = std::move(text)}, Of(tasks),
                          rules, complaint)
      .count;
}

int64_t MinAvailable(std::string text, Tasks tasks, const BudgetRules& rules = kOurs) {
  std::string complaint;
  return AllowedEvictions({.min_available = std::move(text), .max_unavailable = ""}, Of(tasks),
                          rules, complaint)
      .count;
}

TEST(DisruptionBudget, WithoutAnnotationOneMayGo) {
  std::string complaint;
  for (const BudgetRules& rules : {kOurs, kVolcano}) {
    const Allowance allowance = AllowedEvictions({}, Of({.running = 5}), rules, complaint);
    EXPECT_EQ(allowance.count, 1);
    EXPECT_FALSE(allowance.annotated);
  }
  EXPECT_EQ(complaint, "");
}

TEST(DisruptionBudget, MaxUnavailableCountsWhoIsNeitherRunningNorFinished) {
  EXPECT_EQ(MaxUnavailable("3", {.running = 5}), 3);
  EXPECT_EQ(MaxUnavailable("3", {.running = 5, .waiting = 2}), 1);
  EXPECT_EQ(MaxUnavailable("3", {.running = 5, .waiting = 3}), 0);
  EXPECT_EQ(MaxUnavailable("3", {.running = 5, .waiting = 9}), 0);
  EXPECT_EQ(MaxUnavailable("3", {.running = 5, .waiting = 0, .finished = 4}), 3);
}

TEST(DisruptionBudget, PercentagesAreOfAllTasksRoundedUp) {
  EXPECT_EQ(MaxUnavailable("30%", {.running = 9, .waiting = 1}), 2);  // the guide's example
  EXPECT_EQ(MaxUnavailable("30%", {.running = 5}), 2);
  EXPECT_EQ(MaxUnavailable("30%", {.running = 3, .waiting = 0, .finished = 2}), 2);
  EXPECT_EQ(MaxUnavailable("1%", {.running = 3}), 1);
  EXPECT_EQ(MaxUnavailable("100%", {.running = 5}), 5);
  EXPECT_EQ(MinAvailable("60%", {.running = 10}), 4);
  EXPECT_EQ(MinAvailable("50%", {.running = 3}), 1);
  EXPECT_EQ(MinAvailable("100%", {.running = 5}), 0);
}

TEST(DisruptionBudget, MinAvailableKeepsSoManyRunning) {
  EXPECT_EQ(MinAvailable("3", {.running = 5}), 2);
  EXPECT_EQ(MinAvailable("3", {.running = 3, .waiting = 4}), 0);
  EXPECT_EQ(MinAvailable("0", {.running = 3}), 3);
}

// D2
TEST(DisruptionBudget, ABrokenBudgetIsNotBrokenFurther) {
  EXPECT_EQ(MinAvailable("3", {.running = 2}, kOurs), 0);
  EXPECT_EQ(MinAvailable("3", {.running = 0, .waiting = 3}, kOurs), 0);
}

// D2
TEST(DisruptionBudget, VolcanoTakesOneMoreFromABrokenBudget) {
  EXPECT_EQ(MinAvailable("3", {.running = 2}, kVolcano), 1);
  EXPECT_EQ(MinAvailable("3", {.running = 3}, kVolcano), 0);
}

// D3
TEST(DisruptionBudget, WhichOfTwoAnnotationsCounts) {
  const DisruptionBudget both{.min_available = "4", .max_unavailable = "3"};
  std::string complaint;
  EXPECT_EQ(AllowedEvictions(both, Of({.running = 5}), kOurs, complaint).count, 3);
  EXPECT_EQ(AllowedEvictions(both, Of({.running = 5}), kVolcano, complaint).count, 1);
  EXPECT_EQ(EffectiveBudget(both, true), BudgetKind::kMaxUnavailable);
  EXPECT_EQ(EffectiveBudget(both, false), BudgetKind::kMinAvailable);
}

TEST(DisruptionBudget, OneAnnotationCountsWhateverThePrecedence) {
  for (const bool max_wins : {true, false}) {
    EXPECT_EQ(EffectiveBudget({.min_available = "4", .max_unavailable = ""}, max_wins),
              BudgetKind::kMinAvailable);
    EXPECT_EQ(EffectiveBudget({.min_available = "", .max_unavailable = "4"}, max_wins),
              BudgetKind::kMaxUnavailable);
    EXPECT_EQ(EffectiveBudget({}, max_wins), BudgetKind::kNone);
  }
}

// D37
TEST(DisruptionBudget, AnUnreadableBudgetProtectsTheJob) {
  for (const char* annotation :
       {"many", "5.5", " ", "%", "60 %", "99999999999999999999", "3000000000"}) {
    for (const BudgetRules& rules : {kOurs, kVolcano}) {
      std::string complaint;
      EXPECT_EQ(AllowedEvictions({.min_available = "", .max_unavailable = annotation},
                                 Of({.running = 5}), rules, complaint)
                    .count,
                0)
          << annotation;
      EXPECT_NE(complaint, "") << annotation;
      complaint.clear();
      EXPECT_EQ(AllowedEvictions({.min_available = annotation, .max_unavailable = ""},
                                 Of({.running = 5}), rules, complaint)
                    .count,
                rules.unreadable_protects ? 0 : 5)
          << annotation;
      EXPECT_NE(complaint, "") << annotation;
    }
  }
}

// D37
TEST(DisruptionBudget, ANegativeBudgetProtectsTheJob) {
  for (const char* text : {"-1", "-5%", "-9223372036854775808%"}) {
    EXPECT_EQ(MaxUnavailable(text, {.running = 50}), 0) << text;
    EXPECT_EQ(MinAvailable(text, {.running = 50}), 0) << text;
  }
}

// D37
TEST(DisruptionBudget, ForVolcanoNegativeNumbersAreNumbers) {
  EXPECT_EQ(MaxUnavailable("-1", {.running = 5}, kVolcano), 0);
  EXPECT_EQ(MinAvailable("-1", {.running = 5}, kVolcano), 6);
  EXPECT_GT(MinAvailable("-9223372036854775808%", {.running = 5}, kVolcano), 0);
}

// D37
TEST(DisruptionBudget, AnEmptyAnnotationProtectsAndIsAbsentForVolcano) {
  const DisruptionBudget empty{.min_available = std::string(kEmptyBudgetText),
                               .max_unavailable = ""};
  std::string complaint;
  const Allowance ours = AllowedEvictions(empty, Of({.running = 5}), kOurs, complaint);
  EXPECT_TRUE(ours.annotated);
  EXPECT_EQ(ours.count, 0);
  EXPECT_EQ(complaint, "the value is empty; write 3 or 25%");
  complaint.clear();
  const Allowance volcano = AllowedEvictions(empty, Of({.running = 5}), kVolcano, complaint);
  EXPECT_FALSE(volcano.annotated);
  EXPECT_EQ(volcano.count, 1);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(EffectiveBudget(empty, kVolcano), BudgetKind::kNone);
}

TEST(DisruptionBudget, TheEffectiveAnnotationIsNamed) {
  const DisruptionBudget both{.min_available = "4", .max_unavailable = "30%"};
  EXPECT_EQ(DescribeBudget(both, true), "maxUnavailable 30%");
  EXPECT_EQ(DescribeBudget(both, false), "minAvailable 4");
  EXPECT_EQ(DescribeBudget({}, true), "");
}

TEST(DisruptionBudget, TheCensusReadsTheCountsOfAJob) {
  Job job;
  job.tasks.resize(9);
  job.count[static_cast<size_t>(TaskStatus::kRunning)] = 4;
  job.count[static_cast<size_t>(TaskStatus::kReleasing)] = 2;
  job.count[static_cast<size_t>(TaskStatus::kSucceeded)] = 1;
  job.count[static_cast<size_t>(TaskStatus::kFailed)] = 2;
  const JobCensus census = CensusOf(job);
  EXPECT_EQ(census.total, 9);
  EXPECT_EQ(census.running, 4);
  EXPECT_EQ(census.finished, 3);
}

}  // namespace
}  // namespace krafla
