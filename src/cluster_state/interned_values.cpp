#include "cluster_state/interned_values.h"

#include <bit>
#include <tuple>

namespace krafla {

namespace {

class Hasher {
 public:
  void Add(uint64_t word) {
    // The upper half of a product depends on all bits of both factors.
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(state_ ^ word) * 0x9e3779b97f4a7c15ULL;
    state_ = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ 0x5bd1e995ULL;
  }
  void Add(StrId id) { Add(uint64_t{id.value}); }
  void Add(double amount) { Add(std::bit_cast<uint64_t>(amount)); }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x2545f4914f6cdd1dULL;
};

}  // namespace

uint64_t HashOf(const LabelSet& labels) {
  Hasher hasher;
  for (const auto& [key, value] : labels) hasher.Add((uint64_t{key.value} << 32) | value.value);
  return hasher.value();
}

// Not of every field: what usually differs, and the sizes of the rest.
uint64_t HashOf(const PodSpec& spec) {
  Hasher hasher;
  hasher.Add(spec.request.cpu());
  hasher.Add(spec.request.memory());
  hasher.Add(spec.request.mask());
  hasher.Add(HashOf(spec.node_selector));
  for (const ClaimVolume& claim : spec.claims) hasher.Add(claim.claim);
  for (const StrId image : spec.images) hasher.Add(image);
  for (const StrId gate : spec.scheduling_gates) hasher.Add(gate);
  for (const Toleration& toleration : spec.tolerations) hasher.Add(toleration.key);
  for (const auto* terms : {&spec.required_affinity, &spec.required_anti_affinity,
                            &spec.preferred_affinity, &spec.preferred_anti_affinity}) {
    hasher.Add(uint64_t{terms->size()});
    for (const PodAffinityTerm& term : *terms) {
      hasher.Add(term.topology_key);
      for (const SelectorRequirement& requirement : term.selector.requirements)
        for (const StrId value : requirement.values) hasher.Add(value);
    }
  }
  for (const SpreadConstraint& constraint : spec.spread) {
    hasher.Add(constraint.topology_key);
    for (const SelectorRequirement& requirement : constraint.selector.requirements)
      for (const StrId value : requirement.values) hasher.Add(value);
  }
  hasher.Add(uint64_t{spec.required_node_terms.size()});
  hasher.Add(uint64_t{spec.host_ports.size()});
  return hasher.value();
}

bool SameValue(const PodSpec& a, const PodSpec& b) {
  // A field that is added to PodSpec must be compared here.
  static_assert(sizeof(PodSpec) == sizeof(Resource) + 6 * sizeof(double) +
                                       13 * sizeof(std::vector<int>) + 2 * sizeof(int64_t));
  const auto rest = [](const PodSpec& s) {
    return std::tie(s.scored_cpu, s.scored_memory, s.nonzero_cpu, s.nonzero_memory, s.placing_cpu,
                    s.placing_memory, s.node_selector, s.has_required_node_affinity,
                    s.preferred_node_terms_broken, s.required_node_terms, s.preferred_node_terms,
                    s.tolerations, s.host_ports, s.required_affinity, s.required_anti_affinity,
                    s.preferred_affinity, s.preferred_anti_affinity, s.spread, s.claims, s.images,
                    s.container_count, s.scheduling_gates, s.needs_resource_claims);
  };
  return a.request.SameAs(b.request) && rest(a) == rest(b);
}

}  // namespace krafla
