#include "kube_rules/full_nodes.h"

#include <algorithm>
#include <bit>

#include "base/words_of_bits.h"

namespace krafla {

namespace {

size_t MaxPods(const Node& node) {
  return static_cast<size_t>(std::max<int64_t>(node.max_pods, 0));
}

}  // namespace

FullNodes::FullNodes(const Cluster& cluster, const KubeView& view)
    : cluster_(cluster), view_(view), max_pods_(cluster.nodes.size()) {
  for (uint32_t n = 0; n < cluster.nodes.size(); ++n)
    max_pods_[NodeId(n)] = MaxPods(cluster.nodes[NodeId(n)]);
}

void FullNodes::Follow(const ClusterChanges& changes) {
  for (const NodeId node : changes.node_facts) max_pods_[node] = MaxPods(cluster_.nodes[node]);
  maybe_full_.clear();
}

void FullNodes::CatchUp() {
  const auto set = [&](NodeId node) { SetBit(maybe_full_, position_of_[node], true); };
  const std::vector<NodeId>& nodes = cluster_.nodes_by_name;
  if (maybe_full_.empty()) {
    maybe_full_.assign((nodes.size() + 63) / 64, 0);
    position_of_.Reset(cluster_.nodes.size(), 0);
    most_pods_.Reset(cluster_.nodes.size(), 0);
    arrivals_seen_ = 0;
    for (uint32_t p = 0; p < nodes.size(); ++p) {
      position_of_[nodes[p]] = p;
      // Those that have been evicted are still in the cluster's list.
      most_pods_[nodes[p]] = cluster_.nodes[nodes[p]].tasks.size();
      if (most_pods_[nodes[p]] >= max_pods_[nodes[p]]) set(nodes[p]);
    }
  }
  for (const auto [task, node] : view_.arrivals().From(arrivals_seen_))
    if (++most_pods_[node] >= max_pods_[node]) set(node);
  arrivals_seen_ = view_.arrivals().size();
}

void FullNodes::AddFull(std::span<const uint64_t> nodes, std::span<uint64_t> full) {
  CatchUp();
  ForEachWordNotZero(
      nodes.size(), [&](size_t word) { return nodes[word] & maybe_full_[word]; },
      [&](size_t word, uint64_t maybe) {
        for (; maybe != 0; maybe &= maybe - 1) {
          const size_t bit = static_cast<size_t>(std::countr_zero(maybe));
          if (IsFull(cluster_.nodes_by_name[word * 64 + bit])) full[word] |= uint64_t{1} << bit;
        }
        return true;
      });
}

}  // namespace krafla
