// Where pods of a kind are: counting the pods a selector takes looks at these nodes and not at all
// pods of the cluster.
//
// A list names every node that has such a pod, and maybe some that had one earlier in the session.
// So it only grows, a rollback need not touch it, and whoever counts looks at the node itself.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kube_rules/pod_kinds.h"
#include "session/kube_view.h"

namespace krafla {

class NodesByKind {
 public:
  // All references outlive this object, which outlives no session. The lists are made when somebody
  // asks.
  NodesByKind(const Cluster& cluster, const KubeView& view, const PodKinds& kinds)
      : cluster_(cluster), view_(view), kinds_(kinds) {}

  // Calls `visit` once for every node that may have a pod of one of the kinds.
  template <class Visit>
  void ForEach(const KindSet& kinds, Visit&& visit) {
    CatchUp();
    ++calls_;
    kinds.ForEach([&](KindId kind) {
      for (const NodeId node : nodes_[kind])
        if (std::exchange(visited_[node], calls_) != calls_) visit(node);
    });
  }

 private:
  void CatchUp();
  void Add(TaskId task, NodeId node);

  const Cluster& cluster_;
  const KubeView& view_;
  const PodKinds& kinds_;
  Table<KindId, std::vector<NodeId>> nodes_;
  size_t arrivals_seen_ = 0;
  Table<NodeId, uint32_t> visited_;  // in which call
  uint32_t calls_ = 0;
};

}  // namespace krafla
