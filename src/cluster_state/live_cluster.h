// A cluster that changes: objects come, change and go, and the tables follow. What changes often
// (pods, PodGroups, nodes, budgets, namespaces) is applied in place; what changes rarely (queues,
// priority classes, volumes, a node that goes, a new kind of resource, a label that a selector
// looks at for the first time) has the tables built anew, from the same facts and by the same steps
// as a snapshot.
//
// Decoders write into it as into a ClusterBuilder. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/cluster_builder.h"
#include "cluster_state/fact_sink.h"
#include "model/cluster_changes.h"

namespace krafla {

class LiveCluster final : public FactSink {
 public:
  explicit LiveCluster(BuildOptions options);
  ~LiveCluster() override;

  // Other ones from now on, for objects that are there too.
  void SetBuildOptions(BuildOptions options);
  // The queue of whoever names none.
  const std::string& default_queue() const;

  // An object that is there already is replaced; one that says nothing new is no change, but for a
  // PodGroup.
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

  // False: it was not there.
  bool RemovePod(StrId ns, StrId name);
  bool RemovePodGroup(StrId ns, StrId name);
  bool RemoveNode(StrId name);
  bool RemoveQueue(StrId name);
  bool RemovePriorityClass(StrId name);
  bool RemoveNamespace(StrId name);
  bool RemoveBudget(StrId ns, StrId name);
  bool RemoveClaim(StrId ns, StrId name);
  bool RemoveVolume(StrId name);
  bool RemoveStorageClass(StrId name);
  bool RemoveCsiNode(StrId node);

  // The facts as they were last given, and as assumptions have changed them since. Null when there
  // is no such object. Good until the next change.
  const PodFacts* FindPod(StrId ns, StrId name) const;
  const PodGroupFacts* FindPodGroup(StrId ns, StrId name) const;
  const NodeFacts* FindNode(StrId name) const;
  const PersistentVolumeClaim* FindClaim(StrId ns, StrId name) const;
  const PersistentVolume* FindVolume(StrId name) const;

  // Objects that no cycle looks at, because what they name is not there. By name; called after
  // cluster(), good until the next change.
  struct StrandedPod {
    const PodFacts* pod = nullptr;
    const PodGroupFacts* group = nullptr;  // null: there is none of that name
    const ClaimVolume* claim = nullptr;    // that is not there; null: its group or queue is not
  };
  struct StrandedGroup {
    StrId ns;
    StrId name;
    const PodGroupFacts* group = nullptr;  // null: pods that wait name it, and there is none
    std::array<int32_t, kTaskStatusCount> count{};  // of its pods
    int32_t waiting = 0;                            // of these, ours and without gates

    int32_t Count(TaskStatus status) const { return count[static_cast<size_t>(status)]; }
  };
  struct Stranded {
    std::vector<StrandedPod> pods;  // ours, that wait for a place
    std::vector<StrandedGroup> groups;
    // Cycles look at these, with the priority of one that names none: their PriorityClass is not
    // there. Empty as well when there are no classes at all, because nobody follows them.
    std::vector<const PodGroupFacts*> unranked;
  };
  Stranded FindStranded() const;
  // What a PodGroup is ranked by that names no PriorityClass, or one that is not there.
  int32_t DefaultPriority() const;
  std::vector<std::string_view> PriorityClassNames() const;

  // What the scheduler has just asked for counts as done until the object is seen again.
  void AssumeBinding(TaskId task, NodeId node);
  void AssumeReleasing(TaskId task);
  void AssumePhase(JobId job, JobPhase phase);

  // The tables, up to date. References into them are good until the next change.
  Cluster& cluster();
  // The same, whether or not they are up to date: for callbacks of a session that is open on them.
  const Cluster& TablesAsTheyAre() const;
  // Grows with every change that a scheduler could see.
  uint64_t version() const { return version_; }
  // What has changed in the tables since the last call, for a session that is opened again. Called
  // after cluster(); one taker.
  ClusterChanges TakeChanges();
  // Strings, label sets, specs and classes that only objects named that are gone stay until they
  // are got rid of. Crowded: there are so many that it should be done.
  bool IsCrowded() const;
  // Gets rid of them. Every string, label set and spec has another id afterwards, and the tables
  // are built anew. No change that a scheduler could see.
  void Compact();

  // A check failed while the tables were changed or used: whatever is in them counts for nothing,
  // and they are rebuilt from the facts before the next look. Until then ids of the tables still
  // name what they named, for AssumeBinding, AssumeReleasing and AssumePhase.
  void DistrustTables();
  // For a search for the object that breaks a cycle. Queues, nodes, PodGroups or pods, by name.
  struct ObjectName {
    enum class Kind : uint8_t { kPodGroup, kPod, kNode, kQueue };
    Kind kind = Kind::kPodGroup;
    StrId ns;  // of nodes and queues: none
    StrId name;
    friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
  };
  std::vector<ObjectName> NamesOf(ObjectName::Kind kind) const;
  // The tables as they would be without these objects; the facts stay. The tables are distrusted
  // from then on.
  Cluster& BuildWithout(std::span<const ObjectName> left_out);

  // Warnings of the last time the tables were built anew (references that lead nowhere).
  const Diagnostics& warnings() const;
  // Grows whenever what some node has may have changed.
  uint64_t node_sizes_version() const;
  // How often they were built anew; for tests and metrics.
  uint64_t rebuilds() const { return rebuilds_; }

 private:
  struct State;
  explicit LiveCluster(std::unique_ptr<State> state);
  template <class Store, class T>
  bool Rare(Store& store, uint64_t key, T value);
  template <class Store>
  bool RemoveRare(Store& store, uint64_t key);

  std::unique_ptr<State> state_;
  uint64_t version_ = 1;
  uint64_t rebuilds_ = 0;
};

}  // namespace krafla
