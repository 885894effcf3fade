// One revocable zone: its window now and the next change, who is on it, and how it gets empty.
#pragma once

#include <string_view>

#include "explain/cycle_run.h"
#include "explain/explanation.h"

namespace krafla {

void TellZoneStory(const CycleInputs& inputs, std::string_view zone, Explanation& explanation);

}  // namespace krafla
