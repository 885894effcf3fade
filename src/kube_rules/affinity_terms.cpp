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

uint64_t LabelKey(StrId key, StrId value) { return uint64_t{key.value} << 32 | value.value; }

}  // namespace

AffinityTerms::AffinityTerms(const Cluster& cluster, TopologyIndex& topology, const PodKinds& kinds)
    : cluster_(cluster), topology_(topology), kinds_(kinds) {
  for (const Namespace& ns : cluster.namespaces) namespaces_.emplace(ns.name, &ns.labels);
  const OfSpec* none = owned_.emplace_back(std::make_unique<OfSpec>()).get();
  by_spec_.Reset(cluster.specs.size(), none);
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
    for (const Use& use : uses.required_anti) AddTo(required_anti_, use.term);
    for (const Use& use : uses.preferred) AddTo(preferred_, use.term);
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

// Kubernetes means to turn the namespace selector of the pod being placed into a list of namespaces, and does, but
// then asks the selector too, with no labels at all. So one made only of NotIn and DoesNotExist takes every namespace.
// Terms of pods on nodes are asked with the labels of the incoming pod's namespace.
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

bool AffinityTerms::SelectsExisting(const Use& use, KindId existing) {
  Term& term = terms_[use.term];
  return term.existing.Get(existing, kinds_.size(),
                           [&] { return Selects(*term.written, existing, true); });
}

bool AffinityTerms::SelectsIncoming(const Use& use, KindId incoming) {
  Term& term = terms_[use.term];
  return term.incoming.Get(incoming, kinds_.size(),
                           [&] { return Selects(*term.written, incoming, false); });
}

void AffinityTerms::AddTo(TermIndex& index, uint32_t term) const {
  if (index.has.size() <= term) index.has.resize(term + 1, false);
  if (index.has[term]) return;
  index.has[term] = true;
  for (const SelectorRequirement& r : terms_[term].written->selector.requirements) {
    if (r.op != SelectorOp::kIn) continue;
    for (const StrId value : r.values) index.by_label[LabelKey(r.key, value)].push_back(term);
    return;
  }
  index.others.push_back(term);
}

bool AffinityTerms::SomeSelects(TermIndex& index, KindId incoming) {
  return index.selects.Get(incoming, kinds_.size(), [&] {
    auto selects = [&](uint32_t term) { return Selects(*terms_[term].written, incoming, false); };
    for (const auto& [key, value] : cluster_.label_sets[kinds_[incoming].labels]) {
      const auto it = index.by_label.find(LabelKey(key, value));
      if (it != index.by_label.end() && std::any_of(it->second.begin(), it->second.end(), selects))
        return true;
    }
    return std::any_of(index.others.begin(), index.others.end(), selects);
  });
}

}  // namespace krafla
