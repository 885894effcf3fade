#include "kube_rules/kube_facts.h"

#include <algorithm>

namespace krafla {

KubeFacts::KubeFacts(const Cluster& c, KubeView& v, bool hears_newcomers)
    : cluster(c), view(v), topology(c), specs_seen(c.specs.size()) {
  const bool affinity = std::any_of(c.specs.begin(), c.specs.end(),
                                    [](const PodSpec& spec) { return spec.HasPodAffinity(); });
  const bool spread = std::any_of(c.specs.begin(), c.specs.end(),
                                  [](const PodSpec& spec) { return !spec.spread.empty(); });
  if (affinity || spread) {
    kinds = std::make_unique<PodKinds>(c);
    nodes_by_kind = std::make_unique<NodesByKind>(c, v, *kinds);
  }
  if (!affinity) return;
  terms = std::make_unique<AffinityTerms>(c, topology, *kinds);
  v.EnsureBuilt();
  had_required_anti.Reset(c.nodes.size(), hears_newcomers);
  had_affinity.Reset(c.nodes.size(), hears_newcomers);
  any_had_required_anti = any_had_affinity = hears_newcomers;
  for (const TaskId task : v.with_required_anti_affinity()) {
    had_required_anti[c.tasks[task].node] = true;
    any_had_required_anti = true;
  }
  for (const TaskId task : v.with_affinity()) {
    had_affinity[c.tasks[task].node] = true;
    any_had_affinity = true;
  }
}

bool KubeFacts::StillHold() {
  if (kinds != nullptr || topology.any()) return false;
  for (; specs_seen < cluster.specs.size(); ++specs_seen) {
    const PodSpec& spec = cluster.specs[PodSpecId(static_cast<uint32_t>(specs_seen))];
    if (spec.HasPodAffinity() || !spec.spread.empty()) return false;
  }
  return true;
}

}  // namespace krafla
