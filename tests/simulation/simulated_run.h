// Runs a scenario and keeps everything that was told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/simulation.h"

namespace krafla::testing {

struct SimulatedRun {
  std::string problems;  // what was wrong with the scenario; empty: it was run
  std::string log;       // JSON lines
  std::vector<SimEvent> events;
  SimulationResult result;

  // "12:00:01 pod-bound default/a-main-0 n-1": events of these kinds, one per line, with the time
  // since the start in seconds.
  std::string Story(std::initializer_list<SimEventKind> kinds) const;
  int Count(SimEventKind kind) const;
};

SimulatedRun RunScenario(std::string_view yaml, const SimulationOptions& options = {},
                         std::vector<SimObserver*> observers = {});
SimulatedRun RunScenarioFile(const std::string& path, const SimulationOptions& options = {});

}  // namespace krafla::testing
