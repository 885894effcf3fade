#include "kube_rules/kube_facts.h"

#include <algorithm>

namespace krafla {

KubeFacts::KubeFacts(const Cluster& c, KubeView& v, bool hears_newcomers)
    : cluster(c), view(v), topology(c) {
  const bool affinity = std::any_of(c.specs.begin(), c.specs.end(),
                                    [](const PodSpec& spec) { return spec.HasPodAffinity(); });
  const bool spread = std::any_of(c.specs.begin(), c.specs.end(),
                                  [](const PodSpec& spec) { return !spec.spread.empty(); });
  if (affinity || spread) kinds = std::make_unique<PodKinds>(c);
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

}  // namespace krafla
