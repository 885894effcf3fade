// The scheduling thread: takes what watches saw, runs a cycle when something may be decided, hands
// decisions to the writers.
//
// When a cycle runs: a change is followed by one after a short while in which more may come, longer
// when cycles are long, so that a cluster in motion does not keep a processor busy, and when nobody
// waits and nothing new has come, so that only statuses can follow; at the latest after the
// schedule period. Without changes only what has a time of its own (a window, a cooldown, an evict
// period) is a reason, and wakes the thread at that instant.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "kube/api_text.h"
#include "kube/clock_reports.h"
#include "kube/clock_skew.h"
#include "kube/clocks.h"
#include "kube/cluster_mirror.h"
#include "kube/effects.h"
#include "kube/eviction_reports.h"
#include "kube/heartbeat.h"
#include "kube/inbox.h"
#include "kube/quarantine_reports.h"
#include "kube/serve_metrics.h"
#include "kube/status_reports.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

class LiveScheduler final : public DecisionSink {
 public:
  using Clock = std::chrono::steady_clock;

  struct Parts {
    Inbox& inbox;
    ClusterMirror& mirror;
    Effects& effects;
    StatusReports& statuses;
    EventRecorder& events;
    ServeMetrics& metrics;
    ApiClient& client;
  };
  struct Options {
    std::chrono::milliseconds schedule_period{1000};
    std::chrono::milliseconds coalescing{10};
    std::chrono::milliseconds calm_coalescing{100};  // nobody waits
    std::function<bool()> may_write;                 // leads
    // The configuration, when its file has changed since the last call and is good.
    std::function<std::optional<SchedulerConfig>()> changed_config;
    std::function<void()> on_ready;  // synced, once
    // While the session is open.
    std::function<void(const Session& session, const std::vector<JobPhaseChange>& phases,
                       double wall_ms)>
        on_cycle;
    std::function<void(const std::string& line)> log;
    std::string default_queue = "default";
    ObjectRef scheduler;  // what events about the scheduler are about
    // Which evictions wait for the eviction limits, when that changes; empty: none does.
    std::function<void(const std::string& note)> on_waiting_evictions = {};
    QuarantineNote* quarantine_note = nullptr;  // for the pages
    // These actions are skipped from now on, because internal checks fail in them.
    std::function<void(const std::vector<std::string>& actions)> on_skip;
    Heartbeat* heartbeat = nullptr;   // told of each phase of the thread
    ClockSkew* clock_skew = nullptr;  // null: clocks are not compared
    ReadClocksFn clocks = &ReadClocks;
    // The thread looks at its clocks and says that it is alive at least so often.
    std::chrono::milliseconds longest_wait{10'000};
  };

  LiveScheduler(Parts parts, SchedulingLoop& loop, Options options);

  // Until Stop; then until everything that was begun is done, or `patience` is over. True: it is.
  bool Run(std::chrono::milliseconds patience);
  // From any thread, also more than once.
  void Stop();

  bool ready() const { return ready_; }
  // Run has ended because no cycle could be run.
  bool gave_up() const { return gave_up_; }

  // Another configuration is in force from now on.
  void SetConfig(SchedulerConfig config);
  // One cycle, due or not, and what follows from it.
  void RunCycle(Timestamp now);
  // Reports which objects are quarantined since the last call, and asks for nodes that are not left
  // out any longer.
  void FollowQuarantine() {
    ReadNodesAgain();
    quarantine_reports_.Follow(options_.may_write());
  }

  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override;

 private:
  // Takes what came until `until`; false: told to stop.
  bool Take(Clock::time_point until);
  // News of something that is there already, or goes: for nobody who waits no reason to hurry.
  bool IsKnown(const ObjectMessage& message) const;
  Clock::time_point NextWake() const;
  void MaybeRunCycle();
  void ReportPassedOver(const Cluster& c, JobId job);
  // Nothing can be scheduled for so long that another process should try.
  bool GivesUp();
  bool LeaveOut(const SchedulingLoop::BrokenObject& object);
  void CheckConfig();
  // What is left out no longer: the watch says nothing about an object that does not change.
  void ReadNodesAgain();
  void ReadNodeAgain(const std::string& name, const std::string& uid, int attempt);
  void CreateMissingQueues();
  void CreateQueue(const std::string& name, bool reclaimable, int attempt);
  bool Idle() const;
  void SetLevels();
  void Log(const std::string& line);
  void Enter(std::string_view phase) {
    if (options_.heartbeat != nullptr) options_.heartbeat->Enter(phase);
  }

  Parts parts_;
  SchedulingLoop& loop_;
  Options options_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> ready_ = false;
  bool queues_checked_ = false;
  bool led_ = false;
  bool has_led_ = false;  // at any time: the news of a pause count when it leads again
  ApiTextParser parser_;
  EvictionReports eviction_reports_;
  QuarantineReports quarantine_reports_;
  std::optional<Clock::time_point> no_cycle_since_;
  bool gave_up_ = false;
  ClockReports clock_reports_;
  std::optional<Clock::time_point> changed_since_;
  bool something_new_ = true;  // since the last cycle; see IsKnown
  Clock::time_point taken_at_;
  Clock::time_point config_check_;
  Clock::duration last_cycle_{};
  Clock::time_point cycle_begin_;
  // Decided by the cycle that runs: what volumes are chosen changes the cluster, after it.
  std::vector<BindOrder> binds_with_volumes_;
};

}  // namespace krafla
