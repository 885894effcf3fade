#include "scheduler/scheduling_loop.h"

#include <algorithm>

namespace krafla {

SchedulingLoop::SchedulingLoop(LiveCluster& live, SchedulerConfig config, TimeZone zone, Log& log)
    : live_(live), config_(std::move(config)), zone_(std::move(zone)), log_(log) {}

bool SchedulingLoop::IsDue(Timestamp now) const {
  return seen_version_ != live_.version() || (next_timer_ && *next_timer_ <= now);
}

void SchedulingLoop::SetConfig(SchedulerConfig config) {
  config_ = std::move(config);
  seen_version_ = 0;  // every decision may be another one now
}

namespace {

void ForgetOldConditions(Cluster& cluster) {
  for (Job& job : cluster.jobs)
    for (JobCondition& condition : job.conditions) condition.from_this_session = false;
}

std::vector<JobPhase> Phases(const Cluster& cluster) {
  std::vector<JobPhase> phases;
  phases.reserve(cluster.jobs.size());
  for (const Job& job : cluster.jobs) phases.push_back(job.phase);
  return phases;
}

std::vector<JobPhaseChange> PhaseChanges(const Cluster& cluster,
                                         const std::vector<JobPhase>& before) {
  std::vector<JobPhaseChange> changes;
  for (const JobId id : cluster.jobs_by_name)
    if (cluster.jobs[id].phase != before[id.value])
      changes.push_back({id, before[id.value], cluster.jobs[id].phase});
  return changes;
}

}  // namespace

void SchedulingLoop::RunCycle(Timestamp now, DecisionSink& sink) {
  Cluster& cluster = live_.cluster();
  ForgetOldConditions(cluster);
  const std::vector<JobPhase> before = Phases(cluster);
  std::vector<JobPhaseChange> phases;
  Plan plan;
  {
    if (before_session_) before_session_(memory_);
    Session session(cluster, config_, {.now = now, .zone = zone_, .memory = &memory_}, log_);
    session.RunActions();
    next_timer_ = session.NextTimer();
    phases = PhaseChanges(cluster, before);
    // What the sink is told of happens after this cycle, whatever it does to the cluster at once.
    seen_version_ = live_.version();
    sink.OnCycle(session, phases);
    plan = session.plan;
    // Who was only pipelined, or evicted for a job that did not get its place, is where it was.
    session.undo.RollbackTo(0);
  }
  ++cycles_;
  for (const JobPhaseChange& change : phases) live_.AssumePhase(change.job, change.after);
  for (const Eviction& eviction : plan.evictions) live_.AssumeReleasing(eviction.task);
  for (const Bind& bind : plan.binds) live_.AssumeBinding(bind.task, bind.node);
}

}  // namespace krafla
