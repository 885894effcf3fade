// How large nodes are, kind by kind: a pod that asks for more than any of them has waits in vain,
// whatever its queue says.
#pragma once

#include <string>

#include "model/cluster.h"

namespace krafla {

class NodeSizes {
 public:
  // Of all nodes, those that take nobody at the moment among them.
  explicit NodeSizes(const Cluster& cluster);

  // "no node is as large as big-0: it asks for 100 cpu (the largest node has 4)"; empty: in each
  // kind that it asks for some node is, or there are no nodes.
  std::string WhyTooLarge(const Cluster& cluster, TaskId task) const;
  // The same of the first pod of the job that waits and is too large.
  std::string WhyTooLarge(const Cluster& cluster, JobId job) const;

 private:
  Resource largest_;
};

}  // namespace krafla
