// One eviction of a cycle in words: who took the place, which plugins allowed it, why this pod and
// not its neighbour. For events, the simulator's log and `explain`.
#pragma once

#include <cstddef>
#include <string>

#include "session/session.h"

namespace krafla {

// "evicted by preempt for team-a/urgent-0 (priority 1000 over 10), allowed by priority, gang": one
// line, for logs and events. `index` is into session.plan.evictions.
std::string EvictionHeadline(const Session& session, size_t index);

// The headline and, sentence by sentence, what the trace knows: who else was a candidate on that
// node and why it stayed.
std::string EvictionStory(const Session& session, size_t index);

}  // namespace krafla
