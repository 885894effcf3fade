#include "scheduler/trial_cycle.h"

#include <exception>

namespace krafla {

TrialCycle::TrialCycle(Cluster& cluster, const SchedulerConfig& config, Timestamp now,
                       const TimeZone& zone, const CycleMemory& memory)
    : cluster_(cluster), memory_(memory) {
  // What a session changes without its undo log.
  before_.reserve(cluster.jobs.size());
  for (const Job& job : cluster.jobs) before_.emplace_back(job.phase, job.conditions);
  session_ = std::make_unique<Session>(
      cluster, config,
      SessionOptions{.now = now, .zone = zone, .memory = &memory_, .visits_all_jobs = true},
      silent_);
  session_->NotePhases();
  session_->RunActions();
}

TrialCycle::~TrialCycle() noexcept(false) {
  if (std::uncaught_exceptions() > 0) return;  // a check failed: the tables are distrusted
  session_->undo.RollbackTo(0);
  session_.reset();
  for (size_t i = 0; i < before_.size(); ++i) {
    Job& job = cluster_.jobs[JobId(static_cast<uint32_t>(i))];
    job.phase = before_[i].first;
    job.conditions = std::move(before_[i].second);
  }
}

size_t EvictionsOfOneCycle(Cluster& cluster, SchedulerConfig config, Timestamp now,
                           const TimeZone& zone, const CycleMemory& memory) {
  config.eviction_limits = {};
  CycleMemory unlimited = memory;
  unlimited.allowance.reset();
  const TrialCycle trial(cluster, config, now, zone, unlimited);
  return trial.session().plan.evictions.size();
}

}  // namespace krafla
