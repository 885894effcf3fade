#include "kube_rules/node_fit_rules.h"

#include <algorithm>
#include <iterator>

namespace krafla {

namespace {

constexpr uint8_t kUnresolvable = Refusal::kUnschedulableAndUnresolvable;

bool KeepsPodsOff(const Taint& taint) {
  return taint.effect != TaintEffect::kPreferNoSchedule;
}

bool Tolerated(const Taint& taint, const std::vector<Toleration>& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& t) { return Tolerates(t, taint); });
}

bool AskTheSameOfNodes(const PodSpec& a, const PodSpec& b) {
  return a.node_selector == b.node_selector &&
         a.has_required_node_affinity == b.has_required_node_affinity &&
         a.required_node_terms == b.required_node_terms && a.tolerations == b.tolerations;
}

// The parts that tend to differ.
uint64_t HashOfNodeTerms(const PodSpec& spec) {
  uint64_t hash = spec.required_node_terms.size() << 8 | spec.tolerations.size();
  const auto add = [&](StrId id) { hash = (hash ^ id.value) * 0x9e3779b97f4a7c15ULL; };
  for (const auto& [key, value] : spec.node_selector) {
    add(key);
    add(value);
  }
  for (const NodeSelectorTerm& term : spec.required_node_terms)
    for (const auto* list : {&term.expressions, &term.name_fields})
      for (const SelectorRequirement& requirement : *list)
        for (const StrId value : requirement.values) add(value);
  for (const Toleration& toleration : spec.tolerations) add(toleration.key);
  return hash;
}

}  // namespace

bool MatchesNodeAffinity(const PodSpec& spec, const Node& node, const StringPool& strings) {
  for (const auto& [key, value] : spec.node_selector)
    if (FindLabel(node.labels, key) != value) return false;
  if (!spec.has_required_node_affinity) return true;
  return std::any_of(
      spec.required_node_terms.begin(), spec.required_node_terms.end(),
      [&](const NodeSelectorTerm& term) { return Matches(term, node.labels, node.name, strings); });
}

bool HasUntoleratedTaint(const PodSpec& spec, const Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return KeepsPodsOff(taint) && !Tolerated(taint, spec.tolerations);
  });
}

bool NodeNamesConflict(const PodSpec& spec) {
  if (!spec.has_required_node_affinity || spec.required_node_terms.empty()) return false;
  for (const NodeSelectorTerm& term : spec.required_node_terms) {
    const std::vector<StrId>* first = nullptr;
    std::vector<StrId> names;
    for (const SelectorRequirement& field : term.name_fields) {
      if (field.op != SelectorOp::kIn) continue;
      if (first == nullptr) {
        first = &field.values;
        names = field.values;
      } else {
        std::vector<StrId> both;
        std::set_intersection(names.begin(), names.end(), field.values.begin(), field.values.end(),
                              std::back_inserter(both));
        names = std::move(both);
      }
    }
    // An alternative that names no node, or one that can be met, leaves the decision to the nodes.
    if (first == nullptr || !names.empty()) return false;
  }
  return true;
}

NodeFitRules::NodeFitRules(const Cluster& cluster, ReasonTable& reasons)
    : cluster_(cluster),
      cordon_{cluster.strings.Find("node.kubernetes.io/unschedulable"), kEmptyStr,
              TaintEffect::kNoSchedule},
      unschedulable_{kUnresolvable, reasons.Intern("node(s) were unschedulable")},
      affinity_{kUnresolvable, reasons.Intern("node(s) didn't match Pod's node affinity/selector")},
      taint_{kUnresolvable, reasons.Intern("node(s) had untolerated taint(s)")},
      names_conflict_{kUnresolvable, reasons.Intern("pod affinity terms conflict")} {
  for (const NodeId id : cluster.nodes_by_name) List(id);
}

void NodeFitRules::List(NodeId id) {
  const Node& node = cluster_.nodes[id];
  if (node.unschedulable) cordoned_.push_back(id);
  if (std::any_of(node.taints.begin(), node.taints.end(), KeepsPodsOff)) tainted_.push_back(id);
}

void NodeFitRules::Follow(std::span<const NodeId> changed) {
  // Somebody may tolerate it by now.
  cordon_.key = cluster_.strings.Find("node.kubernetes.io/unschedulable");
  for (const NodeId id : changed) {
    std::erase(cordoned_, id);
    std::erase(tainted_, id);
    List(id);
  }
}

Refusal NodeFitRules::CheckUnschedulable(const PodSpec& spec, NodeId node) const {
  return cluster_.nodes[node].unschedulable && !Tolerated(cordon_, spec.tolerations)
             ? unschedulable_
             : Refusal{};
}

Refusal NodeFitRules::CheckAffinity(const PodSpec& spec, NodeId node) const {
  return MatchesNodeAffinity(spec, cluster_.nodes[node], cluster_.strings) ? Refusal{} : affinity_;
}

Refusal NodeFitRules::CheckTaints(const PodSpec& spec, NodeId node) const {
  return HasUntoleratedTaint(spec, cluster_.nodes[node]) ? taint_ : Refusal{};
}

Refusal NodeFitRules::CheckNames(const PodSpec& spec) const {
  return NodeNamesConflict(spec) ? names_conflict_ : Refusal{};
}

PodSpecId NodeFitRules::FirstLike(PodSpecId id) {
  if (first_like_.size() <= id.value) first_like_.Resize(cluster_.specs.size());
  if (first_like_[id].valid()) return first_like_[id];
  const PodSpec& spec = cluster_.specs[id];
  const uint64_t hash = HashOfNodeTerms(spec);
  const auto [begin, end] = first_by_hash_.equal_range(hash);
  for (auto it = begin; it != end && !first_like_[id].valid(); ++it)
    if (AskTheSameOfNodes(cluster_.specs[it->second], spec)) first_like_[id] = it->second;
  if (first_like_[id].valid()) return first_like_[id];
  first_by_hash_.emplace(hash, id);
  return first_like_[id] = id;
}

void NodeFitRules::JoinUnschedulable(const PodSpec& spec, std::span<Refusal> by_node) const {
  if (cordoned_.empty() || Tolerated(cordon_, spec.tolerations)) return;
  for (const NodeId node : cordoned_) by_node[node.value].Join(unschedulable_);
}

void NodeFitRules::JoinAffinity(const PodSpec& spec, std::span<Refusal> by_node) const {
  if (!HasNodeAffinity(spec)) return;
  for (const NodeId node : cluster_.nodes_by_name)
    by_node[node.value].Join(CheckAffinity(spec, node));
}

void NodeFitRules::JoinTaints(const PodSpec& spec, std::span<Refusal> by_node) const {
  for (const NodeId node : tainted_) by_node[node.value].Join(CheckTaints(spec, node));
}

}  // namespace krafla
