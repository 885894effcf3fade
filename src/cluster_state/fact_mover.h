// Facts told in the numbers of one cluster's strings, label sets and specs, told in those of
// another: what only objects that are gone had named does not come along. Kinds of resources keep
// their numbers.
//
// One thread; both clusters outlive it.
#pragma once

#include <string_view>
#include <vector>

#include "cluster_state/fact_sink.h"
#include "cluster_state/facts.h"

namespace krafla {

class FactMover {
 public:
  // What is moved goes into the tables of `to`, which has no other facts than these.
  FactMover(const Cluster& from, Cluster& to, ValueIndexes& indexes);

  void Move(PodFacts& pod);
  void Move(PodGroupFacts& group);
  void Move(QueueFacts& queue);
  void Move(NodeFacts& node);
  void Move(PriorityClassFacts& priority_class);
  void Move(Namespace& ns);
  void Move(PodDisruptionBudget& budget);
  void Move(PersistentVolumeClaim& claim);
  void Move(PersistentVolume& volume);
  void Move(StorageClass& storage_class);
  void Move(CsiNode& node);

 private:
  void Move(StrId& id);
  void Move(std::vector<StrId>& ids);  // in their order
  void Move(LabelSet& labels);
  void Move(SelectorRequirement& requirement);
  void Move(std::vector<SelectorRequirement>& requirements);
  void Move(LabelSelector& selector);
  void Move(NodeSelectorTerm& term);
  void Move(PodAffinityTerm& term);
  void Move(ZoneAccess& zones);
  void Move(PodSpec& spec);
  void Move(PodSpecId& id);
  void Move(LabelSetId& id);

  const Cluster& from_;
  Cluster& to_;
  ValueIndexes& indexes_;
  // By the number in `from`; invalid: not moved yet.
  std::vector<StrId> strings_;
  std::vector<LabelSetId> label_sets_;
  std::vector<PodSpecId> specs_;
};

}  // namespace krafla
