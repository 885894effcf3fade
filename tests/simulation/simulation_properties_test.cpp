// What must hold in every simulation, whatever goes wrong in it. Each decision is judged on the
// state the scheduler had seen (decision_judge.h), each pod followed through its life
// (life_judge.h), and when the last trouble is over everything comes to its end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "property/for_all.h"
#include "simulation/decision_judge.h"
#include "simulation/life_judge.h"
#include "simulation/random_scenario.h"
#include "simulation/simulated_run.h"

namespace krafla::testing {
namespace {

constexpr int kFullSize = 100;

// Where every cycle is decided twice and every sum derived anew, a part of the cases takes as long.
#ifdef KRAFLA_VERIFY
constexpr int kPart = 5;
#else
constexpr int kPart = 1;
#endif
// How often something has come up at least. A few cases differ more than many.
constexpr int64_t AtLeast(int64_t in_all_cases) {
  return kPart == 1 ? in_all_cases : in_all_cases / (4 * kPart);
}

ScenarioShape DrawShape(bool with_troubles) {
  const auto number = [](int low, int high) {
    return *rc::gen::resize(kFullSize, rc::gen::inRange(low, high));
  };
  ScenarioShape shape;
  shape.seed = *rc::gen::noShrink(rc::gen::resize(kFullSize, rc::gen::arbitrary<uint32_t>()));
  shape.nodes = number(2, 5);
  shape.jobs = number(2, 15);
  // The smaller number is the simpler case.
  for (int wish = 0; wish < kWishCount; ++wish)
    if (number(0, 100) >= 30) shape.wishes.insert(static_cast<Wish>(wish));
  for (int trouble = 0; with_troubles && trouble < kTroubleCount; ++trouble)
    if (number(0, 100) >= 60) shape.troubles.insert(static_cast<Trouble>(trouble));
  return shape;
}

// A property of decisions that never come about would hold easily.
struct Totals {
  int64_t binds = 0;
  int64_t evictions = 0;
  int64_t drained = 0;
  int64_t refused = 0;
};

std::string JudgeRun(const std::string& scenario, Totals& totals) {
  DecisionJudge decisions({});
  LifeJudge lives;
  const SimulatedRun run = RunScenario(scenario, {.witness = &decisions}, {&lives, &decisions});
  if (!run.problems.empty()) return run.problems;
  totals.binds += decisions.binds();
  totals.evictions += decisions.evictions();
  totals.refused += decisions.refused();
  totals.drained += run.Count(SimEventKind::kZoneDrained);
  if (!decisions.complaint().empty()) return decisions.complaint();
  if (!lives.complaint().empty()) return lives.complaint();
  if (const std::string rest = lives.Unfinished(); !rest.empty())
    return fmt::format("{} hours after the last trouble:\n{}", kRunHours - kTroubleHours, rest);
  return {};
}

TEST(SimulationProperties, DecisionsAreSoundAndEverythingEndsWhateverGoesWrong) {
  Totals totals;
  ForAllDrawn(1000 / kPart, [&totals] {
    const std::string scenario = MakeScenario(DrawShape(true));
    return DrawnCase{scenario, [scenario, &totals] { return JudgeRun(scenario, totals); }};
  });
  EXPECT_GT(totals.binds, AtLeast(10'000));
  EXPECT_GT(totals.evictions, AtLeast(700));
  EXPECT_GT(totals.drained, AtLeast(100));
  EXPECT_GT(totals.refused, AtLeast(40));
}

TEST(SimulationProperties, DecisionsAreSoundAndEverythingEndsWhenNothingGoesWrong) {
  Totals totals;
  ForAllDrawn(300 / kPart, [&totals] {
    const std::string scenario = MakeScenario(DrawShape(false));
    return DrawnCase{scenario, [scenario, &totals] { return JudgeRun(scenario, totals); }};
  });
  EXPECT_GT(totals.evictions, AtLeast(150));
}

// Which line of two logs is the first that differs.
std::string FirstDifference(const std::string& a, const std::string& b) {
  const size_t at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  if (at == a.size() && at == b.size()) return {};
  const size_t line = a.rfind('\n', at == 0 ? 0 : at - 1) + 1;
  return fmt::format("one: {}\nother: {}", a.substr(line, a.find('\n', at) - line),
                     line < b.size() ? b.substr(line, b.find('\n', line) - line) : "");
}

TEST(SimulationProperties, TheSameScenarioGivesTheSameBytes) {
  ForAllDrawn(60 / kPart, [] {
    const std::string scenario = MakeScenario(DrawShape(true));
    return DrawnCase{scenario, [scenario]() -> std::string {
                       const SimulatedRun first = RunScenario(scenario);
                       if (!first.problems.empty()) return first.problems;
                       return FirstDifference(first.log, RunScenario(scenario).log);
                     }};
  });
}

TEST(SimulationProperties, SkippingIdleTimeChangesNothing) {
  ForAllDrawn(20 / kPart, [] {
    const std::string scenario = MakeScenario(DrawShape(true), kTroubleHours);
    return DrawnCase{scenario, [scenario]() -> std::string {
                       const SimulatedRun skipping = RunScenario(scenario);
                       if (!skipping.problems.empty()) return skipping.problems;
                       return FirstDifference(skipping.log,
                                              RunScenario(scenario, {.every_tick = true}).log);
                     }};
  });
}

}  // namespace
}  // namespace krafla::testing
