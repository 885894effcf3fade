// Judges what a scenario expects, on the events of the run and nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/sim_event.h"

namespace krafla {

struct ExpectationResult {
  const Expectation* expectation = nullptr;
  bool met = false;
  // What happened instead, with times and names; of one that was met, what was seen.
  std::string detail;
};

// "scenario.yaml:12: expected bound: team-a/urgent, by: 12:01; team-a/urgent had 1 of 4 pods …"
std::string ToString(const ExpectationResult& result);

class ExpectationJudge : public SimObserver {
 public:
  // The scenario must live as long as the judge and its results.
  explicit ExpectationJudge(const Scenario& scenario);
  ~ExpectationJudge() override;
  ExpectationJudge(const ExpectationJudge&) = delete;
  ExpectationJudge& operator=(const ExpectationJudge&) = delete;

  void On(const SimEvent& event) override;

  // In the order of the file. Once, after the last event.
  std::vector<ExpectationResult> Finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace krafla
