// A large cluster in memory for `krafla bench --warm`: nodes that are full, gangs that run on them,
// gangs that wait. Made without files and without chance: the same numbers make the same cluster.
#pragma once

#include <cstdint>
#include <string>

#include "cluster_state/live_cluster.h"

namespace krafla {

struct WarmClusterShape {
  int nodes = 5000;
  int pods_per_node = 5;
  int waiting_gangs = 0;
  bool preemptable = true;  // running pods may be evicted, as far as they themselves say
};

class WarmCluster {
 public:
  static constexpr int kGangSize = 5;

  // Fills `live`. Each node has 64 cpus, of which the running pods leave 1: room for a small pod.
  WarmCluster(LiveCluster& live, const WarmClusterShape& shape);

  // A gang of one, with its pod: small enough for what nodes have left, or too large for any.
  void AddJob(const std::string& name, bool fits);
  // A job that AddJob made.
  void RemoveJob(const std::string& name);
  // A running pod is gone, with its name; or there again, on the node where it was.
  void RemoveRunning(int pod);
  void AddRunning(int pod);
  int running_pods() const { return shape_.nodes * shape_.pods_per_node; }

  // How a node may change.
  enum class NodeChange { kLabel, kAllocatable, kCordon };
  // Away from how it was made, or back to it.
  void ChangeNode(int node, NodeChange change, bool back);

 private:
  StrId Str(std::string_view text) { return live_.strings().Intern(text); }
  void AddGroup(const std::string& name, int queue, int members, bool runs);
  PodFacts PodOf(const std::string& group, int index, double cpu_milli);
  NodeFacts NodeOf(int node);
  double RunningCpu() const { return 63000.0 / shape_.pods_per_node; }

  LiveCluster& live_;
  const WarmClusterShape shape_;
};

}  // namespace krafla
