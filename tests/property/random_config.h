// The scheduler configuration of a random cluster.
#pragma once

#include <string>

#include "property/random_cluster.h"

namespace krafla::testing {

// The text of a configuration file: actions in some order, plugins in one to three tiers.
std::string MakeConfig(const Shape& shape);

}  // namespace krafla::testing
