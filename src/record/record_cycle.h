// What a cycle decided, written down while its session is open.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recorded_change.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

RecordedCycle RecordCycle(const Session& session, const std::vector<JobPhaseChange>& phases,
                          uint64_t number);

}  // namespace krafla
