#include "kube_rules/spread_scores.h"

#include <algorithm>
#include <cmath>

namespace krafla {

SpreadScores::SpreadScores(KubeFacts& facts)
    : facts_(facts), hostname_(facts.cluster.strings.Find("kubernetes.io/hostname")) {
  classes_.Resize(facts.cluster.classes.size());
}

bool SpreadScores::HasConstraints(ClassId cls) const {
  const PodSpec& spec = facts_.cluster.specs[facts_.cluster.classes[cls].spec];
  return std::any_of(spec.spread.begin(), spec.spread.end(),
                     [](const SpreadConstraint& c) { return !c.hard; });
}

SpreadClass& SpreadScores::Of(ClassId cls) {
  auto& slot = classes_[cls];
  if (!slot) slot = std::make_unique<SpreadClass>(facts_, cls, false);
  return *slot;
}

// Only domains with a candidate matter. On single hosts pods are counted when the host is scored.
void SpreadScores::Count(SpreadClass& spread, std::span<const NodeId> nodes,
                         const std::vector<bool>& ignored) {
  counts_.resize(spread.constraints.size());
  const auto scored = std::count(ignored.begin(), ignored.end(), false);
  for (size_t c = 0; c < counts_.size(); ++c) {
    SpreadConstraintView& constraint = spread.constraints[c];
    DomainPods& count = counts_[c];
    int64_t size = scored;
    if (!IsHostname(constraint)) {
      count.pods.assign(constraint.key().domains(), 0);
      count.seen.assign(constraint.key().domains(), false);
      for (size_t i = 0; i < nodes.size(); ++i)
        if (!ignored[i]) count.seen[constraint.key().Of(nodes[i])] = true;
      size = std::count(count.seen.begin(), count.seen.end(), true);
      facts_.nodes_by_kind->ForEach(constraint.taken(), [&](NodeId node) {
        if (!constraint.Includes(node) || !spread.HasAllKeys(node)) return;
        const uint32_t domain = constraint.key().Of(node);
        if (count.seen[domain]) count.pods[domain] += constraint.CountOn(node);
      });
    }
    count.weight = std::log(static_cast<double>(size + 2));
  }
}

void SpreadScores::Score(ClassId cls, std::span<const NodeId> nodes, std::span<int64_t> scores) {
  SpreadClass& spread = Of(cls);
  std::vector<bool> ignored(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) ignored[i] = !spread.HasAllKeys(nodes[i]);
  Count(spread, nodes, ignored);

  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = 0;
    if (ignored[i]) continue;
    double sum = 0;
    for (size_t c = 0; c < counts_.size(); ++c) {
      SpreadConstraintView& constraint = spread.constraints[c];
      const int64_t pods = IsHostname(constraint) ? constraint.CountOn(nodes[i])
                                                  : counts_[c].pods[constraint.key().Of(nodes[i])];
      sum += static_cast<double>(pods) * counts_[c].weight +
             static_cast<double>(constraint.constraint().max_skew - 1);
    }
    scores[i] = static_cast<int64_t>(std::round(sum));
    least = std::min(least, scores[i]);
    most = std::max(most, scores[i]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (ignored[i]) continue;
    scores[i] = most == 0 ? 100 : 100 * (most + least - scores[i]) / most;
  }
}

}  // namespace krafla
