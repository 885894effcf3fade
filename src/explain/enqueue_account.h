// What counts when a job asks to be let into its queue: what it asks for, what its queue and the
// cluster hold, and what is kept for jobs that were let in before it.
#pragma once

#include "explain/explanation.h"
#include "model/cluster.h"
#include "session/session.h"

namespace krafla {

struct EnqueueAccount {
  Resource allocated;        // by the queue's jobs, with pods that wait on a node
  Resource kept;             // for jobs of the queue that were let in and do not hold it yet
  Resource above_minimum;    // held by jobs of the queue beyond their minResources
  Resource used;             // on all nodes
  Resource kept_in_cluster;  // for jobs of all queues
};

// To be taken at the moment the plugins are asked.
EnqueueAccount EnqueueAccountOf(const Cluster& cluster, QueueId queue);

// Numbers and a table, by kind of resource; only kinds that the job's minResources name.
void AddEnqueueNumbers(const Session& session, JobId job, const EnqueueAccount& account,
                       Gate& gate);

}  // namespace krafla
