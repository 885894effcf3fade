#include "scheduler/scheduling_loop.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/fresh_cycle.h"
#include "scheduler/trial_cycle.h"

namespace krafla {

SchedulingLoop::SchedulingLoop(LiveCluster& live, SchedulerConfig config, TimeZone zone, Log& log)
    : live_(live), config_(std::move(config)), zone_(std::move(zone)), log_(log) {
#ifdef KRAFLA_VERIFY
  compares_ = searches_always_ = true;
#endif
}

bool SchedulingLoop::IsDue(Timestamp now) const {
  // A clock that was set back ends the pause.
  if (recovery_ != nullptr && recovery_->trouble.suspended_since)
    return now >= recovery_->retry_at || now < recovery_->failed_at;
  return seen_version_ != live_.version() || (next_timer_ && *next_timer_ <= now);
}

void SchedulingLoop::SetConfig(SchedulerConfig config) {
  session_.reset();
  // Before its first cycle a scheduler has nothing to compare a configuration with.
  reloaded_ = cycles_ > 0;
  config_ = std::move(config);
  without_actions_.reset();
  seen_version_ = 0;  // every decision may be another one now
  if (recovery_ == nullptr) return;
  // Another configuration may not meet what failed.
  recovery_->trouble = {};
  recovery_->suspensions = 0;
  recovery_->jobs_by_place.clear();
}

void SchedulingLoop::SetClockSkew(std::optional<int64_t> seconds) {
  if (memory_.clock_skew_s == seconds) return;
  // Another size of the skew changes words only; with the next cycle is soon enough.
  if (memory_.clock_skew_s.has_value() != seconds.has_value()) seen_version_ = 0;
  memory_.clock_skew_s = seconds;
}

void SchedulingLoop::ClockWasSet(int64_t by_ns) {
  memory_.ShiftBy(by_ns);
  evictions_.ShiftBy(by_ns);
  window_.ShiftBy(by_ns);
  if (next_timer_) next_timer_ = Shifted(*next_timer_, by_ns);
  if (recovery_ != nullptr) ShiftRecovery(by_ns);
  seen_version_ = 0;
}

std::vector<EvictionLedger::Ring> SchedulingLoop::TakeEvictionRings() {
  std::vector<EvictionLedger::Ring> rings = evictions_.TakeRings();
  if (log_.V(2))
    for (const EvictionLedger::Ring& ring : rings)
      log_.Line("{}: {}",
                ring.is_storm ? "Evictions lead nowhere" : "Jobs evict each other in turn",
                ring.text);
  return rings;
}

// What the limits leave the next cycle. Whoever replays or explains it finds it in the memory.
void SchedulingLoop::SetAllowance(Timestamp now) {
  const EvictionLimits& limits = config_.eviction_limits;
  steady_ns_ = steady_clock_ ? steady_clock_() : now.ns;
  for (const Timestamp cycle : evictions_.TakeRefunds()) window_.Refund(cycle);
  if (!limits.Any()) {
    memory_.allowance.reset();
    announced_until_.reset();
    reloaded_ = counts_under_way_ = false;
    return;
  }
  if (std::exchange(counts_under_way_, false)) {
    const Cluster& cluster = live_.cluster();
    window_.Add(steady_ns_, now,
                static_cast<int32_t>(
                    std::count_if(cluster.tasks.begin(), cluster.tasks.end(), [](const Task& task) {
                      return task.status == TaskStatus::kReleasing &&
                             task.terminating_by_preemption;
                    })));
  }
  CycleMemory::EvictionAllowance allowance{.limits = limits};
  const int32_t used = window_.CountAt(steady_ns_);
  allowance.minute_left = std::max(limits.per_minute - used, 0);
  allowance.cycle_left =
      std::max(limits.per_cycle - window_.CountAfter(steady_ns_ - period_ns_), 0);
  const auto wall = [&](int64_t steady_ns) { return Timestamp{now.ns + (steady_ns - steady_ns_)}; };
  if (limits.per_minute > 0 && window_.ShrinksAt()) allowance.more_at = wall(*window_.ShrinksAt());
  memory_.allowance = allowance;
  if (std::exchange(reloaded_, false)) AnnounceReload(now);
  if (announced_until_ && *announced_until_ <= steady_ns_) announced_until_.reset();
  if (!announced_until_) return;
  memory_.allowance->held = true;
  memory_.allowance->more_at = wall(*announced_until_);
}

void SchedulingLoop::AnnounceReload(Timestamp now) {
  announced_until_.reset();
  const CycleMemory::EvictionAllowance& allowance = *memory_.allowance;
  const EvictionLimits& limits = allowance.limits;
  int32_t allowed = std::numeric_limits<int32_t>::max();
  if (limits.per_cycle > 0) allowed = allowance.cycle_left;
  if (limits.per_minute > 0) allowed = std::min(allowed, allowance.minute_left);
  const size_t evictions = EvictionsOfOneCycle(live_.cluster(), config_, now, zone_, memory_);
  if (std::cmp_less_equal(evictions, allowed)) return;
  announced_until_ = steady_ns_ + kAnnouncedNs;
  announcement_ = {
      .evictions = evictions, .allowed = allowed, .begins = Timestamp{now.ns + kAnnouncedNs}};
  if (log_.V(2))
    log_.Line(
        "The configuration was reloaded, and its first cycle would evict {} pods: more than "
        "the {} that the limits allow. Evictions begin at {}",
        evictions, allowed, FormatRfc3339(announcement_->begins));
}

void SchedulingLoop::NoteHeldBack(const Session& session) {
  const EvictionLimit& limit = session.eviction_limit;
  held_back_ = {.on = limit.on()};
  if (!limit.on()) return;
  window_.Add(steady_ns_, session.now, limit.taken());
  held_back_.limits = limit.DescribeLimits();
  held_back_.announced = limit.allowance().held;
  if (limit.held_back() > 0) {
    for (const JobId id : session.cluster.jobs_by_name) {
      const std::string why = limit.WhyHeldBack(id);
      // No instant at which there would be more is added to it.
      if (!why.empty() && why == limit.WhyHeldBackNow(id))
        held_back_.never.push_back(
            fmt::format("PodGroup {} never evicts: {}", session.cluster.JobKey(id), why));
    }
    if (limit.NextCycleHelps() || limit.MinuteHelps()) held_back_.evictions = limit.held_back();
  }
  std::optional<Timestamp> at;
  if (limit.allowance().held) {
    if (held_back_.evictions > 0) at = limit.allowance().more_at;
  } else if (limit.NextCycleHelps()) {
    // The limit of a cycle counts what came within the last period: it frees up from its first on.
    const int64_t first = window_.FirstAfter(steady_ns_ - period_ns_).value_or(steady_ns_);
    at = Timestamp{session.now.ns + (first + period_ns_ - steady_ns_)};
  } else if (limit.MinuteHelps()) {
    const std::optional<int64_t> shrinks = window_.ShrinksAt();
    at = shrinks ? Timestamp{session.now.ns + (*shrinks - steady_ns_)} : limit.allowance().more_at;
  }
  if (!at || !at->Present()) return;
  held_back_.at = at;
  if (!next_timer_ || *at < *next_timer_) next_timer_ = at;
}

void SchedulingLoop::OpenSession(Timestamp now) {
  Cluster& cluster = live_.cluster();
  const ClusterChanges changes = live_.TakeChanges();
  // Answers that are kept know nothing of the clock. The memory may have been set by a replay.
  if (std::exchange(session_trusts_clock_, !memory_.clock_skew_s) ==
      memory_.clock_skew_s.has_value())
    session_.reset();
  if (session_ != nullptr && !wrap_hooks_ && session_->Reopen(now, changes)) {
    ++kept_;
    return;
  }
  session_.reset();
  session_ = std::make_unique<Session>(cluster, ConfigInForce(),
                                       SessionOptions{.now = now,
                                                      .zone = zone_,
                                                      .memory = &memory_,
                                                      .make_plugin = {},
                                                      .on_step = on_step_,
                                                      .wrap_hooks = wrap_hooks_},
                                       log_);
  session_->NotePhases();
}

namespace {

bool IsSame(const CycleMemory& a, const CycleMemory& b) {
  const auto same = [](const auto& left, const auto& right, auto&& equal) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), equal);
  };
  return same(a.last_evictions, b.last_evictions,
              [](const auto& l, const auto& r) { return l.zone == r.zone && l.at == r.at; }) &&
         same(a.job_losses, b.job_losses,
              [](const auto& l, const auto& r) {
                return l.job == r.job && l.at == r.at && l.size == r.size && l.ending == r.ending &&
                       l.ended == r.ended;
              }) &&
         same(a.job_evictions, b.job_evictions,
              [](const auto& l, const auto& r) { return l.job == r.job && l.times == r.times; }) &&
         a.admissions == b.admissions && a.surplus_waits == b.surplus_waits;
}

}  // namespace

// A cycle's memory of its own (clocks that are dropped when they have run out) changes nothing that
// is decided before the next timer.
bool SchedulingLoop::WouldRepeatItself(Timestamp now) const {
  return decided_nothing_ && !searches_always_ && !before_session_ && !IsDue(now) &&
         now >= last_cycle_ && IsSame(memory_, memory_then_);
}

void SchedulingLoop::Decide(Timestamp now) {
  SetAllowance(now);
  memory_.surplus_wait_ns = follows_changes_ ? period_ns_ : 0;
  if (before_session_) before_session_(memory_);
  if (recovery_ != nullptr) recovery_->tried = memory_;
  std::optional<FreshCycle> fresh;
  if (compares_) fresh.emplace(live_.cluster(), ConfigInForce(), now, zone_, memory_);
  OpenSession(now);
  session_->RunActions();
  next_timer_ = session_->NextTimer();
  if (fresh) fresh->MustBeTheSameAs(*session_, next_timer_);
}

void SchedulingLoop::RunCycle(Timestamp now, DecisionSink& sink) {
  evictions_.Settle(live_);
  if (WouldRepeatItself(now)) {
    ++cycles_;
    sink.OnNothingNew();
    return;
  }
  if (recovery_ == nullptr) {
    Decide(now);
  } else if (!DecideRecovering(now)) {
    return;
  }
  NoteHeldBack(*session_);
  const std::vector<JobPhaseChange> phases = session_->phase_changes();
  // What the sink is told of happens after this cycle, whatever it does to the cluster at once.
  seen_version_ = live_.version();
  evictions_.Note(*session_);
  sink.OnCycle(*session_, phases);
  const Plan plan = std::move(session_->plan);
  ++cycles_;
  last_cycle_ = now;
  decided_nothing_ = phases.empty() && plan.evictions.empty() && plan.binds.empty();
  // Who was only pipelined, or evicted for a job that did not get its place, is where it was.
  const auto rewind = [&] {
    session_->Rewind();
    memory_then_ = memory_;
  };
  const auto assume = [&] {
    for (const JobPhaseChange& change : phases) live_.AssumePhase(change.job, change.after);
    for (const Eviction& eviction : plan.evictions) live_.AssumeReleasing(eviction.task);
    for (const Bind& bind : plan.binds) live_.AssumeBinding(bind.task, bind.node);
  };
  if (recovery_ != nullptr) return ConcludeRecovering(rewind, assume);
  rewind();
  assume();
}

}  // namespace krafla
