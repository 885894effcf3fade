// What a job keeps for itself without holding it yet, and what it holds beyond its minimum. Queues
// count both when they decide whether one more job may come in.
#pragma once

#include "model/cluster.h"

namespace krafla {

// minResources; empty when the job has none.
Resource MinResources(const Job& job);

// minResources as far as the job does not hold them. Ephemeral storage is left out: it is not kept
// for anybody.
Resource UnallocatedMinResources(const Job& job, const ResourceKinds& kinds);

// `amount` without what the job's gated pods ask for, but not below 0: pods that wait for somebody
// else's permission keep nothing. Pods that wait for the queue's permission alone do.
Resource WithoutGatedPods(const Cluster& cluster, const Job& job, Resource amount);

// Phase Running, with enough pods that hold their resources. The phase outlives the pods of a job
// whose driver has ended; such a job keeps nothing.
bool RunsAtMinimum(const Job& job);

// What the job holds beyond its minResources.
Resource ElasticResources(const Job& job);

}  // namespace krafla
