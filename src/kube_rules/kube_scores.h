// Kubernetes' scores as Volcano's nodeorder plugin uses them. Each part gives whole numbers from 0
// to 100, some of them normalised over the candidates; parts are multiplied by their weights and
// added.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kube_rules/affinity_scores.h"
#include "kube_rules/kube_facts.h"
#include "kube_rules/resource_scores.h"
#include "kube_rules/spread_scores.h"

namespace krafla {

struct ScoreWeights {
  int64_t least_allocated = 1;
  int64_t most_allocated = 0;
  int64_t balanced_allocation = 1;
  int64_t node_affinity = 2;
  int64_t image_locality = 1;
  int64_t pod_affinity = 2;
  int64_t taint_toleration = 3;
  int64_t topology_spread = 2;
  bool hears_newcomers = false;  // terms of pods placed during the session count at once
};

enum class ScorePart : uint8_t {
  kLeastAllocated,
  kMostAllocated,
  kBalancedAllocation,
  kNodeAffinity,
  kInterPodAffinity,
  kTaintToleration,
  kPodTopologySpread,
  kImageLocality,
  kCount,
};
inline constexpr size_t kScorePartCount = static_cast<size_t>(ScorePart::kCount);
// The name Kubernetes has for it; with the strategy where one plugin has two.
std::string_view ToString(ScorePart part);

class KubeScores {
 public:
  // Before the session's first change. All references outlive this object.
  KubeScores(const Cluster& cluster, KubeView& view, const ScoreWeights& weights);

  // Image locality: of class and node alone.
  double NodeScore(ClassId cls, NodeId node) const;
  void AddNodeScores(ClassId cls, std::span<const NodeId> nodes, std::span<double> scores) const;
  // Everything else: adds to `scores`, one per node.
  void Batch(TaskId task, std::span<const NodeId> nodes, std::span<double> scores);
  // Then BatchEach gives what Batch gives, whatever the candidates.
  bool BatchIsNodeLocal(ClassId cls);
  void BatchEach(ClassId cls, std::span<const NodeId> nodes, std::span<double> scores) const;
  // Words that are equal for two classes only if NodeScore and BatchEach are, on every node.
  void DependsOn(ClassId cls, std::vector<uint64_t>& words) const;

  // One part over the candidates, not weighted; nothing when the part has nothing to say about this
  // pod.
  std::optional<std::vector<int64_t>> Explain(ScorePart part, TaskId task,
                                              std::span<const NodeId> nodes);

  // Between two sessions; false: has to be made anew.
  bool Follow(const ClusterChanges& changes);

 private:
  // What the nodes themselves are worth to a class, before normalisation.
  struct Preferences {
    std::vector<int64_t> taints;    // by NodeId; empty when all are 0
    std::vector<int64_t> affinity;  // by NodeId; empty when all are 0
  };
  const Preferences& PreferencesOf(ClassId cls);
  void LookForSoftTaints();
  bool HasNodeScores() const { return any_images_ && weights_.image_locality != 0; }
  int64_t WeightOf(ScorePart part) const;
  // False when skipped.
  bool Compute(ScorePart part, ClassId cls, std::span<const NodeId> nodes,
               std::span<int64_t> scores);

  const Cluster& cluster_;
  KubeView& view_;
  const ScoreWeights weights_;
  KubeFacts facts_;
  ResourceScores resources_;
  std::optional<AffinityScores> affinity_;  // only when some pod has pod affinity
  std::optional<SpreadScores> spread_;      // only when some pod has spread constraints
  bool any_soft_taints_ = false;
  bool any_images_ = false;
  Table<ClassId, std::unique_ptr<Preferences>> preferences_;
  std::vector<int64_t> scratch_;
};

}  // namespace krafla
