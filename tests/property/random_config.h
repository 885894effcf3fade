// The scheduler configuration of a random cluster.
#pragma once

#include <string>

#include "property/random_cluster.h"

namespace krafla::testing {

// The text of a configuration file: actions in some order, plugins in one to three tiers.
// `contest`: evicting actions for sure, and few plugins that hold them back.
std::string MakeConfig(const Shape& shape, bool contest);

}  // namespace krafla::testing
