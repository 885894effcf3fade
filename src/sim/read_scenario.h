// A scenario file becomes a Scenario. docs/scenarios.md is the reference of the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "sim/scenario.h"

namespace krafla {

// What the command line changes of a scenario.
struct ScenarioOverrides {
  std::vector<std::string> set;  // "kubelet.startup=30s", "cluster.nodes[0].count=50"
  std::string config;            // a file that replaces the scheduler's configuration
  std::vector<std::string> add;  // "job.yaml" or "job.yaml@12:00": manifests or workload entries
  std::optional<std::string> until;
  std::optional<std::string> seed;
};

// Everything that is wrong goes to `diagnostics`, all of it at once; the value is meaningful only
// when there were no errors.
Scenario ReadScenario(const std::string& path, const ScenarioOverrides& overrides,
                      Diagnostics& diagnostics);

// The same of a text in memory; files it names are looked for beside `file_name`.
Scenario ReadScenarioText(std::string_view text, const std::string& file_name,
                          const ScenarioOverrides& overrides, Diagnostics& diagnostics);

}  // namespace krafla
