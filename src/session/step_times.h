// How long the parts of a cycle took, for --stats and metrics.
#pragma once

#include <string>

namespace krafla {

// A step of a cycle: its opening, an action, its closing.
struct StepTime {
  std::string name;
  double cpu_ms = 0;
  double wall_ms = 0;
};

struct PluginTime {
  double open_ms = 0;
  double close_ms = 0;
};

}  // namespace krafla
