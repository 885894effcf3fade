// Nodes that have as many pods as they take.
//
// Of 64 nodes at once: a node's pods are at most those that were there when the session opened and
// those that have come since. That number only grows, so a rollback need not touch it, and only
// nodes that are full by it are counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "model/cluster_changes.h"
#include "session/kube_view.h"

namespace krafla {

class FullNodes {
 public:
  // Both outlive this object.
  FullNodes(const Cluster& cluster, const KubeView& view);

  // Between two sessions.
  void Follow(const ClusterChanges& changes);

  bool IsFull(NodeId node) const { return view_.PodsOn(node).size() >= max_pods_[node]; }
  // Adds those of `nodes` that are full; bits by position in nodes_by_name.
  void AddFull(std::span<const uint64_t> nodes, std::span<uint64_t> full);

 private:
  void CatchUp();

  const Cluster& cluster_;
  const KubeView& view_;
  Table<NodeId, size_t> max_pods_;
  // Made when first asked for.
  std::vector<uint64_t> maybe_full_;
  Table<NodeId, uint32_t> position_of_;
  Table<NodeId, size_t> most_pods_;
  size_t arrivals_seen_ = 0;
};

}  // namespace krafla
