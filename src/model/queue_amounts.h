// What the pods of queues hold, as users see it: status.allocated of a Queue, the queue metrics,
// the tables of `run` and the API all take it from here. A parent has what the queues below it
// have.
#pragma once

#include "model/cluster.h"

namespace krafla {

using AmountByQueue = Table<QueueId, Resource>;

// The requests of allocated pods (running, bound, being bound, given a node in this cycle). Pods
// that are pipelined hold nothing yet.
AmountByQueue AllocatedByQueue(const Cluster& cluster);

// Adds each queue's own amount to all queues above it. A queue without spec.parent is below "root".
// A parent that does not exist, or that would make a circle, counts as "root". Without a queue
// "root" nothing is added, as in Volcano.
void AddToParents(const Cluster& cluster, AmountByQueue& amounts);

}  // namespace krafla
