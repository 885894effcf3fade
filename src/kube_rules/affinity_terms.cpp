#include "kube_rules/affinity_terms.h"

#include <algorithm>

namespace krafla {

namespace {

class Hasher {
 public:
  void Add(uint64_t value) { hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15ULL + (hash_ >> 29); }
  void Add(const LabelSelector& selector) {
    Add(selector.given ? 1 : 0);
    for (const SelectorRequirement& r : selector.requirements) {
      Add(r.key.value);
      Add(static_cast<uint64_t>(r.op));
      for (const StrId value : r.values) Add(value.value);
    }
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0x243f6a8885a308d3ULL;
};

uint64_t Hash(const PodAffinityTerm& term) {
  Hasher hasher;
  hasher.Add(term.selector);
  hasher.Add(term.namespace_selector);
  for (const StrId ns : term.namespaces) hasher.Add(ns.value);
  return hasher.value();
}

// The topology key and the weight have no part in what a term selects.
bool SelectTheSame(const PodAffinityTerm& a, const PodAffinityTerm& b) {
  return a.selector == b.selector && a.namespaces == b.namespaces &&
         a.namespace_selector == b.namespace_selector;
}

}  // namespace

AffinityTerms::AffinityTerms(const Cluster& cluster, TopologyIndex& topology, const PodKinds& kinds)
    : cluster_(cluster), topology_(topology), kinds_(kinds) {
  for (const Namespace& ns : cluster.namespaces) namespaces_.emplace(ns.name, &ns.labels);
  const OfSpec* none = owned_.emplace_back(std::make_unique<OfSpec>()).get();
  by_spec_.Reset(cluster.specs.size(), none);
  some_required_anti_.Make(kinds.size());
  some_preferred_.Make(kinds.size());
  std::vector<bool> anti_seen;
  std::vector<bool> preferred_seen;
  auto note = [&](KindSet& some, std::vector<bool>& seen, const Use& use) {
    if (seen.size() <= use.term) seen.resize(use.term + 1, false);
    if (!seen[use.term]) Fill(some, *terms_[use.term].written, false);
    seen[use.term] = true;
  };
  for (uint32_t s = 0; s < cluster.specs.size(); ++s) {
    const PodSpec& spec = cluster.specs[PodSpecId(s)];
    if (!spec.HasPodAffinity()) continue;
    OfSpec& uses = *owned_.emplace_back(std::make_unique<OfSpec>());
    for (const auto& term : spec.required_affinity) uses.required.push_back(MakeUse(term, 0));
    for (const auto& term : spec.required_anti_affinity)
      uses.required_anti.push_back(MakeUse(term, 0));
    for (const auto& term : spec.preferred_affinity)
      uses.preferred.push_back(MakeUse(term, term.weight));
    for (const auto& term : spec.preferred_anti_affinity)
      uses.preferred.push_back(MakeUse(term, -term.weight));
    for (const Use& use : uses.required_anti) note(some_required_anti_, anti_seen, use);
    for (const Use& use : uses.preferred) note(some_preferred_, preferred_seen, use);
    by_spec_[PodSpecId(s)] = &uses;
  }
}

AffinityTerms::Use AffinityTerms::MakeUse(const PodAffinityTerm& written, int32_t weight) {
  Use use{0, &topology_.Of(written.topology_key), weight};
  const uint64_t hash = Hash(written);
  const auto [begin, end] = terms_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (!SelectTheSame(*terms_[it->second].written, written)) continue;
    use.term = it->second;
    return use;
  }
  use.term = static_cast<uint32_t>(terms_.size());
  terms_.push_back({&written, {}, {}});
  terms_by_hash_.emplace(hash, use.term);
  return use;
}

// Kubernetes means to turn the namespace selector of the pod being placed into a list of
// namespaces, and does, but then asks the selector too, with no labels at all. So one made only of
// NotIn and DoesNotExist takes every namespace. Terms of pods on nodes are asked with the labels of
// the incoming pod's namespace.
bool AffinityTerms::NamespaceFits(const PodAffinityTerm& term, StrId ns, bool of_incoming) const {
  if (std::binary_search(term.namespaces.begin(), term.namespaces.end(), ns)) return true;
  if (!term.namespace_selector.given) return false;
  const auto known = namespaces_.find(ns);
  if (of_incoming && Matches(term.namespace_selector, LabelSet{})) return true;
  if (known != namespaces_.end()) return Matches(term.namespace_selector, *known->second);
  return !of_incoming && Matches(term.namespace_selector, LabelSet{});
}

bool AffinityTerms::Selects(const PodAffinityTerm& term, KindId kind, bool of_incoming) const {
  const PodKind& pod = kinds_[kind];
  return NamespaceFits(term, pod.ns, of_incoming) &&
         Matches(term.selector, cluster_.label_sets[pod.labels]);
}

void AffinityTerms::Fill(KindSet& set, const PodAffinityTerm& term, bool of_incoming) const {
  if (!term.selector.given) return;
  kinds_.ForEachCandidate(term.selector, [&](KindId kind) {
    if (Selects(term, kind, of_incoming)) set.Add(kind);
  });
}

const KindSet& AffinityTerms::SelectedExisting(const Use& use) {
  Term& term = terms_[use.term];
  if (!term.existing.made()) {
    term.existing.Make(kinds_.size());
    Fill(term.existing, *term.written, true);
  }
  return term.existing;
}

bool AffinityTerms::SelectsIncoming(const Use& use, KindId incoming) {
  Term& term = terms_[use.term];
  if (!term.incoming.made()) {
    term.incoming.Make(kinds_.size());
    Fill(term.incoming, *term.written, false);
  }
  return term.incoming.Has(incoming);
}

}  // namespace krafla
