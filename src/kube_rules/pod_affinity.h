// Required pod affinity and anti-affinity, of the pod being placed and of the pods that are there.
//
// 1. Prepare counts, per domain, the pods the incoming pod must be with, must not be with, and the
//    pods that must not be with it. The counts stay as they are until the pod is prepared again.
// 2. Check compares a node's domains with the counts.
// 3. A dry run moves pods on top of the counts (PodMove) and takes the moves back through the undo
//    log.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kube_rules/kube_facts.h"
#include "session/hooks.h"
#include "session/refusal.h"

namespace krafla {

struct PodAffinityCounts {
  std::vector<DomainCounts> wanted;    // pods that all own affinity terms select; one entry per key
  std::vector<DomainCounts> unwanted;  // pods that an own anti-affinity term selects
  std::vector<DomainCounts>
      unwelcoming;             // pods with an anti-affinity term that selects the incoming one
  int32_t wanted_domains = 0;  // counts in `wanted` that are not zero
  bool wants_itself = false;   // all own affinity terms select the pod itself

  bool empty() const { return wanted.empty() && unwanted.empty() && unwelcoming.empty(); }
};

// In a dry run for `for_task`, `moved` has come to (+1) or gone from (-1) its node.
struct PodMove {
  TaskId for_task;
  TaskId moved;
  NodeId node;
  int32_t step = 0;
};

class PodAffinityRule {
 public:
  // `facts` has terms.
  PodAffinityRule(KubeFacts& facts, ReasonTable& reasons);

  // Empty when nothing can refuse: no own required terms, and no pod minds this one.
  PodAffinityCounts Prepare(ClassId cls);
  Refusal Check(const PodAffinityCounts& counts, NodeId node) const;
  // Adds the nodes that Check refuses; bits by position in nodes_by_name.
  void AddRefusing(const PodAffinityCounts& counts, std::span<uint64_t> nodes);
  // Takes off some nodes those that Check refuses, and calls `say` with what it says of them.
  void SayOfMany(const PodAffinityCounts& counts, std::span<uint64_t> nodes,
                 const PredicateHook::Say& say);
  // Those of `moves` that are for `task` are applied first.
  Refusal CheckAfter(const PodAffinityCounts& counts, TaskId task, std::span<const PodMove> moves,
                     NodeId node);
  // Whether pods on other nodes have, or may come to have, a say.
  bool LooksAround(ClassId cls);
  // Whether it has to be with others: nobody's leaving helps then.
  bool WantsCompany(ClassId cls) const {
    return !terms_.Of(facts_.cluster.classes[cls].spec).required.empty();
  }

 private:
  using Use = AffinityTerms::Use;

  bool HasOwnTerms(ClassId cls) const;
  // What a class looks for.
  struct Sought {
    KindSet wanted;  // by all own affinity terms
    KindSet any;     // by these, or by some own anti-affinity term
  };
  const Sought& SoughtBy(ClassId cls);
  void AddNodes(const std::vector<DomainCounts>& list, std::span<uint64_t> nodes);
  void AddNotWanted(const PodAffinityCounts& counts, std::span<uint64_t> nodes);
  void CountOwn(ClassId cls, PodAffinityCounts& counts);
  void CountOthers(ClassId cls, PodAffinityCounts& counts);
  void CountPod(ClassId cls, KindId existing, NodeId node, int32_t step, PodAffinityCounts& counts);
  void CountTermsOf(TaskId existing, ClassId incoming, NodeId node, int32_t step,
                    PodAffinityCounts& counts);

  KubeFacts& facts_;
  AffinityTerms& terms_;
  const PodKinds& kinds_;
  Table<ClassId, std::unique_ptr<Sought>> sought_;
  // Of one call, kept for their memory.
  std::vector<uint64_t> there_;
  std::vector<uint64_t> refused_;
  Refusal not_wanted_;
  Refusal unwanted_;
  Refusal unwelcome_;
};

}  // namespace krafla
