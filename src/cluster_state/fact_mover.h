// Facts told in the numbers of one cluster's strings, label sets, specs and kinds of resources,
// told in those of another. Only values that are named come along.
//
// One thread; both clusters outlive it. Values may be added to `from` meanwhile.
#pragma once

#include <optional>
#include <vector>

#include "cluster_state/fact_sink.h"
#include "cluster_state/facts.h"

namespace krafla {

class FactMover {
 public:
  FactMover(const Cluster& from, const ValuePool& to) : from_(from), to_(to) {}

  // False: there are more kinds of resources than can be numbered, and the facts are of no use.
  template <class Facts>
  bool Move(Facts& facts) {
    too_many_kinds_ = false;
    MoveFacts(facts);
    return !too_many_kinds_;
  }

 private:
  void MoveFacts(PodFacts& pod);
  void MoveFacts(PodGroupFacts& group);
  void MoveFacts(QueueFacts& queue);
  void MoveFacts(NodeFacts& node);
  void MoveFacts(PriorityClassFacts& priority_class);
  void MoveFacts(Namespace& ns);
  void MoveFacts(PodDisruptionBudget& budget);
  void MoveFacts(PersistentVolumeClaim& claim);
  void MoveFacts(PersistentVolume& volume);
  void MoveFacts(StorageClass& storage_class);
  void MoveFacts(CsiNode& node);

  void Renumber(StrId& id);
  void Renumber(std::vector<StrId>& ids);  // in their order
  void Renumber(LabelSet& labels);
  void Renumber(SelectorRequirement& requirement);
  void Renumber(std::vector<SelectorRequirement>& requirements);
  void Renumber(LabelSelector& selector);
  void Renumber(NodeSelectorTerm& term);
  void Renumber(PodAffinityTerm& term);
  void Renumber(ZoneAccess& zones);
  void Renumber(PodSpec& spec);
  void Renumber(PodSpecId& id);
  void Renumber(LabelSetId& id);
  void Renumber(Resource& amounts);
  void Renumber(std::optional<Resource>& amounts);

  const Cluster& from_;
  ValuePool to_;
  bool too_many_kinds_ = false;
  // By the number in `from`; invalid, or not there: not moved yet.
  std::vector<StrId> strings_;
  std::vector<LabelSetId> label_sets_;
  std::vector<PodSpecId> specs_;
};

}  // namespace krafla
