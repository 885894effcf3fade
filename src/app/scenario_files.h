// Which scenario files the arguments of `krafla simulate` mean.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"

namespace krafla {

// A file is itself. A folder stands for the .yaml and .yml files in it, recursively and by name. A
// folder called "files" holds what scenarios use and no scenarios: it is passed over. When several
// arguments are given, as the shell makes of tests/scenarios/**, so are files that are no YAML, and
// none is taken twice.
std::vector<std::string> FindScenarioFiles(const std::vector<std::string>& arguments,
                                           Diagnostics& diagnostics);

}  // namespace krafla
