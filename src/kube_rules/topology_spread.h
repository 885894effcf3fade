// Topology spread constraints: the pods a selector takes shall be spread evenly over the domains of
// a key. Here the constraints that must hold; those that are only wished for are in
// spread_scores.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kube_rules/kube_facts.h"
#include "session/hooks.h"
#include "session/refusal.h"

namespace krafla {

// One constraint of a class, with what does not change within a session.
class SpreadConstraintView {
 public:
  SpreadConstraintView(KubeFacts& facts, ClassId cls, const SpreadConstraint& constraint);

  const SpreadConstraint& constraint() const { return *constraint_; }
  const TopologyKey& key() const { return *key_; }
  // The constraint's selector takes the pod being placed.
  bool takes_itself() const { return takes_itself_; }
  // The node's pods are counted, as far as the node inclusion policies go.
  bool Includes(NodeId node) const { return included_.empty() || included_[node]; }
  bool IncludesAll() const { return included_.empty(); }
  // The kinds of pods that count: same namespace, selected, not terminating.
  const KindSet& taken() const { return taken_; }
  int32_t CountOn(NodeId node) const;

 private:
  KubeFacts& facts_;
  const SpreadConstraint* constraint_;
  const TopologyKey* key_;
  bool takes_itself_ = false;
  Table<NodeId, bool> included_;  // empty: all are
  KindSet taken_;
};

// The constraints of one class that are hard, or that are soft. A node that lacks one of their keys
// plays no part.
struct SpreadClass {
  std::vector<SpreadConstraintView> constraints;

  SpreadClass(KubeFacts& facts, ClassId cls, bool hard);
  bool HasAllKeys(NodeId node) const;
  bool AllNodesHaveKeys() const;
};

struct SpreadCounts {
  struct OfConstraint {
    std::vector<int32_t> by_domain;
    int64_t least = 0;  // over the domains that count

    bool IsTooSkewed(const SpreadConstraintView& constraint, uint32_t domain) const {
      const int64_t skew = by_domain[domain] + (constraint.takes_itself() ? 1 : 0) - least;
      return skew > constraint.constraint().max_skew;
    }
  };
  std::vector<OfConstraint> constraints;
};

class TopologySpreadRule {
 public:
  TopologySpreadRule(KubeFacts& facts, ReasonTable& reasons);

  bool HasConstraints(ClassId cls) const;
  // Otherwise nodes are out for good.
  bool AllNodesHaveKeys(ClassId cls) { return Of(cls).all_have_keys; }
  SpreadCounts Prepare(ClassId cls);
  Refusal Check(const SpreadCounts& counts, ClassId cls, NodeId node);
  // Adds the nodes that Check refuses; bits by position in nodes_by_name.
  void AddRefusing(const SpreadCounts& counts, ClassId cls, std::span<uint64_t> nodes);
  // Takes off some nodes those that Check refuses, and calls `say` with what it says of them.
  void SayOfMany(const SpreadCounts& counts, ClassId cls, std::span<uint64_t> nodes,
                 const PredicateHook::Say& say);

 private:
  struct Prepared {
    SpreadClass spread;
    // Per constraint: the domains with a node that counts. Which they are does not change within a
    // session.
    std::vector<std::vector<uint32_t>> domains;
    bool all_have_keys = false;
  };
  static std::vector<uint32_t> DomainsThatCount(const Cluster& cluster, const Prepared& prepared,
                                                const SpreadConstraintView& constraint);
  Prepared& Of(ClassId cls);

  void AddTooSkewed(const SpreadCounts::OfConstraint& counts,
                    const SpreadConstraintView& constraint, std::span<uint64_t> nodes);

  KubeFacts& facts_;
  std::vector<uint64_t> refused_;  // of one call, kept for its memory
  Table<ClassId, std::unique_ptr<Prepared>> classes_;
  Refusal no_label_;
  Refusal too_skewed_;
};

}  // namespace krafla
