// Takes single objects in any order and puts the cluster together: references resolved, lists
// sorted, equal values shared, amounts summed up. The order of the objects leaves no trace in the
// result but the numbers of strings.
//
// Owned by whoever reads objects; one thread.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/fact_sink.h"
#include "cluster_state/facts.h"
#include "cluster_state/name_index.h"
#include "model/cluster.h"

namespace krafla {

struct BuildOptions {
  std::string default_queue = "default";
  // Volcano counts a claim of a CSI driver that no CSINode declares as a resource no node has.
  bool count_undeclared_csi_drivers = false;
  // Drivers whose volumes are never counted, beside the two Volcano itself knows of.
  std::vector<std::string> ignored_provisioners;
  // Volcano does not know of a pod before it knows of the pod's claims.
  bool leave_out_pods_without_claims = false;
  bool lenient = false;

  bool operator==(const BuildOptions&) const = default;
};

// Pods as they were read. Their tasks lie in one piece: those that come sorted, as from kubectl,
// become the cluster's table as they are.
struct DraftedPods {
  std::vector<Task> tasks;
  std::vector<PodDetails> details;  // of each

  size_t size() const { return tasks.size(); }
  // So many more may come: memory that nobody writes to costs nothing, moving what is there does.
  void Expect(size_t more) {
    if (size() + more <= tasks.capacity()) return;
    tasks.reserve(std::max(size() + more, 2 * tasks.capacity()));
    details.reserve(tasks.capacity());
  }
  void Add(PodFacts&& pod) {
    tasks.push_back(std::move(pod.task));
    details.push_back(pod);
  }
  void Replace(size_t index, PodFacts&& pod) {
    tasks[index] = std::move(pod.task);
    details[index] = pod;
  }
};

// Everything that was added, and the tables it becomes.
struct ClusterDraft {
  BuildOptions options;
  DraftedPods pods;
  // Large and many: these grow without moving what is there.
  std::deque<PodGroupFacts> groups;
  std::deque<NodeFacts> nodes;
  std::vector<QueueFacts> queues;
  std::vector<PriorityClassFacts> priority_classes;
  std::unordered_set<uint64_t> groups_without_queue;  // by namespace and name; found while building
  // Strings, label sets, specs, budgets, namespaces and volumes are put here at once, the rest when
  // it is built.
  Cluster cluster;
};

class ClusterBuilder final : public FactSink {
 public:
  explicit ClusterBuilder(BuildOptions options);

  void Expect(size_t objects) override;
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

  // References to objects that are not there are warnings (left out when `diagnostics` has errors
  // already, which may be why they are not there); queues that are each other's parents are errors.
  Cluster Build(Diagnostics& diagnostics) &&;

 private:
  template <class List, class Facts>
  static Added AddNamed(NameIndex& index, List& list, uint64_t key, Facts&& facts, Origin origin);
  template <class List, class Object>
  static bool AddOnce(NameIndex& index, List& list, uint64_t key, Object object);

  ClusterDraft draft_;
  ValueIndexes indexes_;
  // By namespace and name. The number says where a pod or PodGroup is in its list, and whether it
  // was written.
  NameIndex pods_;
  NameIndex groups_;
  NameIndex queues_;
  NameIndex nodes_;
  NameIndex priority_classes_;
  NameIndex namespaces_;
  NameIndex budgets_;
  NameIndex claims_;
  NameIndex volumes_;
  NameIndex storage_classes_;
  NameIndex csi_nodes_;
  NameIndex resource_quotas_;
};

}  // namespace krafla
