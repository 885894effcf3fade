// How full a node is, and how evenly: least allocated, most allocated and balanced allocation, in
// Kubernetes' whole numbers from 0 to 100. They depend on the class and the node alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "session/kube_view.h"

namespace krafla {

class ResourceScores {
 public:
  ResourceScores(const Cluster& cluster, const KubeView& view);

  // What a class of pods asks for, as far as scores look at it.
  struct Asked {
    double placing_cpu;
    double placing_memory;
    double cpu;
    double memory;
    double gpus;
  };
  Asked AskedBy(ClassId cls) const;
  int64_t LeastAllocated(const Asked& asked, NodeId node) const;
  int64_t MostAllocated(const Asked& asked, NodeId node) const;
  // Whether placing the pod evens out the use of cpu, memory and GPUs.
  int64_t Balanced(const Asked& asked, NodeId node) const;
  // All of them, weighted, of several nodes: added to `scores` with `more` for each.
  struct Weights {
    int64_t least_allocated;
    int64_t most_allocated;
    int64_t balanced;
  };
  void AddAll(const Asked& asked, const Weights& weights, int64_t more,
              std::span<const NodeId> nodes, std::span<double> scores) const;
  // A pod that asks for none of these has no balanced score.
  bool HasBalanced(ClassId cls) const;
  // Appends words that are equal for two classes only if all of these are, on every node.
  void DependsOn(ClassId cls, std::vector<uint64_t>& words) const;

 private:
  int64_t Sum(const Asked& asked, const Weights& weights, NodeId node) const;

  const Cluster& cluster_;
  const KubeView& view_;
  int gpu_kind_;
};

}  // namespace krafla
