// For which other job somebody was evicted.
#pragma once

#include "model/cluster.h"
#include "session/plan.h"

namespace krafla {

// Not valid: for nobody, or for a pod of its own job.
JobId MadeRoomFor(const Cluster& cluster, const Eviction& eviction);

}  // namespace krafla
