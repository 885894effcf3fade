// Where decoded objects go: a snapshot that is put together once (ClusterBuilder), a cluster that
// changes (LiveCluster), or somebody who only wants the facts. Strings, label sets and pod specs
// are interned on the way, in tables that belong to one cluster.
#pragma once

#include <utility>

#include "cluster_state/facts.h"
#include "cluster_state/interned_values.h"
#include "model/cluster.h"

namespace krafla {

struct ValueIndexes {
  InternedValues<LabelSetId, LabelSet> labels;
  InternedValues<PodSpecId, PodSpec> specs;
};

// The tables of one cluster in which equal values have one number. A handle, good for as long as
// they are.
class ValuePool {
 public:
  ValuePool(Cluster& cluster, ValueIndexes& indexes) : values_(&cluster), indexes_(&indexes) {}

  StringPool& strings() { return values_->strings; }
  ResourceKinds& kinds() { return values_->kinds; }
  const PodSpec& spec(PodSpecId id) const { return values_->specs[id]; }
  const LabelSet& labels(LabelSetId id) const { return values_->label_sets[id]; }
  LabelSetId InternLabels(LabelSet labels) {
    return indexes_->labels.Intern(std::move(labels), values_->label_sets);
  }
  PodSpecId InternSpec(PodSpec spec) {
    return indexes_->specs.Intern(std::move(spec), values_->specs);
  }

 private:
  Cluster* values_;
  ValueIndexes* indexes_;
};

class FactSink : public ValuePool {
 public:
  enum class Added {
    kYes,
    kSuperseded,  // an expanded object gave way to a written one
    kDuplicate,
  };

  FactSink(Cluster& cluster, ValueIndexes& indexes) : ValuePool(cluster, indexes) {}
  // Interns where another sink does.
  explicit FactSink(FactSink& other) : ValuePool(other) {}
  FactSink(const FactSink&) = delete;
  FactSink& operator=(const FactSink&) = delete;
  virtual ~FactSink() = default;

  // So many objects may come, of whatever kinds.
  virtual void Expect(size_t) {}
  virtual Added AddPod(PodFacts pod, Origin origin) = 0;
  virtual Added AddPodGroup(PodGroupFacts group, Origin origin) = 0;
  // False: there is one of that name already, and it stays.
  virtual bool AddQueue(QueueFacts queue) = 0;
  virtual bool AddNode(NodeFacts node) = 0;
  virtual bool AddPriorityClass(PriorityClassFacts priority_class) = 0;
  virtual bool AddNamespace(Namespace ns) = 0;
  virtual bool AddBudget(PodDisruptionBudget budget) = 0;
  virtual bool AddClaim(PersistentVolumeClaim claim) = 0;
  virtual bool AddVolume(PersistentVolume volume) = 0;
  virtual bool AddStorageClass(StorageClass storage_class) = 0;
  virtual bool AddCsiNode(CsiNode node) = 0;
  // For kinds of which only the name is kept.
  virtual bool AddResourceQuotaName(StrId ns, StrId name) = 0;
};

}  // namespace krafla
