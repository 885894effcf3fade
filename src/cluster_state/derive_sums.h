// The amounts that are sums over tasks.
#pragma once

#include "model/cluster.h"

namespace krafla {

// Sets what nodes (idle, used, releasing, pipelined), jobs and their roles sum up over their tasks,
// from nothing but the tasks' statuses and places. Lists of tasks must be filled.
void DeriveSums(Cluster& cluster);
// … of one node, or one job.
void DeriveNodeSums(Cluster& cluster, NodeId node);
void DeriveJobSums(Cluster& cluster, JobId job);
// The sum of what all nodes have.
void DeriveTotal(Cluster& cluster);

}  // namespace krafla
