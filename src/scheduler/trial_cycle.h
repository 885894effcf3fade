// A cycle that is run to look at it: when it ends, the cluster is as it was before, conditions and
// phases of jobs included. Used by FreshCycle, and for reloads that are announced first.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "config/scheduler_config.h"
#include "session/log.h"
#include "session/session.h"

namespace krafla {

class TrialCycle {
 public:
  // Runs the cycle. `cluster` and `config` must outlive it, `memory` is copied.
  TrialCycle(Cluster& cluster, const SchedulerConfig& config, Timestamp now, const TimeZone& zone,
             const CycleMemory& memory);
  ~TrialCycle() noexcept(false);  // rolls back, as ~Statement does
  TrialCycle(const TrialCycle&) = delete;
  TrialCycle& operator=(const TrialCycle&) = delete;

  const Session& session() const { return *session_; }

 private:
  Cluster& cluster_;
  std::vector<std::pair<JobPhase, std::vector<JobCondition>>> before_;  // by job
  CycleMemory memory_;
  Log silent_{0};
  std::unique_ptr<Session> session_;
};

// How many pods the next cycle would evict under `config` without eviction limits.
size_t EvictionsOfOneCycle(Cluster& cluster, SchedulerConfig config, Timestamp now,
                           const TimeZone& zone, const CycleMemory& memory);

}  // namespace krafla
