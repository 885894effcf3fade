#include "model/zone_drain.h"

#include <limits>

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr bool kKeepGangs = true;
constexpr bool kVolcano = false;

// A job of running tasks 0, 1, 2, …; the first `closing` of them are on nodes of a closed zone.
DrainJob Gang(int running, int min_available, int closing) {
  DrainJob job{.allowance = {.count = 1, .annotated = false},
               .ready = running,
               .min_available = min_available};
  for (int i = 0; i < running; ++i)
    job.members.push_back({.task = TaskId(static_cast<uint32_t>(i)), .closing = i < closing});
  return job;
}

DrainJob WithBudget(DrainJob job, int64_t count) {
  job.allowance = {.count = count, .annotated = true};
  return job;
}

std::vector<uint32_t> Going(const DrainPlan& plan) {
  std::vector<uint32_t> tasks;
  for (TaskId task : plan.go) tasks.push_back(task.value);
  return tasks;
}

using List = std::vector<uint32_t>;

// D25
TEST(ZoneDrain, VolcanoTakesTheFirstThatTheBudgetAllows) {
  EXPECT_EQ(Going(PlanDrain(Gang(4, 4, 3), kVolcano)), (List{0}));
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(4, 4, 3), 2), kVolcano)), (List{0, 1}));
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(4, 4, 3), 9), kVolcano)), (List{0, 1, 2}));
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(4, 4, 3), 0), kVolcano)), (List{}));
}

TEST(ZoneDrain, NobodyOnAClosingNodeNobodyGoes) {
  const DrainPlan plan = PlanDrain(Gang(4, 4, 0), kKeepGangs);
  EXPECT_EQ(Going(plan), (List{}));
  EXPECT_EQ(plan.hold, DrainHold::kNothing);
}

TEST(ZoneDrain, SurplusGoesOnePerStepWithoutABudget) {
  const DrainPlan plan = PlanDrain(Gang(6, 2, 3), kKeepGangs);
  EXPECT_EQ(Going(plan), (List{0}));
  EXPECT_FALSE(plan.whole);
  EXPECT_EQ(plan.hold, DrainHold::kPeriod);
}

TEST(ZoneDrain, SurplusGoesAsFarAsTheBudgetAllows) {
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(6, 2, 4), 3), kKeepGangs)), (List{0, 1, 2}));
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(6, 2, 4), 4), kKeepGangs)), (List{0, 1, 2, 3}));
}

TEST(ZoneDrain, OnlySurplusGoesWhileThereIsSome) {
  // Four are on closing nodes, three may be missed; the budget would allow five of six.
  const DrainPlan plan = PlanDrain(WithBudget(Gang(6, 3, 4), 5), kKeepGangs);
  EXPECT_EQ(Going(plan), (List{0, 1, 2}));
  EXPECT_EQ(plan.hold, DrainHold::kLater);
}

TEST(ZoneDrain, AGangAtItsMinimumGoesWhole) {
  const DrainPlan plan = PlanDrain(Gang(4, 4, 4), kKeepGangs);
  EXPECT_EQ(Going(plan), (List{0, 1, 2, 3}));
  EXPECT_TRUE(plan.whole);
  EXPECT_EQ(plan.hold, DrainHold::kNothing);
}

TEST(ZoneDrain, AGangGoesWholeFromOrdinaryNodesToo) {
  EXPECT_EQ(Going(PlanDrain(Gang(4, 4, 1), kKeepGangs)), (List{0, 1, 2, 3}));
}

TEST(ZoneDrain, AGangBelowItsMinimumIsNoUseEitherAndGoes) {
  EXPECT_EQ(Going(PlanDrain(Gang(3, 4, 2), kKeepGangs)), (List{0, 1, 2}));
}

TEST(ZoneDrain, TheLastTaskOfAJobIsAGangOfOne) {
  EXPECT_EQ(Going(PlanDrain(Gang(1, 1, 1), kKeepGangs)), (List{0}));
}

TEST(ZoneDrain, ABudgetThatDoesNotCoverTheGangHoldsIt) {
  const DrainJob job = WithBudget(Gang(4, 4, 2), 3);
  const DrainPlan plan = PlanDrain(job, kKeepGangs);
  EXPECT_EQ(Going(plan), (List{}));
  EXPECT_EQ(plan.hold, DrainHold::kBudget);
  EXPECT_EQ(DescribeHold(job, plan, "maxUnavailable 3", ""),
            "its budget maxUnavailable 3 allows 3 more now, and its gang of 4 goes whole or not "
            "at all");
}

TEST(ZoneDrain, ABudgetThatCoversTheGangLetsItGo) {
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(4, 4, 2), 4), kKeepGangs)), (List{0, 1, 2, 3}));
}

TEST(ZoneDrain, OnlyRunningTasksCountAgainstTheBudget) {
  DrainJob job = WithBudget(Gang(4, 4, 2), 3);
  job.members[3].running = false;  // bound, not yet up: unavailable already
  EXPECT_EQ(Going(PlanDrain(job, kKeepGangs)), (List{0, 1, 2, 3}));
}

TEST(ZoneDrain, ABudgetForAllEmptiesAZoneThatHasTheWholeJob) {
  const DrainPlan plan = PlanDrain(WithBudget(Gang(5, 2, 5), 5), kKeepGangs);
  EXPECT_EQ(Going(plan), (List{0, 1, 2, 3, 4}));
  EXPECT_TRUE(plan.whole);
}

TEST(ZoneDrain, ABudgetForAllSparesOrdinaryNodesWhileSurplusCanGo) {
  EXPECT_EQ(Going(PlanDrain(WithBudget(Gang(6, 2, 5), 6), kKeepGangs)), (List{0, 1, 2, 3}));
}

// D14: the one step of the period was taken.
TEST(ZoneDrain, WithoutABudgetASecondStepWaits) {
  for (const int min_available : {2, 4}) {
    DrainJob job = Gang(4, min_available, 4);
    job.allowance.count = 0;
    const DrainPlan plan = PlanDrain(job, kKeepGangs);
    EXPECT_EQ(Going(plan), (List{}));
    EXPECT_EQ(plan.hold, DrainHold::kPeriod);
  }
}

TEST(ZoneDrain, AMemberThatMustStayHoldsTheGang) {
  DrainJob job = Gang(4, 4, 2);
  job.members[3].may_go = false;
  const DrainPlan plan = PlanDrain(job, kKeepGangs);
  EXPECT_EQ(Going(plan), (List{}));
  EXPECT_EQ(plan.hold, DrainHold::kMember);
  EXPECT_EQ(plan.held_by, TaskId(3));
  EXPECT_EQ(DescribeHold(job, plan, "", "ns/master"),
            "its gang goes whole or not at all, and ns/master must not be evicted");
}

TEST(ZoneDrain, AMemberThatMustStayDoesNotHoldSurplus) {
  DrainJob job = Gang(4, 2, 2);
  job.members[0].may_go = false;
  EXPECT_EQ(Going(PlanDrain(job, kKeepGangs)), (List{1}));
}

TEST(ZoneDrain, AGangWaitsForAMemberThatIsBeingBound) {
  DrainJob job = Gang(4, 5, 4);
  job.ready = 5;
  job.in_flight = true;
  const DrainPlan plan = PlanDrain(job, kKeepGangs);
  EXPECT_EQ(Going(plan), (List{}));
  EXPECT_EQ(plan.hold, DrainHold::kInFlight);
}

TEST(ZoneDrain, FinishedTasksAreReadyAndNeedNotGo) {
  DrainJob job = Gang(2, 3, 1);
  job.ready = 3;  // one has succeeded
  EXPECT_EQ(Going(PlanDrain(job, kKeepGangs)), (List{0, 1}));
}

TEST(ZoneDrain, ARoleAtItsMinimumIsNoSurplus) {
  DrainJob job = WithBudget(Gang(6, 4, 3), 2);
  job.members[0].role = 1;  // the only master
  job.role_surplus = {2, 0};
  EXPECT_EQ(Going(PlanDrain(job, kKeepGangs)), (List{1, 2}));
}

TEST(ZoneDrain, WhenOnlyNeededRolesAreLeftTheGangGoesWhole) {
  DrainJob job = Gang(6, 4, 1);
  job.members[0].role = 1;
  job.role_surplus = {2, 0};
  EXPECT_EQ(Going(PlanDrain(job, kKeepGangs)), (List{0, 1, 2, 3, 4, 5}));
}

// Step by step until nothing moves: never fewer than minAvailable and more than none, never more
// than the budget.
TEST(ZoneDrain, NoStepLeavesHalfAGang) {
  for (int running = 1; running <= 6; ++running)
    for (int min_available = 0; min_available <= 7; ++min_available)
      for (int closing = 0; closing <= running; ++closing)
        for (int budget = -1; budget <= 6; ++budget) {
          DrainJob job = Gang(running, min_available, closing);
          if (budget >= 0) job = WithBudget(job, budget);
          const DrainPlan plan = PlanDrain(job, kKeepGangs);
          const int left = running - static_cast<int>(plan.go.size());
          if (!plan.go.empty()) {
            EXPECT_TRUE(left == 0 || left >= min_available)
                << running << " " << min_available << " " << closing << " " << budget;
          }
          if (budget >= 0) {
            EXPECT_LE(static_cast<int>(plan.go.size()), budget);
          } else if (!plan.whole) {
            EXPECT_LE(plan.go.size(), 1U);
          }
          // Somebody goes, or the plan says why not.
          EXPECT_TRUE(closing == 0 || !plan.go.empty() || plan.hold != DrainHold::kNothing);
        }
}

// D9
TEST(ZoneDrain, TheEvictPeriodIsAMinimum) {
  constexpr int64_t kMinute = 60 * Timestamp::kNsPerSecond;
  const Timestamp noon = Timestamp::FromUnixSeconds(1'800'000'000);
  const Timestamp almost{noon.ns + kMinute - 1};
  const Timestamp later{noon.ns + kMinute};
  EXPECT_TRUE(IsPeriodOver(nullptr, noon, kMinute));
  EXPECT_FALSE(IsPeriodOver(&noon, noon, kMinute));
  EXPECT_FALSE(IsPeriodOver(&noon, almost, kMinute));
  EXPECT_TRUE(IsPeriodOver(&noon, later, kMinute));
  EXPECT_TRUE(IsPeriodOver(&noon, noon, 0));
}

TEST(ZoneDrain, AClockFromTheFarFutureDoesNotStopEvictions) {
  constexpr int64_t kMinute = 60 * Timestamp::kNsPerSecond;
  const Timestamp now = Timestamp::FromUnixSeconds(1'800'000'000);
  const Timestamp soon{now.ns + kMinute / 2};
  const Timestamp tomorrow{now.ns + 24 * 60 * kMinute};
  EXPECT_FALSE(IsPeriodOver(&soon, now, kMinute));
  EXPECT_TRUE(IsPeriodOver(&tomorrow, now, kMinute));
}

TEST(ZoneDrain, ThePeriodSaysWhenItIsOver) {
  constexpr int64_t kMinute = 60 * Timestamp::kNsPerSecond;
  const Timestamp noon = Timestamp::FromUnixSeconds(1'800'000'000);
  const Timestamp later{noon.ns + kMinute};
  EXPECT_EQ(NextPeriodChange(nullptr, noon, kMinute), std::nullopt);
  EXPECT_EQ(NextPeriodChange(&noon, noon, kMinute), later);
  EXPECT_EQ(NextPeriodChange(&noon, Timestamp{later.ns - 1}, kMinute), later);
  EXPECT_EQ(NextPeriodChange(&noon, later, kMinute), std::nullopt);
  // A clock from the near future counts until its period is over, one from the far future begins to
  // count when it is near.
  const Timestamp soon{noon.ns + kMinute / 2};
  EXPECT_EQ(NextPeriodChange(&soon, noon, kMinute), (Timestamp{soon.ns + kMinute}));
  const Timestamp tomorrow{noon.ns + 24 * 60 * kMinute};
  EXPECT_EQ(NextPeriodChange(&tomorrow, noon, kMinute), (Timestamp{tomorrow.ns - kMinute}));
  EXPECT_FALSE(IsPeriodOver(&tomorrow, Timestamp{tomorrow.ns - kMinute}, kMinute));
  const Timestamp last{std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(NextPeriodChange(&last, Timestamp{last.ns - 1}, kMinute), std::nullopt);
}

}  // namespace
}  // namespace krafla
