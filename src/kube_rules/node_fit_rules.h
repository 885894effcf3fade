// What a pod says about the node itself: cordoned nodes, node selector and affinity, taints. None
// of it changes within a session.
#pragma once

#include <span>
#include <vector>

#include "model/cluster.h"
#include "session/refusal.h"

namespace krafla {

// nodeSelector and required node affinity.
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
  Refusal unschedulable_;
  Refusal affinity_;
  Refusal taint_;
  Refusal names_conflict_;
};

}  // namespace krafla
