// The block eviction-limits of a configuration file.
#pragma once

#include "base/yaml_node.h"
#include "config/config_problems.h"
#include "config/eviction_limits.h"

namespace krafla {

// `block` is null when the file has none.
EvictionLimits ReadEvictionLimits(const YamlNode* block, ConfigProblems& problems);

}  // namespace krafla
