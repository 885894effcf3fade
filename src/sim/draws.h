// Chance, from a seed. A draw depends on what it is for and on nothing else: neither on how many
// draws came before it nor on their order. Two runs of one workload under different configurations
// therefore have the same run times, and what differs is the scheduler's doing.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/scenario.h"

namespace krafla {

class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}

  // From 0 to below 1. `purpose` and `name` say what for; `number` which one of several.
  double Unit(std::string_view purpose, std::string_view name, uint64_t number) const;

 private:
  uint64_t seed_;
};

inline constexpr int64_t kForeverNs = -1;

// How long a pod of this kind runs, to the millisecond; kForeverNs for one that never ends.
int64_t DrawRunTimeNs(const RunTime& run_time, double unit);

// Between (1 - jitter) and (1 + jitter) times the value, to the millisecond when there is jitter.
int64_t WithJitterNs(int64_t value_ns, double jitter, double unit);

// The distance of two arrivals of a Poisson process, to the millisecond, at least one.
int64_t DrawGapNs(int64_t mean_ns, double unit);

}  // namespace krafla
