// Which nodes the pods that are on nodes may speak against: the others need not be asked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "session/session.h"

namespace krafla {

// Of some nodes, bits by position in nodes_by_name, those that the part of a predicate that is not
// fixed may refuse. The task is prepared.
std::vector<uint64_t> DoubtfulNodes(Session& session, TaskId task, std::span<const uint64_t> nodes);

}  // namespace krafla
