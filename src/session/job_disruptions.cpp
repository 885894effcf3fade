#include "session/job_disruptions.h"

#include <algorithm>

#include "model/zone_drain.h"
#include "session/job_by_name.h"

namespace krafla {

JobDisruptions::JobDisruptions(Session& session, int64_t evict_period_ns)
    : session_(session),
      evict_period_ns_(evict_period_ns),
      rules_{.floor = session.compat.budget_floor,
             .max_unavailable_wins = session.compat.budget_precedence,
             .unreadable_protects = session.compat.budget_unreadable} {
  if (!session.compat.budget_accounting) return;
  evicted_.Reset(session.cluster.jobs.size());
  for (const Loss& loss : session.memory.job_losses)
    if (const JobId job = FindJob(session.cluster, loss.job); job.valid())
      losses_.emplace_back(job, loss);
  std::sort(losses_.begin(), losses_.end(),
            [](const auto& l, const auto& r) { return l.first < r.first; });
}

Allowance JobDisruptions::AllowanceOf(JobId id) {
  const Job& job = session_.cluster.jobs[id];
  std::string complaint;
  Allowance allowance = AllowedEvictions(job.budget, Census(id), rules_, complaint);
  // Volcano warns at every call; once per job and session says as much.
  if (!complaint.empty() && complained_.insert(id).second)
    session_.log.Line(
        "TDM cannot read the disruption budget of job <{}>, {}: {}", session_.cluster.JobKey(id),
        rules_.unreadable_protects ? "none of its pods may be evicted" : "taken as 0", complaint);
  if (!allowance.annotated && IsOutstanding(id)) allowance.count = 0;
  return allowance;
}

std::string JobDisruptions::DescribeBudgetOf(JobId job) const {
  return DescribeBudget(session_.cluster.jobs[job].budget, rules_.max_unavailable_wins);
}

bool JobDisruptions::HasBudget(const Job& job) const {
  return EffectiveBudget(job.budget, rules_) != BudgetKind::kNone;
}

bool JobDisruptions::IsOver(Timestamp since) const {
  return IsPeriodOver(&since, session_.now, evict_period_ns_);
}

const JobDisruptions::Loss* JobDisruptions::FindLoss(JobId job) const {
  const auto it =
      std::lower_bound(losses_.begin(), losses_.end(), job,
                       [](const auto& entry, JobId wanted) { return entry.first < wanted; });
  return it != losses_.end() && it->first == job ? &it->second : nullptr;
}

bool JobDisruptions::IsOutstanding(JobId job) const {
  if (!session_.compat.budget_accounting) return false;
  if (evicted_[job] > 0) return true;
  const Loss* loss = FindLoss(job);
  return loss != nullptr && !IsOver(loss->at);
}

// Evicted pods that are gone and have no successor yet are missing, not fewer.
JobCensus JobDisruptions::Census(JobId id) const {
  JobCensus census = CensusOf(session_.cluster.jobs[id]);
  const Loss* loss = FindLoss(id);
  if (loss != nullptr && (loss->ending || !IsOver(loss->ended)))
    census.total = std::max(census.total, loss->size);
  return census;
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
  const Cluster& cluster = session_.cluster;
  std::vector<JobId> evicted;
  for (const Eviction& eviction : session_.plan.evictions)
    if (const JobId job = cluster.tasks[eviction.task].job; job.valid()) evicted.push_back(job);
  std::sort(evicted.begin(), evicted.end());
  evicted.erase(std::unique(evicted.begin(), evicted.end()), evicted.end());
  for (const JobId job : evicted) {
    Loss& loss = session_.memory.JobLossOf(cluster.JobKey(job));
    loss.at = session_.now;
    loss.size = Census(job).total;
    loss.ending = true;
  }
  std::erase_if(session_.memory.job_losses, [&](Loss& loss) {
    const JobId job = FindJob(cluster, loss.job);
    if (!job.valid()) return true;
    const bool ending = cluster.jobs[job].Count(TaskStatus::kReleasing) > 0;
    if (loss.ending && !ending) loss.ended = session_.now;
    loss.ending = ending;
    return !ending && IsOver(loss.at) && IsOver(loss.ended);
  });
}

std::optional<Timestamp> JobDisruptions::NextChange() const {
  std::optional<Timestamp> next;
  if (!session_.compat.budget_accounting) return next;
  for (const Loss& loss : session_.memory.job_losses) {
    const JobId id = FindJob(session_.cluster, loss.job);
    if (!id.valid()) continue;
    const Job& job = session_.cluster.jobs[id];
    if (job.Count(TaskStatus::kRunning) + job.Count(TaskStatus::kBound) == 0) continue;
    std::optional<Timestamp> change;
    if (!HasBudget(job)) {
      change = NextPeriodChange(&loss.at, session_.now, evict_period_ns_);
    } else if (!loss.ending && loss.size > static_cast<int64_t>(job.tasks.size())) {
      change = NextPeriodChange(&loss.ended, session_.now, evict_period_ns_);
    }
    if (change && (!next || *change < *next)) next = change;
  }
  return next;
}

}  // namespace krafla
