// How full a node is, and how evenly: least allocated, most allocated and balanced allocation, in
// Kubernetes' whole numbers from 0 to 100. They depend on the class and the node alone.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.h"
#include "session/kube_view.h"

namespace krafla {

class ResourceScores {
 public:
  ResourceScores(const Cluster& cluster, const KubeView& view);

  // Between two sessions: this node has other facts.
  void Follow(NodeId node) { room_[node] = RoomOf(node); }

  int64_t LeastAllocated(ClassId cls, NodeId node) const;
  int64_t MostAllocated(ClassId cls, NodeId node) const;
  // Whether placing the pod evens out the use of cpu, memory and GPUs.
  int64_t Balanced(ClassId cls, NodeId node) const;
  // A pod that asks for none of these has no balanced score.
  bool HasBalanced(ClassId cls) const;
  // Appends words that are equal for two classes only if all of these are, on every node.
  void DependsOn(ClassId cls, std::vector<uint64_t>& words) const;

 private:
  struct Room {
    int64_t cpu = 0;
    int64_t memory = 0;
    double gpu = 0;
  };

  Room RoomOf(NodeId node) const;

  const Cluster& cluster_;
  const KubeView& view_;
  int gpu_kind_;
  Table<NodeId, Room> room_;
};

// The parts; `room` 0 leaves a resource out.
int64_t LeastAllocatedScore(int64_t cpu, int64_t cpu_room, int64_t memory, int64_t memory_room);
int64_t MostAllocatedScore(int64_t cpu, int64_t cpu_room, int64_t memory, int64_t memory_room);

}  // namespace krafla
