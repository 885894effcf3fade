// Whether an object that was seen again says anything new. Most news about pods and nodes (probes,
// addresses, heartbeats) is about things a scheduler does not look at.
#pragma once

#include "cluster_state/facts.h"

namespace krafla {

bool SameFacts(const PodFacts& a, const PodFacts& b);
bool SameFacts(const NodeFacts& a, const NodeFacts& b);

}  // namespace krafla
