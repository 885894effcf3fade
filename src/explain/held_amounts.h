// What a queue's or a job's pods hold, with pods that wait on a node: as queue shares are counted.
#pragma once

#include "model/cluster.h"

namespace krafla {

Resource AllocatedOf(const Cluster& cluster, QueueId queue);
Resource AllocatedOf(const Cluster& cluster, JobId job);

}  // namespace krafla
