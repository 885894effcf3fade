// What a pod says about the node itself: cordoned nodes, node selector and affinity, taints. None
// of it changes within a session.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"
#include "session/refusal.h"

namespace krafla {

// nodeSelector and required node affinity.
inline bool HasNodeAffinity(const PodSpec& spec) {
  return !spec.node_selector.empty() || spec.has_required_node_affinity;
}
bool MatchesNodeAffinity(const PodSpec& spec, const Node& node, const StringPool& strings);
// A NoSchedule or NoExecute taint that nothing tolerates.
bool HasUntoleratedTaint(const PodSpec& spec, const Node& node);
// Every alternative names the one node it wants, and no node is left that way.
bool NodeNamesConflict(const PodSpec& spec);

class NodeFitRules {
 public:
  NodeFitRules(const Cluster& cluster, ReasonTable& reasons);

  // Between two sessions.
  void Follow(std::span<const NodeId> changed);

  Refusal CheckUnschedulable(const PodSpec& spec, NodeId node) const;
  Refusal CheckAffinity(const PodSpec& spec, NodeId node) const;
  Refusal CheckTaints(const PodSpec& spec, NodeId node) const;
  Refusal CheckNames(const PodSpec& spec) const;

  // The first spec that came up which asks the same of nodes: node selector, required node
  // affinity, tolerations.
  PodSpecId FirstLike(PodSpecId spec);

  // One refusal per node is joined.
  void JoinUnschedulable(const PodSpec& spec, std::span<Refusal> by_node) const;
  void JoinAffinity(const PodSpec& spec, std::span<Refusal> by_node) const;
  void JoinTaints(const PodSpec& spec, std::span<Refusal> by_node) const;

 private:
  void List(NodeId node);

  const Cluster& cluster_;
  Taint cordon_;  // what a toleration of cordoned nodes must tolerate
  std::vector<NodeId> cordoned_;
  std::vector<NodeId> tainted_;  // with a taint that keeps pods off
  std::unordered_multimap<uint64_t, PodSpecId> first_by_hash_;
  Table<PodSpecId, PodSpecId> first_like_;
  Refusal unschedulable_;
  Refusal affinity_;
  Refusal taint_;
  Refusal names_conflict_;
};

}  // namespace krafla
