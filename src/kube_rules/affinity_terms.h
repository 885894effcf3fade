// The pod affinity terms of a cluster: each different term once, with what it selects remembered
// per kind of pod.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "kube_rules/pod_kinds.h"
#include "kube_rules/topology_index.h"
#include "model/cluster.h"

namespace krafla {

class AffinityTerms {
 public:
  struct Use {
    uint32_t term = 0;
    const TopologyKey* key = nullptr;
    int32_t weight = 0;  // preferred terms only; below zero for anti-affinity
  };
  struct OfSpec {
    std::vector<Use> required;
    std::vector<Use> required_anti;
    std::vector<Use> preferred;
  };

  // `kinds` and `topology` stay with the caller.
  AffinityTerms(const Cluster& cluster, TopologyIndex& topology, const PodKinds& kinds);

  const OfSpec& Of(PodSpecId spec) const { return *by_spec_[spec]; }
  // A term of the pod being placed, on a pod that is on a node.
  const KindSet& SelectedExisting(const Use& use);
  bool SelectsExisting(const Use& use, KindId existing) {
    return SelectedExisting(use).Has(existing);
  }
  // A term of a pod that is on a node, on the pod being placed. The two directions differ in how
  // namespace selectors are read; see NamespaceFits.
  bool SelectsIncoming(const Use& use, KindId incoming);
  // Whether any pod of the cluster, placed or not, has such a term that selects this kind: when
  // not, no pod ever has to be looked at.
  bool SomeRequiredAntiSelects(KindId incoming) const { return some_required_anti_.Has(incoming); }
  bool SomePreferredSelects(KindId incoming) const { return some_preferred_.Has(incoming); }

 private:
  struct Term {
    const PodAffinityTerm* written = nullptr;
    KindSet existing;
    KindSet incoming;
  };
  Use MakeUse(const PodAffinityTerm& written, int32_t weight);
  void Fill(KindSet& set, const PodAffinityTerm& term, bool of_incoming) const;
  bool NamespaceFits(const PodAffinityTerm& term, StrId ns, bool of_incoming) const;
  bool Selects(const PodAffinityTerm& term, KindId kind, bool of_incoming) const;

  const Cluster& cluster_;
  TopologyIndex& topology_;
  const PodKinds& kinds_;
  std::unordered_map<StrId, const LabelSet*> namespaces_;
  std::vector<Term> terms_;
  std::unordered_multimap<uint64_t, uint32_t> terms_by_hash_;
  Table<PodSpecId, const OfSpec*> by_spec_;
  std::vector<std::unique_ptr<OfSpec>> owned_;
  KindSet some_required_anti_;
  KindSet some_preferred_;
};

}  // namespace krafla
