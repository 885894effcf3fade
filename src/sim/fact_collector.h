// Keeps decoded objects instead of putting them into a cluster: for manifests that are applied
// later, and as templates. What is interned is interned where the simulated cluster does.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster_state/fact_sink.h"
#include "cluster_state/live_cluster.h"

namespace krafla {

class FactCollector final : public FactSink {
 public:
  explicit FactCollector(FactSink& cluster) : FactSink(cluster) {}

  Added AddPod(PodFacts pod, Origin origin) override;
  Added AddPodGroup(PodGroupFacts group, Origin origin) override;
  bool AddQueue(QueueFacts queue) override;
  bool AddNode(NodeFacts node) override;
  bool AddPriorityClass(PriorityClassFacts priority_class) override;
  bool AddNamespace(Namespace ns) override;
  bool AddBudget(PodDisruptionBudget budget) override;
  bool AddClaim(PersistentVolumeClaim claim) override;
  bool AddVolume(PersistentVolume volume) override;
  bool AddStorageClass(StorageClass storage_class) override;
  bool AddCsiNode(CsiNode node) override;
  bool AddResourceQuotaName(StrId ns, StrId name) override;

  // In the order of reading.
  std::vector<PodFacts> pods;
  std::vector<PodGroupFacts> groups;
  std::vector<QueueFacts> queues;
  std::vector<NodeFacts> nodes;
  std::vector<PriorityClassFacts> priority_classes;
  // Budgets, volumes and the like: the simulator itself has no use for them.
  std::vector<std::function<void(LiveCluster&)>> others;

 private:
  struct Known {
    size_t place = 0;
    Origin origin = Origin::kWritten;
  };
  template <class T>
  static Added Put(std::unordered_map<uint64_t, Known>& known, std::vector<T>& list, uint64_t key,
                   T facts, Origin origin);
  bool IsNew(char kind, uint64_t key);

  std::unordered_map<uint64_t, Known> known_pods_;
  std::unordered_map<uint64_t, Known> known_groups_;
  std::unordered_map<char, std::unordered_set<uint64_t>> known_others_;
};

}  // namespace krafla
