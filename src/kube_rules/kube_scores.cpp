#include "kube_rules/kube_scores.h"

#include <algorithm>
#include <limits>

#include "kube_rules/preference_scores.h"

namespace krafla {

namespace {

constexpr ScorePart kBatchParts[] = {ScorePart::kLeastAllocated,     ScorePart::kMostAllocated,
                                     ScorePart::kBalancedAllocation, ScorePart::kNodeAffinity,
                                     ScorePart::kInterPodAffinity,   ScorePart::kTaintToleration,
                                     ScorePart::kPodTopologySpread};

bool HasSoftTaint(const Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const Taint& t) { return t.effect == TaintEffect::kPreferNoSchedule; });
}

// The best gets 100; reversed, the least.
void Normalize(std::span<int64_t> scores, bool reversed) {
  int64_t most = 0;
  for (const int64_t score : scores) most = std::max(most, score);
  for (int64_t& score : scores) {
    if (most != 0) score = 100 * score / most;
    if (reversed) score = 100 - score;
  }
}

}  // namespace

std::string_view ToString(ScorePart part) {
  static constexpr std::string_view kNames[kScorePartCount] = {"NodeResourcesFit_LeastAllocated",
                                                               "NodeResourcesFit_MostAllocated",
                                                               "NodeResourcesBalancedAllocation",
                                                               "NodeAffinity",
                                                               "InterPodAffinity",
                                                               "TaintToleration",
                                                               "PodTopologySpread",
                                                               "ImageLocality"};
  return kNames[static_cast<size_t>(part)];
}

KubeScores::KubeScores(const Cluster& cluster, KubeView& view, const ScoreWeights& weights)
    : cluster_(cluster),
      view_(view),
      weights_(weights),
      facts_(cluster, view, weights.hears_newcomers),
      resources_(cluster, view) {
  preferences_.Resize(cluster.classes.size());
  if (facts_.terms) affinity_.emplace(facts_);
  if (facts_.kinds) spread_.emplace(facts_);
  any_images_ = std::any_of(cluster.nodes_by_name.begin(), cluster.nodes_by_name.end(),
                            [&](NodeId node) { return !cluster.nodes[node].images.empty(); });
  LookForSoftTaints();
}

void KubeScores::LookForSoftTaints() {
  any_soft_taints_ = std::any_of(cluster_.nodes_by_name.begin(), cluster_.nodes_by_name.end(),
                                 [&](NodeId node) { return HasSoftTaint(cluster_.nodes[node]); });
}

bool KubeScores::Follow(const ClusterChanges& changes) {
  if (!facts_.StillHold()) return false;
  preferences_.Resize(cluster_.classes.size());
  if (changes.node_facts.empty()) return true;
  for (auto& preferences : preferences_) preferences.reset();
  // Images are counted over all nodes: where such a count is another one, the node has changed.
  // Once there were any, each node is asked.
  any_images_ =
      any_images_ || std::any_of(changes.node_facts.begin(), changes.node_facts.end(),
                                 [&](NodeId node) { return !cluster_.nodes[node].images.empty(); });
  if (any_soft_taints_) {
    LookForSoftTaints();
  } else {
    any_soft_taints_ = std::any_of(changes.node_facts.begin(), changes.node_facts.end(),
                                   [&](NodeId node) { return HasSoftTaint(cluster_.nodes[node]); });
  }
  return true;
}

int64_t KubeScores::WeightOf(ScorePart part) const {
  switch (part) {
    case ScorePart::kLeastAllocated:
      return weights_.least_allocated;
    case ScorePart::kMostAllocated:
      return weights_.most_allocated;
    case ScorePart::kBalancedAllocation:
      return weights_.balanced_allocation;
    case ScorePart::kNodeAffinity:
      return weights_.node_affinity;
    case ScorePart::kInterPodAffinity:
      return weights_.pod_affinity;
    case ScorePart::kTaintToleration:
      return weights_.taint_toleration;
    case ScorePart::kPodTopologySpread:
      return weights_.topology_spread;
    case ScorePart::kImageLocality:
      return weights_.image_locality;
    case ScorePart::kCount:
      break;
  }
  return 0;
}

const KubeScores::Preferences& KubeScores::PreferencesOf(ClassId cls) {
  auto& slot = preferences_[cls];
  if (slot) return *slot;
  slot = std::make_unique<Preferences>();
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  auto fill = [&](std::vector<int64_t>& column, auto&& value) {
    column.assign(cluster_.nodes.size(), 0);
    bool any = false;
    for (const NodeId node : cluster_.nodes_by_name) {
      column[node.value] = value(cluster_.nodes[node]);
      any = any || column[node.value] != 0;
    }
    if (!any) column = {};
  };
  if (any_soft_taints_)
    fill(slot->taints, [&](const Node& node) { return UntoleratedPreferences(spec, node); });
  if (!spec.preferred_node_terms.empty())
    fill(slot->affinity,
         [&](const Node& node) { return PreferredNodeWeight(spec, node, cluster_.strings); });
  return *slot;
}

void KubeScores::AddNodeScores(ClassId cls, std::span<const NodeId> nodes,
                               std::span<double> scores) const {
  if (!HasNodeScores()) return;
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] += NodeScore(cls, nodes[i]);
}

double KubeScores::NodeScore(ClassId cls, NodeId node) const {
  if (!HasNodeScores()) return 0;
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  const int64_t score = ImageLocality(spec, cluster_.nodes[node], cluster_.nodes_by_name.size());
  return static_cast<double>(score) * static_cast<double>(weights_.image_locality);
}

bool KubeScores::Compute(ScorePart part, ClassId cls, std::span<const NodeId> nodes,
                         std::span<int64_t> scores) {
  auto each = [&](auto&& score) {
    std::transform(nodes.begin(), nodes.end(), scores.begin(), score);
    return true;
  };
  auto from_column = [&](const std::vector<int64_t>& column) {
    each([&](NodeId node) { return column.empty() ? 0 : column[node.value]; });
  };
  const ResourceScores::Asked asked = resources_.AskedBy(cls);
  switch (part) {
    case ScorePart::kLeastAllocated:
      return each([&](NodeId node) { return resources_.LeastAllocated(asked, node); });
    case ScorePart::kMostAllocated:
      return each([&](NodeId node) { return resources_.MostAllocated(asked, node); });
    case ScorePart::kBalancedAllocation:
      return resources_.HasBalanced(cls) &&
             each([&](NodeId node) { return resources_.Balanced(asked, node); });
    case ScorePart::kNodeAffinity:
      if (cluster_.specs[cluster_.classes[cls].spec].preferred_node_terms.empty()) return false;
      from_column(PreferencesOf(cls).affinity);
      Normalize(scores, false);
      return true;
    case ScorePart::kTaintToleration:
      from_column(PreferencesOf(cls).taints);
      Normalize(scores, true);
      return true;
    case ScorePart::kInterPodAffinity:
      return affinity_ && affinity_->Score(cls, nodes, scores);
    case ScorePart::kPodTopologySpread:
      if (!spread_ || !spread_->HasConstraints(cls)) return false;
      spread_->Score(cls, nodes, scores);
      return true;
    case ScorePart::kImageLocality:
      return each([&](NodeId node) {
        return ImageLocality(cluster_.specs[cluster_.classes[cls].spec], cluster_.nodes[node],
                             cluster_.nodes_by_name.size());
      });
    case ScorePart::kCount:
      break;
  }
  return false;
}

void KubeScores::Batch(TaskId task, std::span<const NodeId> nodes, std::span<double> scores) {
  view_.EnsureBuilt();
  const ClassId cls = cluster_.tasks[task].cls;
  // A preference that cannot be read leaves Kubernetes without any score: none of the nodes is the
  // best.
  if (weights_.node_affinity != 0 &&
      cluster_.specs[cluster_.classes[cls].spec].preferred_node_terms_broken) {
    std::fill(scores.begin(), scores.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  scratch_.resize(nodes.size());
  for (const ScorePart part : kBatchParts) {
    const int64_t weight = WeightOf(part);
    if (weight == 0 || !Compute(part, cls, nodes, scratch_)) continue;
    for (size_t i = 0; i < nodes.size(); ++i)
      scores[i] += static_cast<double>(scratch_[i] * weight);
  }
}

bool KubeScores::BatchIsNodeLocal(ClassId cls) {
  if (cluster_.specs[cluster_.classes[cls].spec].preferred_node_terms_broken) return false;
  if (weights_.topology_spread != 0 && spread_ && spread_->HasConstraints(cls)) return false;
  if (weights_.pod_affinity != 0 && affinity_ && affinity_->LooksAround(cls)) return false;
  const Preferences& preferences = PreferencesOf(cls);
  return (weights_.taint_toleration == 0 || preferences.taints.empty()) &&
         (weights_.node_affinity == 0 || preferences.affinity.empty());
}

void KubeScores::BatchEach(ClassId cls, std::span<const NodeId> nodes,
                           std::span<double> scores) const {
  view_.EnsureBuilt();
  // No node has a taint to avoid: all are the best there is.
  const int64_t taints = weights_.taint_toleration * 100;
  resources_.AddAll(resources_.AskedBy(cls),
                    {.least_allocated = weights_.least_allocated,
                     .most_allocated = weights_.most_allocated,
                     .balanced = resources_.HasBalanced(cls) ? weights_.balanced_allocation : 0},
                    taints, nodes, scores);
}

void KubeScores::DependsOn(ClassId cls, std::vector<uint64_t>& words) const {
  resources_.DependsOn(cls, words);
  if (weights_.image_locality == 0) return;
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  words.push_back(static_cast<uint64_t>(spec.container_count));
  for (const StrId image : spec.images) words.push_back(image.value);
}

std::optional<std::vector<int64_t>> KubeScores::Explain(ScorePart part, TaskId task,
                                                        std::span<const NodeId> nodes) {
  view_.EnsureBuilt();
  std::vector<int64_t> scores(nodes.size());
  if (!Compute(part, cluster_.tasks[task].cls, nodes, scores)) return {};
  return scores;
}

}  // namespace krafla
