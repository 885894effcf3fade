// nodeorder: how well a pod sits on a node, as Kubernetes' own scores see it.
#include <memory>
#include <optional>
#include <vector>

#include "kube_rules/kube_scores.h"
#include "session/plugin.h"
#include "session/session.h"

namespace krafla {

namespace {

struct WeightArgument {
  const char* key;
  int64_t ScoreWeights::* member;
  const char* help;
};

constexpr WeightArgument kWeights[] = {
    {"leastrequested.weight", &ScoreWeights::least_allocated,
     "weight of free cpu and memory; default 1"},
    {"mostrequested.weight", &ScoreWeights::most_allocated,
     "weight of used cpu and memory; default 0"},
    {"balancedresource.weight", &ScoreWeights::balanced_allocation,
     "weight of using cpu, memory and GPUs evenly; default 1"},
    {"nodeaffinity.weight", &ScoreWeights::node_affinity,
     "weight of preferred node affinity; default 2"},
    {"podaffinity.weight", &ScoreWeights::pod_affinity,
     "weight of preferred pod affinity and anti-affinity; default 2"},
    {"tainttoleration.weight", &ScoreWeights::taint_toleration,
     "weight of avoiding PreferNoSchedule taints; default 3"},
    {"imagelocality.weight", &ScoreWeights::image_locality,
     "weight of images that are on the node already; default 1"},
    {"podtopologyspread.weight", &ScoreWeights::topology_spread,
     "weight of topology spread constraints that need not hold; default 2"},
};

class NodeOrderPlugin final : public Plugin {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    std::vector<ArgumentSpec> specs;
    for (const WeightArgument& argument : kWeights)
      specs.push_back({argument.key, ArgumentType::kInt, argument.help});
    return specs;
  }

  bool Reopen(Session&, const ClusterChanges& changes) override { return scores_->Follow(changes); }

  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override {
    ScoreWeights weights;
    for (const WeightArgument& argument : kWeights)
      if (const std::optional<int64_t> value = option.arguments.GetInt(argument.key))
        weights.*argument.member = *value;
    weights.hears_newcomers = session.compat.newcomers_affinity;
    scores_.emplace(session.cluster, session.kube, weights);

    ScoreHook& score = hooks.score.emplace();
    hooks.lasting.emplace();  // nothing else
    score.node = [this](ClassId cls, NodeId node) { return scores_->NodeScore(cls, node); };
    score.node_each = [this](ClassId cls, std::span<const NodeId> nodes, std::span<double> scores) {
      scores_->AddNodeScores(cls, nodes, scores);
    };
    score.batch = [this](TaskId task, std::span<const NodeId> nodes, std::span<double> scores) {
      scores_->Batch(task, nodes, scores);
    };
    score.batch_is_node_local = [this](ClassId cls) { return scores_->BatchIsNodeLocal(cls); };
    score.batch_each = [this](ClassId cls, std::span<const NodeId> nodes,
                              std::span<double> scores) { scores_->BatchEach(cls, nodes, scores); };
    score.depends_on = [this](ClassId cls, std::vector<uint64_t>& words) {
      scores_->DependsOn(cls, words);
    };
  }

 private:
  std::optional<KubeScores> scores_;
};

}  // namespace

std::unique_ptr<Plugin> Make_nodeorder_plugin() {
  return std::make_unique<NodeOrderPlugin>();
}

}  // namespace krafla
