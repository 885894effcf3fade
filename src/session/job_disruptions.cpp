#include "session/job_disruptions.h"

#include <algorithm>

#include "model/zone_drain.h"

namespace krafla {

namespace {

// Clocks of jobs stand beside those of zones in the memory between cycles. A zone is the value of a
// label and has neither colon nor slash, so the two cannot be mistaken for each other.
constexpr std::string_view kJobClock = "job:";

std::string ClockKey(const Cluster& cluster, JobId job) {
  return std::string(kJobClock) + cluster.JobKey(job);
}

}  // namespace

JobDisruptions::JobDisruptions(Session& session, int64_t evict_period_ns)
    : session_(session),
      evict_period_ns_(evict_period_ns),
      rules_{.floor = session.compat.budget_floor,
             .max_unavailable_wins = session.compat.budget_precedence} {
  if (!session.compat.budget_accounting) return;
  evicted_.Reset(session.cluster.jobs.size());
  for (const CycleMemory::ZoneEviction& clock : session.memory.last_evictions)
    if (clock.zone.starts_with(kJobClock) &&
        !IsPeriodOver(&clock.at, session.now, evict_period_ns_))
      recent_keys_.insert(clock.zone);
}

Allowance JobDisruptions::AllowanceOf(JobId id) {
  const Job& job = session_.cluster.jobs[id];
  std::string complaint;
  Allowance allowance = AllowedEvictions(job.budget, CensusOf(job), rules_, complaint);
  // Volcano warns at every call; once per job and session says as much.
  if (!complaint.empty() && complained_.insert(id).second)
    session_.log.Line("TDM cannot read the disruption budget of job <{}>, taken as 0: {}",
                      session_.cluster.JobKey(id), complaint);
  if (!allowance.annotated && IsOutstanding(id)) allowance.count = 0;
  return allowance;
}

std::string JobDisruptions::DescribeBudgetOf(JobId job) const {
  return DescribeBudget(session_.cluster.jobs[job].budget, rules_.max_unavailable_wins);
}

bool JobDisruptions::HasBudget(const Job& job) const {
  return EffectiveBudget(job.budget, rules_.max_unavailable_wins) != BudgetKind::kNone;
}

bool JobDisruptions::IsOutstanding(JobId job) const {
  if (!session_.compat.budget_accounting) return false;
  if (evicted_[job] > 0) return true;
  return !recent_keys_.empty() && recent_keys_.contains(ClockKey(session_.cluster, job));
}

void JobDisruptions::Count(TaskId task, int32_t amount) {
  const JobId job = session_.cluster.tasks[task].job;
  if (!job.valid() || !session_.compat.budget_accounting) return;
  session_.undo.Save(evicted_[job]);
  evicted_[job] += amount;
}

void JobDisruptions::OnAllocate(TaskId task) {
  // Bound or Running: an eviction was taken back. New placements are Allocated or Pipelined.
  if (IsPreemptableStatus(session_.cluster.tasks[task].status)) Count(task, -1);
}

void JobDisruptions::OnDeallocate(TaskId task) {
  if (session_.cluster.tasks[task].status == TaskStatus::kReleasing) Count(task, +1);
}

void JobDisruptions::Remember() {
  if (!session_.compat.budget_accounting) return;
  std::vector<CycleMemory::ZoneEviction>& clocks = session_.memory.last_evictions;
  std::unordered_set<std::string> started;
  std::vector<std::string> in_order;
  for (const Eviction& eviction : session_.plan.evictions) {
    const JobId job = session_.cluster.tasks[eviction.task].job;
    if (!job.valid() || HasBudget(session_.cluster.jobs[job])) continue;
    std::string key = ClockKey(session_.cluster, job);
    if (started.insert(key).second) in_order.push_back(std::move(key));
  }
  std::erase_if(clocks, [&](const CycleMemory::ZoneEviction& clock) {
    return clock.zone.starts_with(kJobClock) &&
           (started.contains(clock.zone) || !recent_keys_.contains(clock.zone));
  });
  for (std::string& key : in_order) clocks.push_back({std::move(key), session_.now});
}

}  // namespace krafla
