// Prefers the node that a task fills best: per kind the fraction of the node that would be used,
// averaged by weight.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/plugin.h"
#include "session/session.h"

namespace krafla {

namespace {

constexpr std::string_view kWeightKey = "binpack.weight";
constexpr std::string_view kCpuKey = "binpack.cpu";
constexpr std::string_view kMemoryKey = "binpack.memory";
constexpr std::string_view kResourcesKey = "binpack.resources";
constexpr std::string_view kResourcesPrefix = "binpack.resources.";
constexpr double kMaxNodeScore = 100;

struct KindWeight {
  std::string name;
  int kind = 0;
  int64_t weight = 1;
};

class BinpackPlugin final : public Plugin {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {
        {.key = std::string(kWeightKey),
         .type = ArgumentType::kInt,
         .help = "weight of this plugin among the node scores; 0 switches it off"},
        {.key = std::string(kCpuKey), .type = ArgumentType::kInt, .help = "weight of cpu"},
        {.key = std::string(kMemoryKey), .type = ArgumentType::kInt, .help = "weight of memory"},
        {.key = std::string(kResourcesKey),
         .type = ArgumentType::kString,
         .help = "further resources that count, separated by commas"},
        {.key = std::string(kResourcesPrefix) + "*",
         .type = ArgumentType::kInt,
         .help = "weight of one of them: binpack.resources.nvidia.com/gpu"},
    };
  }

  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;

 private:
  void ReadWeights(const krafla::Arguments& arguments);
  double Score(ClassId cls, NodeId node) const;

  const Cluster* cluster_ = nullptr;
  int64_t weight_ = 1;
  // cpu, memory, then by name: the order in which scores are added, which decides their last bit.
  std::vector<KindWeight> kinds_;
};

// A weight below 0 counts as 1.
int64_t ReadKindWeight(const Arguments& arguments, std::string_view key) {
  const int64_t weight = arguments.GetInt(key).value_or(1);
  return weight < 0 ? 1 : weight;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view name = Trim(text.substr(0, comma));
    if (!name.empty()) names.emplace_back(name);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void BinpackPlugin::ReadWeights(const krafla::Arguments& arguments) {
  weight_ = arguments.GetInt(kWeightKey).value_or(1);
  kinds_ = {{"cpu", ResourceKinds::kCpu, ReadKindWeight(arguments, kCpuKey)},
            {"memory", ResourceKinds::kMemory, ReadKindWeight(arguments, kMemoryKey)}};
  for (const std::string& name : SplitList(arguments.GetString(kResourcesKey).value_or(""))) {
    const int kind = cluster_->kinds.Find(name);
    // cpu and memory have keys of their own; of what the cluster does not know nobody asks for any.
    if (kind < 0 || kind == ResourceKinds::kCpu || kind == ResourceKinds::kMemory) continue;
    kinds_.push_back(
        {name, kind, ReadKindWeight(arguments, std::string(kResourcesPrefix).append(name))});
  }
}

void BinpackPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  cluster_ = &session.cluster;
  ReadWeights(option.arguments);
  if (session.log.V(4)) {
    for (const KindWeight& entry : kinds_) {
      if (cluster_->total.Get(entry.kind) > 0) continue;
      session.log.Line("resource has a binpack weight but no node has it: resource={}", entry.name);
    }
  }
  if (weight_ == 0) return;
  hooks.score.emplace();
  hooks.lasting.emplace();  // the weights are the configuration's
  hooks.score->node = [this](ClassId cls, NodeId node) { return Score(cls, node); };
  hooks.score->depends_on = [this](ClassId cls, std::vector<uint64_t>& words) {
    AppendWords(cluster_->classes[cls].request, words);
  };
}

double BinpackPlugin::Score(ClassId cls, NodeId node) const {
  const Resource& request = cluster_->classes[cls].request;
  const Resource& allocatable = cluster_->allocatable[node];
  const Resource& used = cluster_->used[node];
  double score = 0;
  int64_t weights = 0;
  for (const KindWeight& entry : kinds_) {
    const double wanted = request.Get(entry.kind);
    if (wanted < kTolerance) continue;
    const double capacity = allocatable.Get(entry.kind);
    weights += entry.weight;
    if (capacity == 0 || entry.weight == 0) continue;
    const double used_then = wanted + used.Get(entry.kind);
    // It does not fit now, so how well it would fit says nothing.
    if (used_then > capacity) return 0;
    score += used_then * static_cast<double>(entry.weight) / capacity;
  }
  if (weights > 0) score /= static_cast<double>(weights);
  return score * (kMaxNodeScore * static_cast<double>(weight_));
}

}  // namespace

std::unique_ptr<Plugin> Make_binpack_plugin() {
  return std::make_unique<BinpackPlugin>();
}

}  // namespace krafla
