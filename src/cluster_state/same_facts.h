// Whether an object that was seen again says anything new. Most news about pods, nodes and
// queues (probes, heartbeats, statuses we wrote ourselves) is about things a scheduler does not
// look at.
#pragma once

#include "cluster_state/facts.h"

namespace krafla {

bool SameFacts(const PodFacts& a, const PodFacts& b);
bool SameFacts(const NodeFacts& a, const NodeFacts& b);
bool SameFacts(const QueueFacts& a, const QueueFacts& b);

}  // namespace krafla
