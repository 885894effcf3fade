// The scheduler's loop, without a clock of its own: the same for the simulator and for a live
// cluster. Changes come in through LiveCluster, decisions go out through DecisionSink; whoever owns
// both decides when a cycle runs.
//
// One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "config/scheduler_config.h"
#include "scheduler/eviction_ledger.h"
#include "scheduler/eviction_window.h"
#include "session/session.h"

namespace krafla {

struct CycleFailure;

// What a cycle decided, while its session is still open: ids are good during the call only, and
// LiveCluster must not be changed by it. A bind or an eviction that fails is told to LiveCluster
// afterwards, as the pod's true state; an eviction then ceases to count for budgets, evict periods
// and cooldowns.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) = 0;
  // A cycle that would decide what the last one did, which was nothing, and say the same about
  // everything.
  virtual void OnNothingNew() {}
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
  // When none is due and the last one decided nothing, nobody is searched for again: what a cycle
  // decides depends on the cluster, the configuration, the memory and, by way of timers, the time.
  void RunCycle(Timestamp now, DecisionSink& sink);

  // A reload whose first cycle would evict more pods than the eviction limits allow then is
  // announced (TakeAnnouncement): nothing is evicted for kAnnouncedNs, then within the limits.
  void SetConfig(SchedulerConfig config);
  static constexpr int64_t kAnnouncedNs = 60 * Timestamp::kNsPerSecond;
  struct Announcement {
    size_t evictions = 0;  // that the first cycle would make
    int32_t allowed = 0;   // by the limits, at that moment
    Timestamp begins;      // when evictions begin
  };
  // Made since the last call.
  std::optional<Announcement> TakeAnnouncement() {
    return std::exchange(announcement_, std::nullopt);
  }
  // The clock of the eviction limits, in ns: one that nobody sets. Without it the instants of the
  // cycles are used, and searches for the object that breaks a cycle have no time limit.
  void SetSteadyClock(std::function<int64_t()> clock) { steady_clock_ = std::move(clock); }
  // The limit per cycle holds for all cycles within this time: a cycle may follow a change at once.
  void SetSchedulePeriod(int64_t period_ns) { period_ns_ = period_ns; }
  // Cycles follow changes sooner than after a schedule period: pods beyond a job's minMember wait
  // while the jobs of a burst get their pods (session/surplus_wait.h). Off by default: with one
  // cycle a schedule period, each cycle sees most of a burst.
  void SetFollowsChanges(bool follows) { follows_changes_ = follows; }
  // The scheduler's clock differs from the API server's by so many seconds, positive when it is
  // ahead, and is not trusted: no zone is drained and no cooldown ends. None: it is trusted.
  void SetClockSkew(std::optional<int64_t> seconds);
  // The scheduler's clock was set by so much. What the loop remembers stays as long ago as it was,
  // and a cycle is due: timers are instants of that clock.
  void ClockWasSet(int64_t by_ns);
  // Called when a step of a cycle begins, see SessionOptions. Before the first cycle.
  void SetOnStep(std::function<void(std::string_view step)> on_step) {
    on_step_ = std::move(on_step);
  }
  // Somebody else has decided the cycles before the next one: pods that are being preempted count
  // as evicted at that one.
  void CountEvictionsUnderWay() { counts_under_way_ = true; }
  // After a cycle: what its eviction limit held back.
  struct HeldBack {
    bool on = false;              // there are limits
    int32_t evictions = 0;        // held back by the last cycle
    std::optional<Timestamp> at;  // when the next are allowed; none: nothing is held back
    std::string limits;           // in words
    bool announced = false;       // because of a reload
    // Not among them: "PodGroup a/b never evicts: it needs …", sorted.
    std::vector<std::string> never;
  };
  const HeldBack& held_back() const { return held_back_; }
  // Called when a session is about to open, with what it will remember: for whoever writes it down,
  // or sets it to what was written down. Every cycle is run in full then.
  void SetBeforeSession(std::function<void(CycleMemory& memory)> before_session) {
    before_session_ = std::move(before_session);
  }
  // An internal check that fails while a cycle decides ends neither the program nor the scheduling
  // of other objects (scheduling_loop_recovery.cpp).
  struct BrokenObject {
    LiveCluster::ObjectName::Kind kind = LiveCluster::ObjectName::Kind::kPodGroup;
    std::string ns;  // of nodes and queues: empty
    std::string name;
    std::string check;
  };
  struct RecoveryHooks {
    // Takes the object out of the live cluster; false: there is none.
    std::function<bool(const BrokenObject&)> quarantine;
    // These actions are left out of cycles from now on; empty: none is.
    std::function<void(const std::vector<std::string>&)> on_skip;
    std::function<void()> on_trial;  // before each trial of a search for the object
  };
  void RecoverFromFailedChecks(RecoveryHooks hooks);
  struct FailedCycle {
    std::string check;
    std::string where;  // "in action allocate at job a/b"
  };
  // Since the last call.
  std::vector<FailedCycle> TakeFailures();
  struct Trouble {
    std::vector<std::string> skipped_actions;  // for a while, after failed checks
    // Set: no cycle could be run since then, whatever was left out. `check`: the last that failed.
    std::optional<Timestamp> suspended_since;
    std::string check;
  };
  const Trouble& trouble() const;
  // For tests and drills: wraps the hooks of every plugin. Each cycle opens a session of its own.
  void SetWrapHooks(std::function<void(std::string_view plugin, PluginHooks& hooks)> wrap) {
    wrap_hooks_ = std::move(wrap);
  }
  // For tests: every cycle is run in full, due or not.
  void SearchAlways() { searches_always_ = true; }
  // For tests: each cycle is also run by a session that is opened afresh, and must decide the same.
  void CompareWithFreshSessions() { compares_ = true; }
  const SchedulerConfig& config() const { return config_; }
  CycleMemory& memory() { return memory_; }

  // The API has taken the last eviction of this pod ("namespace/name"). Whoever does not say so has
  // it found out when the pod is gone; one that was refused is known by the pod's true state.
  void EvictionTaken(const std::string& pod) { evictions_.Taken(pod); }
  // Jobs that evict each other in turn, found since the last call; each ring once in an hour.
  std::vector<EvictionLedger::Ring> TakeEvictionRings();
  // Jobs ("namespace/name") of which less is remembered than their last cycles put down, because
  // evictions were refused; each once.
  std::vector<std::string> TakeWithdrawn() { return evictions_.TakeWithdrawn(); }
  uint64_t cycles() const { return cycles_; }
  // Of these, how many went on with the session of the one before.
  uint64_t cycles_with_kept_session() const { return kept_; }

 private:
  struct BeforeCycle;
  struct Recovery {
    RecoveryHooks hooks;
    std::vector<FailedCycle> failures;
    Trouble trouble;
    Timestamp skipped_at;
    Timestamp skipped_until;
    Timestamp failed_at;
    Timestamp retry_at;
    int suspensions = 0;          // in a row
    CycleMemory tried;            // with which the last attempt opened its session
    int64_t search_until_ns = 0;  // by the steady clock: no trial begins later in this cycle
    // When jobs were quarantined, by the check that failed.
    std::map<std::string, std::vector<Timestamp>> jobs_by_place;
  };

  // A cycle up to its decisions.
  void Decide(Timestamp now);
  bool DecideRecovering(Timestamp now);
  bool LeaveOutCulprits(Timestamp now, const CycleFailure& failure);
  std::optional<CycleFailure> TryWithout(Timestamp now,
                                         std::span<const LiveCluster::ObjectName> left_out);
  bool SkipAction(const std::string& action, Timestamp now);
  void SetSkippedActions(std::vector<std::string> actions);
  const SchedulerConfig& ConfigInForce() const {
    return without_actions_ ? *without_actions_ : config_;
  }
  void ShiftRecovery(int64_t by_ns);
  void Suspend(Timestamp now, const CycleFailure& failure);
  void NoteFailure(const CycleFailure& failure);
  std::string DescribeStep(const CycleFailure& failure);
  void ConcludeRecovering(const std::function<void()>& rewind, const std::function<void()>& assume);
  void OpenSession(Timestamp now);
  void SetAllowance(Timestamp now);
  void AnnounceReload(Timestamp now);
  void NoteHeldBack(const Session& session);
  bool WouldRepeatItself(Timestamp now) const;

  LiveCluster& live_;
  SchedulerConfig config_;
  TimeZone zone_;
  Log& log_;
  CycleMemory memory_;
  std::function<void(CycleMemory& memory)> before_session_;
  EvictionLedger evictions_{memory_};
  EvictionWindow window_;
  std::function<int64_t()> steady_clock_;
  int64_t steady_ns_ = 0;  // of the cycle that runs, or the last one
  int64_t period_ns_ = Timestamp::kNsPerSecond;
  bool follows_changes_ = false;
  bool counts_under_way_ = false;
  bool reloaded_ = false;  // since the last cycle
  std::optional<int64_t> announced_until_;
  std::optional<Announcement> announcement_;
  HeldBack held_back_;
  std::function<void(std::string_view step)> on_step_;
  bool session_trusts_clock_ = true;
  // Kept from cycle to cycle: what it has computed follows the changes.
  std::unique_ptr<Session> session_;
  std::function<void(std::string_view plugin, PluginHooks& hooks)> wrap_hooks_;
  std::optional<SchedulerConfig> without_actions_;  // config_, while actions are skipped
  std::unique_ptr<Recovery> recovery_;              // null: a failed check ends the program
  bool compares_ = false;
  bool searches_always_ = false;
  bool decided_nothing_ = false;  // the last cycle
  Timestamp last_cycle_;
  CycleMemory memory_then_;  // as the last cycle left it
  std::optional<Timestamp> next_timer_;
  uint64_t seen_version_ = 0;
  uint64_t cycles_ = 0;
  uint64_t kept_ = 0;
};

}  // namespace krafla
