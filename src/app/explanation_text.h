// The answer of `krafla explain` for a person: the answer first, then the gates, then what would
// change it.
#pragma once

#include <string>

#include "explain/explanation.h"

namespace krafla {

std::string ExplanationAsText(const Explanation& explanation, bool color);

}  // namespace krafla
