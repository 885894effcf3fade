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

ScenarioShape DrawShape(bool with_troubles) {
  const auto number = [](int low, int high) {
    return *rc::gen::resize(kFullSize, rc::gen::inRange(low, high));
  };
  ScenarioShape shape;
  shape.seed = *rc::gen::noShrink(rc::gen::resize(kFullSize, rc::gen::arbitrary<uint32_t>()));
  shape.nodes = number(2, 7);
  shape.jobs = number(2, 11);
  const auto several = [](int count) {
    return *rc::gen::container<std::vector<int>>(
        rc::gen::resize(kFullSize, rc::gen::inRange(0, count)));
  };
  for (const int wish : several(kWishCount)) shape.wishes.insert(static_cast<Wish>(wish));
  if (with_troubles)
    for (const int trouble : several(kTroubleCount))
      shape.troubles.insert(static_cast<Trouble>(trouble));
  return shape;
}

std::string JudgeRun(const std::string& scenario) {
  DecisionJudge decisions({});
  LifeJudge lives;
  const SimulatedRun run = RunScenario(scenario, {.witness = &decisions}, {&lives});
  if (!run.problems.empty()) return run.problems;
  if (!decisions.complaint().empty()) return decisions.complaint();
  if (!lives.complaint().empty()) return lives.complaint();
  if (const std::string rest = lives.Unfinished(); !rest.empty())
    return fmt::format("{} hours after the last trouble:\n{}", kRunHours - kTroubleHours, rest);
  return {};
}

TEST(SimulationProperties, DecisionsAreSoundAndEverythingEndsWhateverGoesWrong) {
  ForAllDrawn(150, [] {
    const std::string scenario = MakeScenario(DrawShape(true));
    return DrawnCase{scenario, [scenario] { return JudgeRun(scenario); }};
  });
}

TEST(SimulationProperties, DecisionsAreSoundAndEverythingEndsWhenNothingGoesWrong) {
  ForAllDrawn(60, [] {
    const std::string scenario = MakeScenario(DrawShape(false));
    return DrawnCase{scenario, [scenario] { return JudgeRun(scenario); }};
  });
}

TEST(SimulationProperties, TheSameScenarioGivesTheSameBytes) {
  ForAllDrawn(40, [] {
    const std::string scenario = MakeScenario(DrawShape(true));
    return DrawnCase{scenario, [scenario]() -> std::string {
                       const std::string first = RunScenario(scenario).log;
                       return first == RunScenario(scenario).log ? "" : "two runs, two logs";
                     }};
  });
}

// Which line of two logs is the first that differs.
std::string FirstDifference(const std::string& a, const std::string& b) {
  const size_t at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  if (at == a.size() && at == b.size()) return {};
  const size_t line = a.rfind('\n', at == 0 ? 0 : at - 1) + 1;
  return fmt::format("skipping: {}\nticking: {}", a.substr(line, a.find('\n', at) - line),
                     line < b.size() ? b.substr(line, b.find('\n', line) - line) : "");
}

TEST(SimulationProperties, SkippingIdleTimeChangesNothing) {
  ForAllDrawn(12, [] {
    const std::string scenario = MakeScenario(DrawShape(true));
    return DrawnCase{scenario, [scenario]() -> std::string {
                       return FirstDifference(RunScenario(scenario).log,
                                              RunScenario(scenario, {.every_tick = true}).log);
                     }};
  });
}

}  // namespace
}  // namespace krafla::testing
