// The machine-readable answer of `krafla explain`: a contract, byte-identical for the same input.
#pragma once

#include <string>

#include "explain/explanation.h"

namespace krafla {

std::string ExplanationAsJson(const Explanation& explanation);

}  // namespace krafla
