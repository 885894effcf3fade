// The eviction limits within one cycle: how many evictions are left, and which were held back. A
// statement asks before it is committed, and counts as a whole or not at all.
//
// Owned by Session; asked by actions, explained by explain and the status writers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "config/eviction_limits.h"
#include "model/ids.h"
#include "session/cycle_memory.h"

namespace krafla {

class EvictionLimit {
 public:
  // A cycle begins.
  void Begin(const EvictionLimits& configured, const CycleMemory& memory);

  bool on() const { return on_; }
  // True: so many evictions fit, and count from now on. Otherwise they are held back, and the job
  // that needs them (invalid: none) waits for them.
  bool Take(int32_t evictions, bool is_drain, JobId for_job);
  // How many of a drain still fit.
  int32_t LeftForDrain() const;
  // Whether evictions of a closed zone count.
  bool CountsDrains() const { return on_ && !allowance_.limits.exempt_drains; }

  // Evictions of this cycle that count, and those that were held back.
  int32_t taken() const { return taken_; }
  int32_t held_back() const { return held_back_; }
  // Some of what was held back fits when evictions leave the window of a minute, or in a cycle of
  // its own.
  bool MinuteHelps() const { return minute_helps_; }
  bool NextCycleHelps() const { return next_cycle_helps_; }
  const CycleMemory::EvictionAllowance& allowance() const { return allowance_; }

  // Why a job waits for the limit; empty: it does not. Without numbers that change from cycle to
  // cycle, so that a condition stays the same.
  std::string WhyHeldBack(JobId job) const;
  // The same with what is left and when there is more.
  std::string WhyHeldBackNow(JobId job) const;
  // "100 evictions a minute and 50 a cycle"
  std::string DescribeLimits() const;

 private:
  int32_t Left() const;
  std::string Needs(int32_t evictions) const;

  bool on_ = false;
  CycleMemory::EvictionAllowance allowance_;
  int32_t taken_ = 0;
  int32_t held_back_ = 0;
  bool minute_helps_ = false;
  bool next_cycle_helps_ = false;
  std::unordered_map<JobId, int32_t> waiting_;  // evictions that each job needs
};

}  // namespace krafla
