#include "kube_rules/topology_spread.h"

#include <algorithm>
#include <limits>

#include "kube_rules/domain_bits.h"
#include "kube_rules/node_fit_rules.h"
#include "kube_rules/say_of_many.h"

namespace krafla {

SpreadConstraintView::SpreadConstraintView(KubeFacts& facts, ClassId cls,
                                           const SpreadConstraint& constraint)
    : facts_(facts), constraint_(&constraint), key_(&facts.topology.Of(constraint.topology_key)) {
  const Cluster& cluster = facts.cluster;
  const PodSpec& spec = cluster.specs[cluster.classes[cls].spec];
  takes_itself_ = Matches(constraint.selector, cluster.label_sets[cluster.classes[cls].labels]);
  taken_.Make(facts.kinds->size());
  // A selector that takes everything counts nothing in Kubernetes.
  if (!constraint.selector.requirements.empty()) {
    facts.kinds->ForEachCandidate(constraint.selector, [&](KindId kind) {
      const PodKind& pod = (*facts.kinds)[kind];
      if (pod.ns == cluster.classes[cls].ns && !pod.terminating &&
          Matches(constraint.selector, cluster.label_sets[pod.labels]))
        taken_.Add(kind);
    });
  }
  const bool asks_affinity = constraint.honor_node_affinity && HasNodeAffinity(spec);
  if (!asks_affinity && !constraint.honor_node_taints) return;
  included_.Reset(cluster.nodes.size(), false);
  for (const NodeId id : cluster.nodes_by_name) {
    const Node& node = cluster.nodes[id];
    included_[id] = (!asks_affinity || MatchesNodeAffinity(spec, node, cluster.strings)) &&
                    (!constraint.honor_node_taints || !HasUntoleratedTaint(spec, node));
  }
}

int32_t SpreadConstraintView::CountOn(NodeId node) const {
  int32_t count = 0;
  for (const TaskId task : facts_.view.PodsOn(node))
    count += taken_.Has(facts_.kinds->Of(task)) ? 1 : 0;
  return count;
}

SpreadClass::SpreadClass(KubeFacts& facts, ClassId cls, bool hard) {
  const PodSpec& spec = facts.cluster.specs[facts.cluster.classes[cls].spec];
  for (const SpreadConstraint& constraint : spec.spread)
    if (constraint.hard == hard) constraints.emplace_back(facts, cls, constraint);
}

bool SpreadClass::HasAllKeys(NodeId node) const {
  return std::all_of(constraints.begin(), constraints.end(), [&](const SpreadConstraintView& c) {
    return c.key().Of(node) != TopologyKey::kNoDomain;
  });
}

bool SpreadClass::AllNodesHaveKeys() const {
  return std::all_of(constraints.begin(), constraints.end(),
                     [](const SpreadConstraintView& c) { return c.key().on_all_nodes; });
}

TopologySpreadRule::TopologySpreadRule(KubeFacts& facts, ReasonTable& reasons)
    : facts_(facts),
      no_label_{Refusal::kUnschedulableAndUnresolvable,
                reasons.Intern("node(s) didn't match pod topology spread constraints "
                               "(missing required label)")},
      too_skewed_{Refusal::kUnschedulable,
                  reasons.Intern("node(s) didn't match pod topology spread constraints")} {
  classes_.Resize(facts.cluster.classes.size());
}

bool TopologySpreadRule::HasConstraints(ClassId cls) const {
  const PodSpec& spec = facts_.cluster.specs[facts_.cluster.classes[cls].spec];
  return std::any_of(spec.spread.begin(), spec.spread.end(),
                     [](const SpreadConstraint& c) { return c.hard; });
}

TopologySpreadRule::Prepared& TopologySpreadRule::Of(ClassId cls) {
  std::unique_ptr<Prepared>& slot = classes_[cls];
  if (slot) return *slot;
  slot.reset(new Prepared{SpreadClass(facts_, cls, true), {}});
  slot->all_have_keys = slot->spread.AllNodesHaveKeys();
  for (const SpreadConstraintView& constraint : slot->spread.constraints)
    slot->domains.push_back(DomainsThatCount(facts_.cluster, *slot, constraint));
  return *slot;
}

std::vector<uint32_t> TopologySpreadRule::DomainsThatCount(const Cluster& cluster,
                                                           const Prepared& prepared,
                                                           const SpreadConstraintView& constraint) {
  const bool all = prepared.all_have_keys && constraint.IncludesAll();
  std::vector<bool> counts(constraint.key().domains(), all);
  if (!all)
    for (const NodeId node : cluster.nodes_by_name)
      if (constraint.Includes(node) && prepared.spread.HasAllKeys(node))
        counts[constraint.key().Of(node)] = true;
  std::vector<uint32_t> domains;
  for (uint32_t d = 0; d < counts.size(); ++d)
    if (counts[d]) domains.push_back(d);
  return domains;
}

SpreadCounts TopologySpreadRule::Prepare(ClassId cls) {
  Prepared& prepared = Of(cls);
  auto& constraints = prepared.spread.constraints;
  SpreadCounts counts;
  counts.constraints.resize(constraints.size());
  for (size_t c = 0; c < constraints.size(); ++c) {
    std::vector<int32_t>& by_domain = counts.constraints[c].by_domain;
    by_domain.assign(constraints[c].key().domains(), 0);
    facts_.nodes_by_kind->ForEach(constraints[c].taken(), [&](NodeId node) {
      if (constraints[c].Includes(node) && prepared.spread.HasAllKeys(node))
        by_domain[constraints[c].key().Of(node)] += constraints[c].CountOn(node);
    });
  }
  for (size_t c = 0; c < constraints.size(); ++c) {
    SpreadCounts::OfConstraint& of = counts.constraints[c];
    const std::vector<uint32_t>& domains = prepared.domains[c];
    // Too few domains: the missing ones count as empty.
    if (domains.size() < static_cast<size_t>(constraints[c].constraint().min_domains)) continue;
    of.least = std::numeric_limits<int32_t>::max();
    for (const uint32_t d : domains) of.least = std::min<int64_t>(of.least, of.by_domain[d]);
  }
  return counts;
}

Refusal TopologySpreadRule::Check(const SpreadCounts& counts, ClassId cls, NodeId node) {
  const auto& constraints = Of(cls).spread.constraints;
  for (size_t c = 0; c < constraints.size(); ++c) {
    const uint32_t domain = constraints[c].key().Of(node);
    if (domain == TopologyKey::kNoDomain) return no_label_;
    if (counts.constraints[c].IsTooSkewed(constraints[c], domain)) return too_skewed_;
  }
  return {};
}

void TopologySpreadRule::AddTooSkewed(const SpreadCounts::OfConstraint& counts,
                                      const SpreadConstraintView& constraint,
                                      std::span<uint64_t> nodes) {
  const DomainBits& bits = facts_.topology.BitsOf(constraint.key());
  for (uint32_t d = 0; d < counts.by_domain.size(); ++d)
    if (counts.IsTooSkewed(constraint, d)) bits.Add(d, nodes);
}

void TopologySpreadRule::AddRefusing(const SpreadCounts& counts, ClassId cls,
                                     std::span<uint64_t> nodes) {
  const auto& constraints = Of(cls).spread.constraints;
  for (size_t c = 0; c < constraints.size(); ++c) {
    facts_.topology.BitsOf(constraints[c].key()).AddUnlabeled(nodes);
    AddTooSkewed(counts.constraints[c], constraints[c], nodes);
  }
}

void TopologySpreadRule::SayOfMany(const SpreadCounts& counts, ClassId cls,
                                   std::span<uint64_t> nodes, const PredicateHook::Say& say) {
  const auto& constraints = Of(cls).spread.constraints;
  for (size_t c = 0; c < constraints.size(); ++c) {
    if (!constraints[c].key().on_all_nodes) {
      refused_.assign(nodes.size(), 0);
      facts_.topology.BitsOf(constraints[c].key()).AddUnlabeled(refused_);
      SayAndTakeOff(nodes, refused_, no_label_, say);
    }
    refused_.assign(nodes.size(), 0);
    AddTooSkewed(counts.constraints[c], constraints[c], refused_);
    SayAndTakeOff(nodes, refused_, too_skewed_, say);
  }
}

}  // namespace krafla
