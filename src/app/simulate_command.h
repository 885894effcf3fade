// krafla simulate: runs scenarios and says what came of them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/read_scenario.h"

namespace krafla {

struct SimulateCommandOptions {
  std::vector<std::string> scenarios;  // files, and folders of them
  ScenarioOverrides overrides;
  std::string compare;  // another scenario, or another configuration for the same one
  std::string report;   // folder for the HTML report
  std::string events;   // file for the event log, - for standard output
  std::string output = "text";
  bool color = false;
  bool progress = false;  // a line on `err` that is written over and over
  int verbosity = 0;
};

// Exit code: 0 all expectations were met, 1 one was not (or an output could not be written), 2 the
// input is wrong (all problems are on `err`, and nothing was run).
int SimulateCommand(const SimulateCommandOptions& options, std::ostream& out, std::ostream& err);

}  // namespace krafla
