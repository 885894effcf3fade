// Random clusters with a random scheduler configuration, small and full of corners. Everything
// follows from the shape: the same shape gives the same texts, on every machine.
//
// Nodes, queues and jobs each draw from a stream of their own, and a feature that is switched off
// still draws what it would have drawn. A case with one job or one feature less is therefore the
// same case otherwise, which is what makes shrinking useful.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace krafla::testing {

enum class Feature : uint8_t {
  kPriorities,
  kGangs,
  kRoles,
  kBestEffort,
  kGates,
  kTerminating,
  kFinished,
  kBound,
  kPreemptableMarks,
  kZones,
  kBudgets,
  kCooldowns,
  kPodBudgets,
  kSystemPods,
  kNodeSelectors,
  kTaints,
  kPodAffinity,
  kSpread,
  kHostPorts,
  kPodLimits,
  kExtendedResource,
  kClosedQueues,
  kCapability,
  kReclaimableFalse,
  kHierarchy,
  kNeverPreempts,
  kNominatedNodes,
  kOvercommittedNodes,
  kStrangers,
  kMinResources,
  kWaitingTimes,
  kSwitches,
  kTopologyAware,
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::kTopologyAware) + 1;
std::string_view ToString(Feature feature);

struct Shape {
  uint64_t seed = 0;
  int nodes = 2;
  int queues = 1;
  int jobs = 2;
  std::set<Feature> features;
};
std::string ToString(const Shape& shape);

// What a property wants of its clusters.
struct Wanted {
  std::string profile;              // empty: either
  bool pending_pods = true;         // false: every pod has a node or has ended
  std::string config;               // empty: a random one
  std::string more_config;          // added to its end
  std::set<Feature> features = {};  // in every cluster
  bool contest =
      false;  // a configuration under which jobs and queues take from each other more often
};

// What the texts say, kept apart for judges that must not trust the readers.
struct PodFacts {
  enum class State : uint8_t { kPending, kBound, kRunning, kTerminating, kFinished };
  std::string ns;
  std::string name;
  std::string job;  // "ns/name", empty for a stranger
  State state = State::kPending;
  std::map<std::string, std::string> labels;
  std::string priority_class;
  int64_t cooldown_seconds = -1;
  int64_t placed_seconds_ago = -1;  // by its PodScheduled condition
};
struct JobFacts {
  int min_member = 0;
  std::string min_available;  // the budget's, as the annotations that count say
  std::string max_unavailable;
};
struct PodBudgetFacts {
  std::string ns;
  std::string label;  // key of the selector's one requirement
  std::string value;
  int allowed = 0;
  std::set<std::string> disrupted;
};

struct RandomCluster {
  Shape shape;
  std::vector<std::string> objects;  // one manifest each, as JSON
  std::string config;
  std::string profile;
  std::string now;

  std::map<std::string, PodFacts> pods;  // by "ns/name"
  std::map<std::string, JobFacts> jobs;
  std::vector<PodBudgetFacts> pod_budgets;

  // The objects as a stream of YAML documents, in their order or in one that `order_seed` shuffles.
  std::string Text() const;
  std::string ShuffledText(uint64_t order_seed) const;
  // As a JSON list.
  std::string ListText() const;
  // Everything one needs to see a failure again.
  std::string Describe() const;
};

RandomCluster MakeCluster(const Shape& shape, const Wanted& wanted);

// A small generator whose numbers depend on nothing but the seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  // A stream of its own for object `index` of a kind.
  Dice(uint64_t seed, std::string_view kind, int index);

  uint64_t Next();
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(Below(static_cast<int>(from.size())))];
  }
  template <class T>
  void Shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[Next() % i]);
  }

 private:
  uint64_t state_;
};

}  // namespace krafla::testing
