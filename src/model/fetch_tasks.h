// Asking for the tasks on nodes before their turn comes (base/fetch.h says why).
#pragma once

#include <cstddef>

#include "base/fetch.h"
#include "model/cluster.h"

namespace krafla {

// For whoever goes through nodes and the tasks on them: the turn has come to node(at).
template <class NodeAt>
KRAFLA_FETCHES void FetchTasksAhead(const Cluster& cluster, size_t nodes, size_t at,
                                    NodeAt&& node) {
  constexpr size_t kStep = 2;  // each is found through what was asked for a step before
  if (at + 3 * kStep < nodes) Fetch(&cluster.nodes[node(at + 3 * kStep)].tasks);
  if (at + 2 * kStep < nodes) Fetch(cluster.nodes[node(at + 2 * kStep)].tasks.data());
  if (at + kStep < nodes)
    for (const TaskId id : cluster.nodes[node(at + kStep)].tasks) Fetch(&cluster.tasks[id]);
}

}  // namespace krafla
