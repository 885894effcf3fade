// The pods on nodes as Kubernetes' own plugins see them: a pod that is evicted is gone, one that is
// pipelined is there. Node amounts in the Cluster say otherwise (an evicted pod keeps its resources
// until it has ended), which is why this is a view of its own. Only the predicates plugin keeps it
// up to date, as in Volcano: without it scores see the cluster as it was when the session opened.
#pragma once

#include <utility>
#include <vector>

#include "base/fetch.h"
#include "base/piece_list.h"
#include "base/undo_log.h"
#include "model/cluster.h"
#include "model/cluster_changes.h"

namespace krafla {

class KubeView {
 public:
  struct Sums {
    double cpu = 0;
    double memory = 0;
    double nonzero_cpu = 0;
    double nonzero_memory = 0;
    double gpu = 0;  // nvidia.com/gpu, in milli
  };
  // What a node has, as scores count it: whole numbers.
  struct Room {
    double cpu = 0;
    double memory = 0;
  };

  explicit KubeView(const Cluster& cluster) : cluster_(cluster) {}

  // Built when first needed; must happen before the session's first change.
  void EnsureBuilt();
  bool built() const { return built_; }
  // Between two sessions, when everything the last one did has been taken back.
  void Follow(const ClusterChanges& changes);

  void Add(TaskId task, NodeId node, UndoLog& undo);
  void Remove(TaskId task, NodeId node, UndoLog& undo);  // no change when it is not there

  const std::vector<TaskId>& PodsOn(NodeId node) const { return pods_[node]; }
  bool IsOn(TaskId task, NodeId node) const;
  const Sums& SumsOf(NodeId node) const { return on_[node].sums; }
  const Room& RoomOf(NodeId node) const { return on_[node].room; }
  // Pods on nodes that have required anti-affinity, or any pod (anti-)affinity; order is not
  // meaningful.
  const std::vector<TaskId>& with_required_anti_affinity() const { return anti_; }
  const std::vector<TaskId>& with_affinity() const { return affine_; }
  // Every pod that has come to a node since the session was opened, in order; also those that have
  // left it again.
  struct Arrival {
    TaskId task;
    NodeId node;
  };
  using Arrivals = PieceList<Arrival, 1 << 12>;
  const Arrivals& arrivals() const { return arrivals_; }
  // Counts changes (also those a rollback takes back), so that derived tables know when they are
  // stale.
  uint64_t version() const { return version_; }
  void NoteRollback() { ++version_; }

  // Asks for memory before its turn comes: what scores look at; all that is kept of a node; then
  // the list of its pods.
  KRAFLA_FETCHES void FetchSums(NodeId node) const {
    if (built_) Fetch(&on_[node]);
  }
  KRAFLA_FETCHES void FetchNode(NodeId node) const {
    if (!built_) return;
    Fetch(&on_[node]);
    Fetch(&pods_[node]);
  }
  KRAFLA_FETCHES void FetchPods(NodeId node) const {
    if (built_) Fetch(pods_[node].data());
  }

 private:
  // A line of the cache: all that a score looks at, and nothing else. Nodes are scored by the
  // million, and mostly each is a miss.
  struct alignas(64) OnNode {
    Sums sums;
    Room room;
  };
  void AddNode(NodeId node);
  void AddSums(TaskId task, NodeId node, double sign);

  const Cluster& cluster_;
  bool built_ = false;
  int gpu_kind_ = -1;
  uint64_t version_ = 0;
  Table<NodeId, OnNode> on_;
  Table<NodeId, std::vector<TaskId>> pods_;
  std::vector<TaskId> anti_;
  std::vector<TaskId> affine_;
  Arrivals arrivals_;
};

}  // namespace krafla
