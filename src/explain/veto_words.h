// Why a plugin spared a pod, in words.
#pragma once

#include <string_view>

#include "session/trace.h"

namespace krafla {

// The end of a sentence about the pod: "its job needs it for its minimum".
std::string_view WhySpared(VetoCode code);

}  // namespace krafla
