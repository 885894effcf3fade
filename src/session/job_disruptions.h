// How many more tasks of a job may be evicted now, whoever evicts: the budgets of
// disruption_budget.h applied to a running session. Owned by tdm, one per session.
//
// Where a budget annotation exists, the job's own counts are the account: an eviction decided in
// this session makes a task Releasing, a rollback makes it Running again, and between sessions an
// evicted task stays Releasing until it is gone. From then until its successor is there the job
// would look smaller than it is, and its budget larger: so its former size counts until the evict
// period is over.
//
// A job without a budget has a single eviction outstanding per evict period (D14); that takes a
// count of this session's evictions, kept through the undo log, and the instant of the last one.
//
// Both are remembered between sessions (CycleMemory::job_losses), for jobs that are still there and
// as long as it matters.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/strong_id.h"
#include "model/disruption_budget.h"
#include "session/session.h"

namespace krafla {

class JobDisruptions {
 public:
  JobDisruptions(Session& session, int64_t evict_period_ns);

  Allowance AllowanceOf(JobId job);
  std::string DescribeBudgetOf(JobId job) const;

  // The session's events.
  void OnAllocate(TaskId task);
  void OnDeallocate(TaskId task);
  // The session ends: remembers for the next one which jobs have lost tasks.
  void Remember();
  // After Remember: when the next answer changes although nothing else does.
  std::optional<Timestamp> NextChange() const;

 private:
  using Loss = CycleMemory::JobLoss;

  bool HasBudget(const Job& job) const;
  bool IsOutstanding(JobId job) const;
  const Loss* FindLoss(JobId job) const;
  JobCensus Census(JobId job) const;
  bool IsOver(Timestamp since) const;
  void Count(TaskId task, int32_t amount);

  Session& session_;
  const int64_t evict_period_ns_;
  const BudgetRules rules_;
  Table<JobId, int32_t> evicted_;               // in this session and still so
  std::vector<std::pair<JobId, Loss>> losses_;  // of earlier sessions, by job
  std::unordered_set<JobId> complained_;
};

}  // namespace krafla
