#include "session/kube_view.h"

#include <algorithm>
#include <cmath>

#include "model/fetch_tasks.h"

namespace krafla {

namespace {

void InsertAtEnd(std::vector<TaskId>& list, TaskId task, UndoLog& undo) {
  list.push_back(task);
  undo.Inserted(list, list.size() - 1);
}

bool EraseFrom(std::vector<TaskId>& list, TaskId task, UndoLog& undo) {
  auto it = std::find(list.begin(), list.end(), task);
  if (it == list.end()) return false;
  undo.Erasing(list, static_cast<size_t>(it - list.begin()));
  list.erase(it);
  return true;
}

}  // namespace

bool KubeView::IsOn(TaskId task, NodeId node) const {
  const std::vector<TaskId>& pods = built_ ? pods_[node] : cluster_.nodes[node].tasks;
  return std::find(pods.begin(), pods.end(), task) != pods.end();
}

void KubeView::EnsureBuilt() {
  if (built_) return;
  built_ = true;
  gpu_kind_ = cluster_.kinds.Find("nvidia.com/gpu");
  on_.Reset(cluster_.nodes.size());
  pods_.Reset(cluster_.nodes.size());
  const auto node = [](size_t at) { return NodeId(static_cast<uint32_t>(at)); };
  for (size_t at = 0; at < cluster_.nodes.size(); ++at) {
    FetchTasksAhead(cluster_, cluster_.nodes.size(), at, node);
    AddNode(node(at));
  }
}

void KubeView::AddNode(NodeId node) {
  const Node& facts = cluster_.nodes[node];
  on_[node] = {
      .sums = {},
      .room = {.cpu = std::trunc(facts.scored_cpu), .memory = std::trunc(facts.scored_memory)}};
  pods_[node] = facts.tasks;
  for (TaskId task : pods_[node]) {
    AddSums(task, node, 1);
    const PodSpec& spec = cluster_.SpecOf(task);
    if (!spec.required_anti_affinity.empty()) anti_.push_back(task);
    if (spec.HasPodAffinity()) affine_.push_back(task);
  }
}

void KubeView::Follow(const ClusterChanges& changes) {
  ++version_;
  arrivals_.clear();
  if (!built_) return;
  // Pods with affinity are listed over all nodes, by the numbers they had: listed anew.
  if (!anti_.empty() || !affine_.empty()) {
    built_ = false;
    anti_.clear();
    affine_.clear();
    return;
  }
  for (const NodeId node : changes.nodes) AddNode(node);
}

void KubeView::AddSums(TaskId task, NodeId node, double sign) {
  const PodSpec& spec = cluster_.SpecOf(task);
  Sums& sums = on_[node].sums;
  sums.cpu += sign * spec.scored_cpu;
  sums.memory += sign * spec.scored_memory;
  sums.nonzero_cpu += sign * spec.nonzero_cpu;
  sums.nonzero_memory += sign * spec.nonzero_memory;
  if (gpu_kind_ >= 0) sums.gpu += sign * spec.request.Get(gpu_kind_);
}

void KubeView::Add(TaskId task, NodeId node, UndoLog& undo) {
  ++version_;
  undo.Save(on_[node].sums);
  AddSums(task, node, 1);
  InsertAtEnd(pods_[node], task, undo);
  arrivals_.push_back({task, node});
  const PodSpec& spec = cluster_.SpecOf(task);
  if (!spec.required_anti_affinity.empty()) InsertAtEnd(anti_, task, undo);
  if (spec.HasPodAffinity()) InsertAtEnd(affine_, task, undo);
}

void KubeView::Remove(TaskId task, NodeId node, UndoLog& undo) {
  if (!EraseFrom(pods_[node], task, undo)) return;
  ++version_;
  undo.Save(on_[node].sums);
  AddSums(task, node, -1);
  const PodSpec& spec = cluster_.SpecOf(task);
  if (!spec.required_anti_affinity.empty()) EraseFrom(anti_, task, undo);
  if (spec.HasPodAffinity()) EraseFrom(affine_, task, undo);
}

}  // namespace krafla
