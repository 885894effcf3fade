// Asking at once for all that placing a task on a node will touch, when it is known which node it
// is: one wait for memory instead of several (base/fetch.h says why).
#pragma once

#include "base/fetch.h"
#include "model/cluster.h"
#include "session/session.h"

namespace krafla {

KRAFLA_FETCHES void FetchForPlacing(const Session& session, NodeId node) {
  const Cluster& cluster = session.cluster;
  session.kube.FetchNode(node);
  Fetch(&cluster.nodes[node].tasks);
  Fetch(&cluster.idle[node]);
  Fetch(&cluster.used[node]);
  Fetch(&cluster.releasing[node]);
  Fetch(&cluster.pipelined[node]);
}

}  // namespace krafla
