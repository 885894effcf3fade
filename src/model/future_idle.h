// What will be free on a node, kind by kind: as Cluster::FutureIdle has it, for whoever asks of a
// few kinds and need not copy all of them.
#pragma once

#include "model/cluster.h"

namespace krafla {

class FutureIdleOf {
 public:
  FutureIdleOf(const Cluster& cluster, NodeId node)
      : idle_(cluster.idle[node]),
        releasing_(cluster.releasing[node]),
        pipelined_(cluster.pipelined[node]),
        // A side that never named a scalar does not start to by a subtraction.
        knows_scalars_(!idle_.scalars_nil() || releasing_.scalar_mask() != 0) {}

  double Get(int kind) const {
    const bool is_scalar = kind != ResourceKinds::kCpu && kind != ResourceKinds::kMemory;
    const double free = idle_.Get(kind) + releasing_.Get(kind);
    return is_scalar && !knows_scalars_ ? free : free - pipelined_.Get(kind);
  }

 private:
  const Resource& idle_;
  const Resource& releasing_;
  const Resource& pipelined_;
  bool knows_scalars_;
};

}  // namespace krafla
