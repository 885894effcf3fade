#include "kube_rules/affinity_scores.h"

#include <algorithm>

namespace krafla {

AffinityScores::AffinityScores(KubeFacts& facts)
    : facts_(facts), terms_(*facts.terms), kinds_(*facts.kinds) {
  sought_.Resize(facts.cluster.classes.size());
}

bool AffinityScores::LooksAround(ClassId cls) {
  if (!terms_.Of(facts_.cluster.classes[cls].spec).preferred.empty()) return true;
  return facts_.any_had_affinity && terms_.SomePreferredSelects(kinds_.Of(cls));
}

void AffinityScores::Add(const Use& use, NodeId node) {
  const uint32_t domain = use.key->Of(node);
  if (domain == TopologyKey::kNoDomain) return;
  auto it = std::find_if(weights_.begin(), weights_.end(),
                         [&](const DomainWeights& w) { return w.key == use.key; });
  if (it == weights_.end())
    it = weights_.insert(it, {use.key, std::vector<int64_t>(use.key->domains(), 0)});
  it->weights[domain] += use.weight;
}

void AffinityScores::AddTermsOf(TaskId existing, NodeId node, KindId incoming) {
  for (const Use& use : terms_.Of(facts_.cluster.tasks[existing].spec).preferred)
    if (terms_.SelectsIncoming(use, incoming)) Add(use, node);
}

void AffinityScores::Collect(ClassId cls) {
  weights_.clear();
  const KindId incoming = kinds_.Of(cls);
  const std::vector<Use>& own = terms_.Of(facts_.cluster.classes[cls].spec).preferred;
  const bool others = terms_.SomePreferredSelects(incoming);
  if (!own.empty()) {
    KindSet& sought = sought_[cls];
    if (!sought.made()) {
      sought.Make(kinds_.size());
      for (const Use& use : own) sought.Join(terms_.SelectedExisting(use));
    }
    facts_.nodes_by_kind->ForEach(sought, [&](NodeId node) {
      for (const TaskId task : facts_.view.PodsOn(node)) {
        const KindId existing = kinds_.Of(task);
        if (!sought.Has(existing)) continue;
        for (const Use& use : own)
          if (terms_.SelectsExisting(use, existing)) Add(use, node);
      }
    });
  }
  if (!others) return;
  // A pod with preferences of its own hears all the others; one without only those on nodes that
  // had such pods when the session opened.
  for (const TaskId task : facts_.view.with_affinity()) {
    const NodeId node = facts_.cluster.tasks[task].node;
    if (!own.empty() || facts_.had_affinity[node]) AddTermsOf(task, node, incoming);
  }
}

bool AffinityScores::Score(ClassId cls, std::span<const NodeId> nodes, std::span<int64_t> scores) {
  Collect(cls);
  if (weights_.empty()) return false;
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  for (size_t i = 0; i < nodes.size(); ++i) {
    int64_t sum = 0;
    for (const DomainWeights& w : weights_)
      if (const uint32_t domain = w.key->Of(nodes[i]); domain != TopologyKey::kNoDomain)
        sum += w.weights[domain];
    scores[i] = sum;
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  for (int64_t& score : scores)
    score = most == least ? 0
                          : static_cast<int64_t>(100.0 * (static_cast<double>(score - least) /
                                                          static_cast<double>(most - least)));
  return true;
}

}  // namespace krafla
