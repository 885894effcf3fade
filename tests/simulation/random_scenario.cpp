#include "simulation/random_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace krafla::testing {

namespace {

constexpr int kCpuOfNode = 8;

class Stream {
 public:
  Stream(uint64_t seed, uint64_t purpose) : random_(seed * 1000 + purpose) {}
  int Between(int low, int high) {  // both may be drawn
    return low + static_cast<int>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool Chance(int percent) { return Between(1, 100) <= percent; }
  template <class T>
  T OneOf(std::initializer_list<T> list) {
    return *(list.begin() + Between(0, static_cast<int>(list.size()) - 1));
  }

 private:
  std::mt19937_64 random_;
};

std::string Header(const ScenarioShape& shape, int hours) {
  Stream draw(shape.seed, 1);
  // The nights in which clocks are set forward and back, and one in which they are not.
  const auto [start, zone] =
      draw.OneOf<std::pair<const char*, const char*>>({{"2026-03-28 23:00", "Europe/Berlin"},
                                                       {"2026-10-24 23:00", "Europe/Berlin"},
                                                       {"2026-03-10 20:00", "Asia/Shanghai"}});
  const int jitter = draw.Between(1, 9);
  std::string text = fmt::format("start: {}\ntimezone: {}\nuntil: {}h\nseed: {}\n", start, zone,
                                 hours, shape.seed % 1000);
  text += fmt::format("recreateAfter: {}s\nkubelet: {{startup: {}s, termination: {}s",
                      draw.Between(1, 5), draw.Between(1, 20), draw.Between(1, 30));
  if (shape.wishes.contains(Wish::kJitter)) text += fmt::format(", jitter: 0.{}", jitter);
  return text + "}\n";
}

int OwnNodes(const ScenarioShape& shape) {
  return shape.wishes.contains(Wish::kZones) ? (shape.nodes + 1) / 2 : shape.nodes;
}

struct Weights {
  int red = 1;
  int blue = 1;
};

Weights QueueWeights(const ScenarioShape& shape) {
  Stream draw(shape.seed, 4);
  return {draw.Between(1, 3), draw.Between(1, 3)};
}

std::string ClusterText(const ScenarioShape& shape) {
  Stream draw(shape.seed, 2);
  std::string text = "cluster:\n  nodes:\n";
  for (int n = 1; n <= shape.nodes; ++n) {
    const bool own = n <= OwnNodes(shape);
    text += fmt::format("  - {{name: n-{}, cpu: {}, memory: 32Gi, pods: {}{}}}\n", n, kCpuOfNode,
                        draw.Between(20, 30), own ? "" : ", zone: rz1");
  }
  const Weights weights = QueueWeights(shape);
  std::string cooldown;
  if (shape.wishes.contains(Wish::kCooldowns) && draw.Chance(30))
    cooldown =
        fmt::format(", annotations: {{volcano.sh/cooldown-time: {}s}}", draw.Between(10, 400));
  text += fmt::format("queues:\n  red: {{weight: {}{}}}\n  blue: {{weight: {}}}\n", weights.red,
                      cooldown, weights.blue);
  return text + "priorityClasses: {low: 10, middle: 100, high: 1000}\n";
}

std::string CooldownArguments(const ScenarioShape& shape) {
  Stream draw(shape.seed, 5);
  if (!shape.wishes.contains(Wish::kCooldowns)) return "";
  std::string text;
  if (draw.Chance(40))
    text += fmt::format("        cdp.default-cooldown: {}s\n", draw.Between(10, 300));
  if (draw.Chance(50)) text += fmt::format("        cdp.max-evictions: {}\n", draw.Between(1, 3));
  if (draw.Chance(40)) text += fmt::format("        cdp.backoff: {}\n", draw.Between(2, 4));
  if (draw.Chance(60))
    text += fmt::format("        cdp.eviction-period: {}m\n", draw.Between(2, 20));
  return text.empty() ? text : "      arguments:\n" + text;
}

std::string ConfigText(const ScenarioShape& shape) {
  Stream draw(shape.seed, 3);
  // Never preempt before allocate: what preempt finds room for without evicting anybody it only
  // marks, in every cycle anew, and allocate passes over it.
  std::string actions =
      draw.Chance(50) ? "enqueue, allocate, preempt" : "enqueue, allocate, backfill, preempt";
  if (shape.wishes.contains(Wish::kReclaim)) actions += ", reclaim";
  const char* const window =
      draw.OneOf<const char*>({"23:30-02:30", "00:30-03:30", "21:00-22:30", "01:00-02:10"});
  std::string text =
      fmt::format("scheduler:\n  actions: \"{}\"\n  tiers:\n  - plugins:\n", actions);
  text += "    - name: priority\n    - name: gang\n    - name: conformance\n    - name: cdp\n";
  text += CooldownArguments(shape);
  // Always there, for its budgets; without a node in the zone it has nothing to open or close.
  text += fmt::format(
      "    - name: tdm\n      arguments:\n        tdm.revocable-zone.rz1: \"{}\"\n"
      "        tdm.evict.period: {}s\n",
      window, draw.OneOf({15, 60, 180}));
  text += "  - plugins:\n    - name: predicates\n";
  if (draw.Chance(50)) text += "    - name: drf\n";
  if (shape.wishes.contains(Wish::kReclaim) || draw.Chance(50)) text += "    - name: proportion\n";
  text += draw.Chance(50) ? "    - name: binpack\n" : "    - name: nodeorder\n";
  return text;
}

std::string JobText(const ScenarioShape& shape, int number) {
  Stream draw(shape.seed, 100 + static_cast<uint64_t>(number));
  const auto wished = [&](Wish wish, int percent) {
    return draw.Chance(percent) && shape.wishes.contains(wish);
  };
  const bool is_red = draw.Chance(50);
  const bool in_queue = shape.wishes.contains(Wish::kQueues);
  const int cpu = draw.Between(1, in_queue ? 2 : 4);
  int room = OwnNodes(shape) * (kCpuOfNode / cpu);
  if (in_queue) {
    // A gang that is larger than what its queue deserves waits for as long as others want theirs.
    const Weights weights = QueueWeights(shape);
    room = OwnNodes(shape) * kCpuOfNode * (is_red ? weights.red : weights.blue) /
           (weights.red + weights.blue) / cpu;
  }
  const int replicas = std::min(room, draw.Between(1, 8));
  const int least = draw.Between(1, replicas);
  std::string text =
      fmt::format("- {{job: team/job-{}, at: +{}s, replicas: {}, cpu: {}, memory: 1Gi", number,
                  draw.Between(0, 3600), replicas, cpu);
  const int short_run = draw.Between(1, 20);
  text +=
      fmt::format(", runTime: {{uniform: [{}m, {}m]}}", short_run, short_run + draw.Between(1, 20));
  if (wished(Wish::kElastic, 60)) text += fmt::format(", minAvailable: {}", least);
  if (draw.Chance(40)) text += ", keepsWork: true";
  const char* const priority = draw.OneOf<const char*>({"low", "middle", "high"});
  if (wished(Wish::kPriorities, 100)) text += fmt::format(", priorityClass: {}", priority);
  if (in_queue) text += fmt::format(", queue: {}", is_red ? "red" : "blue");
  if (draw.Chance(60)) text += ", preemptable: true";
  if (wished(Wish::kZones, 60)) text += ", revocableZone: \"*\"";
  const int cooldown = draw.Between(1, 10);
  if (wished(Wish::kCooldowns, 50)) text += fmt::format(", cooldown: {}m", cooldown);
  const char* const budget = draw.OneOf<const char*>(
      {"maxUnavailable: 1", "maxUnavailable: 50%", "minAvailable: 1", "minAvailable: 30%"});
  if (wished(Wish::kBudgets, 60)) text += fmt::format(", budget: {{{}}}", budget);
  return text + "}\n";
}

std::string TroubleText(const ScenarioShape& shape, Trouble trouble) {
  Stream draw(shape.seed, 200 + static_cast<uint64_t>(trouble));
  const int at = draw.Between(0, 2 * 3600);
  const int lasts = draw.Between(10, 3600);
  const int delay = draw.Between(60, 900);
  const int node = draw.Between(1, shape.nodes);
  const std::string when = fmt::format("at: +{}s, for: {}s", at, lasts);
  switch (trouble) {
    case Trouble::kNodeLost:
      return fmt::format("- {{nodeLost: n-{}, {}}}\n", node, when);
    case Trouble::kCordon:
      return fmt::format("- {{cordon: n-{}, {}}}\n", node, when);
    case Trouble::kPodCrash:
      return fmt::format("- {{podCrash: \"team/*\", at: +{}s}}\n", at);
    case Trouble::kSlowKubelet:
      return fmt::format("- {{slowKubelet: \"*\", delay: {}s, {}}}\n", delay, when);
    case Trouble::kSlowTermination:
      return fmt::format("- {{slowTermination: \"*\", delay: {}s, {}}}\n", delay, when);
    case Trouble::kBindFails:
      return fmt::format("- {{bindFails: \"*\", probability: 0.{}, {}}}\n", draw.Between(1, 9),
                         when);
    case Trouble::kEvictFails:
      return fmt::format("- {{evictFails: \"*\", probability: 0.{}, {}}}\n", draw.Between(1, 9),
                         when);
    case Trouble::kClockJump:
      return fmt::format("- {{clockJump: {}m, at: +{}s}}\n", draw.Between(10, 180), at);
  }
  return "";
}

}  // namespace

std::string MakeScenario(const ScenarioShape& shape, int hours) {
  std::string text = Header(shape, hours) + ClusterText(shape) + ConfigText(shape) + "workload:\n";
  for (int job = 1; job <= shape.jobs; ++job) text += JobText(shape, job);
  if (!shape.troubles.empty()) text += "faults:\n";
  for (const Trouble trouble : shape.troubles) text += TroubleText(shape, trouble);
  return text;
}

}  // namespace krafla::testing
