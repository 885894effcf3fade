// What must outlive a restart is kept where a restarted scheduler finds it: on the PodGroups of
// those who were evicted (model/group_memory.h).
#pragma once

#include <string_view>

#include "model/group_memory.h"
#include "session/cycle_memory.h"

namespace krafla {

// What is worth keeping of the group "namespace/name", of which somebody is evicted now. Zones are
// those that were emptied of somebody at `now`.
GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group, Timestamp now);
// The same with every zone whose clock runs, whenever it was started.
GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group);
// Adds to `memory` what is later than what it knows. What cannot be read is passed over. An instant
// after `now`, of a clock that was ahead or of a hand that wrote it, counts as `now`: it protects
// as long as an eviction of this moment would, and no longer.
void Recall(const GroupMemory& texts, std::string_view group, Timestamp now, CycleMemory& memory);

}  // namespace krafla
