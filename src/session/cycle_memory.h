// What outlives a cycle. A restarted scheduler begins with an empty one.
//
// Plain values under plain names, so that it can be written down and read back. It does not grow
// with time: whoever keeps something here drops it at the end of a cycle once it says no more than
// its absence would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/timestamp.h"
#include "config/eviction_limits.h"

namespace krafla {

struct CycleMemory {
  // tdm: the clock between two steps of emptying a zone.
  struct ZoneEviction {
    std::string zone;  // empty: the one clock for all zones (Volcano)
    Timestamp at;
  };
  std::vector<ZoneEviction> last_evictions;

  // tdm: a job that has lost pods, whoever evicted them.
  struct JobLoss {
    std::string job;      // "namespace/name"
    Timestamp at;         // the last eviction
    int64_t size = 0;     // how many pods it had then
    bool ending = false;  // the last cycle saw pods of it end
    Timestamp ended;      // the first cycle that saw none of them any more
  };
  std::vector<JobLoss> job_losses;  // by job

  // cdp: when a job lost pods to other jobs; one instant per cycle, the earliest first.
  struct JobEvictions {
    std::string job;
    std::vector<Timestamp> times;
  };
  std::vector<JobEvictions> job_evictions;  // by job

  // What eviction limits leave the next cycle; set before each by whoever knows of the evictions of
  // the last minute. Absent: the cycle has what the limits of its configuration allow at most.
  struct EvictionAllowance {
    EvictionLimits limits;
    int32_t minute_left = 0;  // of limits.per_minute
    int32_t cycle_left = 0;   // of limits.per_cycle
    bool held = false;        // a reload was announced: none before `more_at`, drains neither
    Timestamp more_at;        // when minute_left grows by itself; absent: it is full

    friend bool operator==(const EvictionAllowance&, const EvictionAllowance&) = default;
  };
  std::optional<EvictionAllowance> allowance;

  // Present while the scheduler's clock differs too much from the API server's: by so many seconds,
  // positive when it is ahead. Then no zone is drained and no cooldown ends.
  std::optional<int64_t> clock_skew_s;

  const Timestamp* LastEviction(std::string_view zone) const;
  void SetLastEviction(std::string_view zone, Timestamp at);

  // The clock was set by so much: what was remembered stays as long ago as it was.
  void ShiftBy(int64_t ns);

  const JobLoss* FindJobLoss(std::string_view job) const;
  const JobEvictions* FindJobEvictions(std::string_view job) const;
  // The entry of a job, made when there is none.
  JobLoss& JobLossOf(std::string_view job);
  JobEvictions& JobEvictionsOf(std::string_view job);
};

// `at` moved by so much; an absent instant stays absent.
Timestamp Shifted(Timestamp at, int64_t by_ns);

// "clock skew of 45 s against the API server"
std::string DescribeClockSkew(int64_t seconds);

}  // namespace krafla
