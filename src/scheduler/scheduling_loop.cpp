#include "scheduler/scheduling_loop.h"

#include <algorithm>

#include "scheduler/fresh_cycle.h"

namespace krafla {

SchedulingLoop::SchedulingLoop(LiveCluster& live, SchedulerConfig config, TimeZone zone, Log& log)
    : live_(live), config_(std::move(config)), zone_(std::move(zone)), log_(log) {
#ifdef KRAFLA_VERIFY
  compares_ = searches_always_ = true;
#endif
}

bool SchedulingLoop::IsDue(Timestamp now) const {
  return seen_version_ != live_.version() || (next_timer_ && *next_timer_ <= now);
}

void SchedulingLoop::SetConfig(SchedulerConfig config) {
  session_.reset();
  config_ = std::move(config);
  seen_version_ = 0;  // every decision may be another one now
}

std::vector<EvictionLedger::Ring> SchedulingLoop::TakeEvictionRings() {
  std::vector<EvictionLedger::Ring> rings = evictions_.TakeRings();
  if (log_.V(2))
    for (const EvictionLedger::Ring& ring : rings)
      log_.Line("Jobs evict each other in turn: {}", ring.text);
  return rings;
}

void SchedulingLoop::OpenSession(Timestamp now) {
  Cluster& cluster = live_.cluster();
  const ClusterChanges changes = live_.TakeChanges();
  if (session_ != nullptr && session_->Reopen(now, changes)) {
    ++kept_;
    return;
  }
  session_.reset();
  session_ = std::make_unique<Session>(
      cluster, config_, SessionOptions{.now = now, .zone = zone_, .memory = &memory_}, log_);
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
              [](const auto& l, const auto& r) { return l.job == r.job && l.times == r.times; });
}

}  // namespace

// A cycle's memory of its own (clocks that are dropped when they have run out) changes nothing that
// is decided before the next timer.
bool SchedulingLoop::WouldRepeatItself(Timestamp now) const {
  return decided_nothing_ && !searches_always_ && !before_session_ && !IsDue(now) &&
         now >= last_cycle_ && IsSame(memory_, memory_then_);
}

void SchedulingLoop::RunCycle(Timestamp now, DecisionSink& sink) {
  evictions_.Settle(live_);
  if (WouldRepeatItself(now)) {
    ++cycles_;
    sink.OnNothingNew();
    return;
  }
  if (before_session_) before_session_(memory_);
  std::optional<FreshCycle> fresh;
  if (compares_) fresh.emplace(live_.cluster(), config_, now, zone_, memory_);
  OpenSession(now);
  Session& session = *session_;
  session.RunActions();
  next_timer_ = session.NextTimer();
  if (fresh) fresh->MustBeTheSameAs(session, next_timer_);
  const std::vector<JobPhaseChange> phases = session.phase_changes();
  // What the sink is told of happens after this cycle, whatever it does to the cluster at once.
  seen_version_ = live_.version();
  evictions_.Note(session);
  sink.OnCycle(session, phases);
  const Plan plan = std::move(session.plan);
  // Who was only pipelined, or evicted for a job that did not get its place, is where it was.
  session.Rewind();
  ++cycles_;
  last_cycle_ = now;
  decided_nothing_ = phases.empty() && plan.evictions.empty() && plan.binds.empty();
  memory_then_ = memory_;
  for (const JobPhaseChange& change : phases) live_.AssumePhase(change.job, change.after);
  for (const Eviction& eviction : plan.evictions) live_.AssumeReleasing(eviction.task);
  for (const Bind& bind : plan.binds) live_.AssumeBinding(bind.task, bind.node);
}

}  // namespace krafla
