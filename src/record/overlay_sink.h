// Between a decoder and a live cluster: adds what objects do not say themselves. A pod that is
// being bound or evicted counts as such, a volume that is being given to a claim too, a PodGroup
// has the phase that is in force, a pod of ours that names no PodGroup becomes a singleton PodGroup
// or waits for its PodGroup, and nodes without one of the wanted labels are not there. Where marks
// and phases come from is defined by the derived class: what was asked for and not yet
// seen, or what was recorded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "record/recorded_change.h"

namespace krafla {

// What a mark says is done to the facts, if it is of that kind. A mark of kReserved without a claim
// makes the volume free.
void LayOver(const AssumedMark& mark, StringPool& strings, PersistentVolume& volume);
void LayOver(const AssumedMark& mark, StringPool& strings, PersistentVolumeClaim& claim);

using NodeLabels = std::vector<std::pair<std::string, std::string>>;

class OverlaySink : public FactSink {
 public:
  // Only nodes with one of the labels count; none: all nodes do.
  OverlaySink(LiveCluster& live, const NodeLabels& node_labels);

  // Before an object is decoded: nothing is known to be added.
  void Begin() { outcome_ = {}; }
  // What became of it. Not `added`: it could not be read, and all is as it was.
  struct Outcome {
    bool added = false;
    AssumedMark mark;
    std::optional<JobPhase> phase;
  };
  const Outcome& outcome() const { return outcome_; }

  // Takes the object out; a pod together with the group that it is.
  void Remove(std::string_view kind, const std::string& key);

  // A pod without PodGroup that is in the cluster and waits for a node: from now on it waits for
  // its PodGroup, or is a singleton PodGroup. False: there is no such pod, or it is a singleton
  // already.
  bool SetAwaitsGroup(const std::string& pod, bool awaits);

  Added AddPod(PodFacts pod, Origin origin) final;
  Added AddPodGroup(PodGroupFacts group, Origin origin) final;
  bool AddNode(NodeFacts node) final;
  bool AddQueue(QueueFacts facts) final { return Note(live_.AddQueue(std::move(facts))); }
  bool AddPriorityClass(PriorityClassFacts facts) final {
    return Note(live_.AddPriorityClass(facts));
  }
  bool AddNamespace(Namespace ns) final { return Note(live_.AddNamespace(std::move(ns))); }
  bool AddBudget(PodDisruptionBudget budget) final {
    return Note(live_.AddBudget(std::move(budget)));
  }
  bool AddClaim(PersistentVolumeClaim claim) final;
  bool AddVolume(PersistentVolume volume) final;
  bool AddStorageClass(StorageClass storage_class) final {
    return Note(live_.AddStorageClass(std::move(storage_class)));
  }
  bool AddCsiNode(CsiNode node) final { return Note(live_.AddCsiNode(std::move(node))); }
  bool AddResourceQuotaName(StrId ns, StrId name) final {
    return Note(live_.AddResourceQuotaName(ns, name));
  }

 protected:
  virtual AssumedMark MarkOf(const Task& task) = 0;
  virtual AssumedMark MarkOf(const PersistentVolume& volume) = 0;
  virtual AssumedMark MarkOf(const PersistentVolumeClaim& claim) = 0;
  // Nothing: the object's own.
  virtual std::optional<JobPhase> PhaseOf(const Job& job) = 0;
  // The phase of the group that this pod is; nothing: the one it had, the first time as its pod
  // says.
  virtual std::optional<JobPhase> PhaseOfOne(const Task& task) = 0;

  // Asked for a pod that names no PodGroup and waits for a node: whether it waits for its PodGroup.
  virtual GroupWait WaitForGroup(const Task& task) = 0;
  // The pod names a PodGroup, has a node, or is not ours.
  virtual void NeedsNoGroup(const Task&) {}

  std::string Key(StrId ns, StrId name);

 private:
  std::string GroupName(StrId pod);
  void MakeGroupOfOne(PodFacts& pod);
  bool Note(bool added) {
    outcome_.added = outcome_.added || added;
    return added;
  }

  LiveCluster& live_;
  LabelSet node_labels_;
  Outcome outcome_;
};

}  // namespace krafla
