// Copies of a cluster for cycles that are only tried out.
#pragma once

#include "model/cluster.h"

namespace krafla {

// Everything, the texts too: a cluster of its own.
Cluster CopyCluster(const Cluster& cluster);

// A copy of the tables that borrows the texts for as long as it lives: texts are most of a cluster,
// and ids stay good. The lender has no texts meanwhile and must outlive it.
class BorrowedCluster {
 public:
  explicit BorrowedCluster(Cluster& lender);
  ~BorrowedCluster();
  BorrowedCluster(const BorrowedCluster&) = delete;
  BorrowedCluster& operator=(const BorrowedCluster&) = delete;

  Cluster cluster;

 private:
  Cluster& lender_;
};

}  // namespace krafla
