// Preferred pod affinity and anti-affinity, of the pod being placed and of the pods that are there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kube_rules/kube_facts.h"

namespace krafla {

class AffinityScores {
 public:
  // `facts` has terms.
  explicit AffinityScores(KubeFacts& facts);

  // False when no term reached any node: then there is no score. Otherwise one score of 0 to 100
  // per node.
  bool Score(ClassId cls, std::span<const NodeId> nodes, std::span<int64_t> scores);
  // Whether any preferred term is, or may come to be, in play.
  bool LooksAround(ClassId cls);

 private:
  using Use = AffinityTerms::Use;
  struct DomainWeights {
    const TopologyKey* key;
    std::vector<int64_t> weights;
  };

  void Add(const Use& use, NodeId node);
  void AddTermsOf(TaskId existing, NodeId node, KindId incoming);
  void Collect(ClassId cls);

  KubeFacts& facts_;
  AffinityTerms& terms_;
  const PodKinds& kinds_;
  Table<ClassId, KindSet> sought_;      // kinds some own preferred term selects
  std::vector<DomainWeights> weights_;  // of the current call, one entry per key
};

}  // namespace krafla
