#include "kube_rules/preference_scores.h"

#include <algorithm>

namespace krafla {

int64_t PreferredNodeWeight(const PodSpec& spec, const Node& node, const StringPool& strings) {
  int64_t sum = 0;
  for (const PreferredNodeTerm& preferred : spec.preferred_node_terms)
    if (preferred.weight != 0 && Matches(preferred.term, node.labels, node.name, strings))
      sum += preferred.weight;
  return sum;
}

int64_t UntoleratedPreferences(const PodSpec& spec, const Node& node) {
  return std::count_if(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule &&
           std::none_of(spec.tolerations.begin(), spec.tolerations.end(),
                        [&](const Toleration& t) { return Tolerates(t, taint); });
  });
}

int64_t ImageLocality(const PodSpec& spec, const Node& node, size_t total_nodes) {
  constexpr int64_t kMiB = 1024 * 1024;
  constexpr int64_t kLeast = 23 * kMiB;
  constexpr int64_t kMostPerContainer = 1000 * kMiB;
  if (node.images.empty()) return 0;
  int64_t sum = 0;
  for (const StrId image : spec.images) {
    const auto it =
        std::lower_bound(node.images.begin(), node.images.end(), image,
                         [](const NodeImage& have, StrId name) { return have.name < name; });
    if (it == node.images.end() || it->name != image) continue;
    const double spread = static_cast<double>(it->nodes_with_it) / static_cast<double>(total_nodes);
    sum += static_cast<int64_t>(static_cast<double>(it->size_bytes) * spread);
  }
  const int64_t most = kMostPerContainer * spec.container_count;
  if (sum <= kLeast) return 0;
  return 100 * (std::min(sum, most) - kLeast) / (most - kLeast);
}

}  // namespace krafla
