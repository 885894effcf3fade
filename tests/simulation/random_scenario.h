// Random scenarios: a small cluster, jobs that fight over it, and troubles that end. Everything
// follows from the shape; jobs, nodes and troubles each draw from a stream of their own, so that a
// smaller case is the same case otherwise.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace krafla::testing {

enum class Trouble : uint8_t {
  kNodeLost,
  kCordon,
  kPodCrash,
  kSlowKubelet,
  kSlowTermination,
  kBindFails,
  kEvictFails,
  kClockJump,
};
inline constexpr int kTroubleCount = static_cast<int>(Trouble::kClockJump) + 1;

// What jobs and the configuration may have.
enum class Wish : uint8_t {
  kPriorities,
  kZones,
  kBudgets,
  kCooldowns,
  kQueues,
  kReclaim,
  kElastic,  // less than all pods are enough
  kJitter,
};
inline constexpr int kWishCount = static_cast<int>(Wish::kJitter) + 1;

struct ScenarioShape {
  uint64_t seed = 0;
  int nodes = 2;
  int jobs = 2;
  std::set<Trouble> troubles;
  std::set<Wish> wishes;
};

// All troubles have ended this long after the start.
inline constexpr int kTroubleHours = 5;
// By then every job is complete.
inline constexpr int kRunHours = 24;

// The scenario file. Jobs are small enough to run alone on the nodes that are always open.
std::string MakeScenario(const ScenarioShape& shape, int hours = kRunHours);

}  // namespace krafla::testing
