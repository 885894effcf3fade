// The compatibility block of a configuration file.
#pragma once

#include "base/yaml_node.h"
#include "config/compatibility.h"
#include "config/config_problems.h"
#include "config/scheduler_config.h"

namespace krafla {

// The profile (of the options, else of the block, else Krafla's) with the single switches of the
// block over it, in whatever order they stand. `block` is null when the file has none.
Compatibility ReadCompatibility(const YamlNode* block, const ConfigReadOptions& options,
                                ConfigProblems& problems);

}  // namespace krafla
