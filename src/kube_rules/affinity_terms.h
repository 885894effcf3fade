// The pod affinity terms of a cluster: each different term once, with what it selects remembered per kind of pod.
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
  bool SelectsExisting(const Use& use, KindId existing);
  // A term of a pod that is on a node, on the pod being placed. The two directions differ in how namespace selectors
  // are read; see NamespaceFits.
  bool SelectsIncoming(const Use& use, KindId incoming);
  // Whether any pod of the cluster, placed or not, has such a term that selects this kind: when not, no pod ever has
  // to be looked at.
  bool SomeRequiredAntiSelects(KindId incoming) { return SomeSelects(required_anti_, incoming); }
  bool SomePreferredSelects(KindId incoming) { return SomeSelects(preferred_, incoming); }

 private:
  struct Term {
    const PodAffinityTerm* written = nullptr;
    KindVerdicts existing;
    KindVerdicts incoming;
  };
  // Terms by a label they insist on: a kind is compared with those that name one of its labels, not with all.
  struct TermIndex {
    std::vector<bool> has;
    std::unordered_map<uint64_t, std::vector<uint32_t>> by_label;
    std::vector<uint32_t> others;
    KindVerdicts selects;
  };

  Use MakeUse(const PodAffinityTerm& written, int32_t weight);
  void AddTo(TermIndex& index, uint32_t term) const;
  bool SomeSelects(TermIndex& index, KindId incoming);
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
  TermIndex required_anti_;  // of the whole cluster
  TermIndex preferred_;
};

}  // namespace krafla
