#include "kube_rules/nodes_by_kind.h"

#include <algorithm>

namespace krafla {

void NodesByKind::Add(TaskId task, NodeId node) {
  std::vector<NodeId>& list = nodes_[kinds_.Of(task)];
  if (!list.empty() && list.back() == node) return;
  list.push_back(node);
  // Gangs that come and go add the same nodes again and again.
  if (list.size() <= 2 * cluster_.nodes.size()) return;
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// Pods that were there when the session opened stay in the cluster's lists, also when they are
// evicted; all others have arrived since.
void NodesByKind::CatchUp() {
  if (visited_.empty()) {
    nodes_.Resize(kinds_.size());
    visited_.Reset(cluster_.nodes.size(), 0);
    for (const NodeId node : cluster_.nodes_by_name)
      for (const TaskId task : cluster_.nodes[node].tasks) Add(task, node);
  }
  for (const auto [task, node] : view_.arrivals().From(arrivals_seen_)) Add(task, node);
  arrivals_seen_ = view_.arrivals().size();
}

}  // namespace krafla
