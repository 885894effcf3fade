// Tasks that no predicate and no scorer can tell apart share a class: the same spec and namespace,
// the same amounts with their CSI volumes, the same say about revocable zones, and the same labels
// as far as any selector in the cluster can tell them apart (looked_at_labels.h).
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster_state/cluster_builder.h"
#include "cluster_state/csi_claims.h"
#include "cluster_state/looked_at_labels.h"

namespace krafla {

// Good for as long as the claims, volumes and storage classes of the cluster stay what they are,
// CSI drivers neither come nor go, and selectors look at no other labels.
class TaskClasses {
 public:
  // `whole_keys` as for LookedAtLabels.
  TaskClasses(Cluster& cluster, InternedValues<LabelSetId, LabelSet>& label_index,
              const BuildOptions& options, std::unordered_set<StrId>& whole_keys);

  // Finds or makes the class of every task.
  void SetAll();
  // … of one.
  void Set(Task& task);
  // Hears of the selectors of a pod's spec, or of a budget. False: they tell apart what none told
  // apart before, and every class has to be found anew.
  bool Cover(const PodSpec& spec) { return looked_at_.Cover(spec); }
  bool Cover(const LabelSelector& selector) { return looked_at_.Cover(selector); }
  bool HasAllClaims(const Task& task) const { return FindMissingClaim(task) == nullptr; }
  // The first of them that is not there; null: all are.
  const ClaimVolume* FindMissingClaim(const Task& task) const {
    return csi_.FindMissingClaim(task, cluster_.specs[task.spec]);
  }

 private:
  struct Key {
    PodSpecId spec;
    LabelSetId labels;
    StrId ns;
    StrId zones;  // what the pod says about revocable zones, as one text
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t low = (uint64_t{key.spec.value} << 32) | key.ns.value;
      const uint64_t high = (uint64_t{key.labels.value} << 16) ^ (uint64_t{key.zones.value} << 40);
      return (low ^ high) * 0x9e3779b97f4a7c15ULL;
    }
  };

  ClassId ClassOf(const Task& task);
  ClassId Intern(const Key& key, TaskClass cls);
  StrId ZonesAsText(const Task& task);
  LabelSetId Projected(LabelSetId labels);

  Cluster& cluster_;
  InternedValues<LabelSetId, LabelSet>& label_index_;
  CsiClaims csi_;
  LookedAtLabels looked_at_;
  std::vector<LabelSetId> projected_;  // by the full set
  std::unordered_map<Key, std::vector<ClassId>, Hash> classes_;
  Key last_key_;
  ClassId last_;
};

}  // namespace krafla
