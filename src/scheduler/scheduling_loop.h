// The scheduler's loop, without a clock of its own: the same for the simulator and for a live
// cluster. Changes come in through LiveCluster, decisions go out through DecisionSink; whoever owns
// both decides when a cycle runs.
//
// One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "config/scheduler_config.h"
#include "session/session.h"

namespace krafla {

// The phase a PodGroup is to get, when it differs from what it has.
struct JobPhaseChange {
  JobId job;
  JobPhase before;
  JobPhase after;
};

// What a cycle decided, while its session is still open: ids are good during the call only, and
// LiveCluster must not be changed by it. A bind or an eviction that fails is told to LiveCluster
// afterwards, as the pod's true state.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) = 0;
};

class SchedulingLoop {
 public:
  SchedulingLoop(LiveCluster& live, SchedulerConfig config, TimeZone zone, Log& log);

  // Something may be decided now that was not decided by the last cycle: the cluster has changed
  // since (the last cycle's own decisions count), or a timer is due.
  bool IsDue(Timestamp now) const;
  // When a cycle is due although nothing changes: a window, a cooldown, an evict period, an SLA.
  std::optional<Timestamp> next_timer() const { return next_timer_; }

  // Runs one cycle. Afterwards the cluster holds what is assumed of it: bound pods are Binding,
  // evicted ones Releasing, jobs have their new phases; every other mark of the session is gone.
  void RunCycle(Timestamp now, DecisionSink& sink);

  void SetConfig(SchedulerConfig config);
  // Called when a session is about to open, with what it will remember: for whoever writes it down,
  // or sets it to what was written down.
  void SetBeforeSession(std::function<void(CycleMemory& memory)> before_session) {
    before_session_ = std::move(before_session);
  }
  const SchedulerConfig& config() const { return config_; }
  CycleMemory& memory() { return memory_; }
  uint64_t cycles() const { return cycles_; }

 private:
  LiveCluster& live_;
  SchedulerConfig config_;
  TimeZone zone_;
  Log& log_;
  CycleMemory memory_;
  std::function<void(CycleMemory& memory)> before_session_;
  std::optional<Timestamp> next_timer_;
  uint64_t seen_version_ = 0;
  uint64_t cycles_ = 0;
};

}  // namespace krafla
