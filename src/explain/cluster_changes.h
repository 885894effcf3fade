// Single changes to a cluster, to be tried out on a copy: each does what editing the object would.
#pragma once

#include <string>

#include "model/cluster.h"

namespace krafla {

// The priority class of a job and of its pods.
void SetJobPriority(Cluster& cluster, JobId job, int32_t priority);

// volcano.sh/revocable-zone: "*" on the job's pods.
void OpenZonesTo(Cluster& cluster, JobId job);

// One more node like `model`, empty; its name is returned.
std::string AddNodeLike(Cluster& cluster, NodeId model);

// Whether two nodes are alike but for their names and what runs on them.
bool AreAlike(const Cluster& cluster, NodeId l, NodeId r);

}  // namespace krafla
