// How many more tasks of a job may be evicted now, whoever evicts: the budgets of
// disruption_budget.h applied to a running session. Owned by tdm, one per session.
//
// Where a budget annotation exists, the job's own counts are the account: an eviction decided in
// this session makes a task Releasing, and a rollback makes it Running again. A job without one has
// a single eviction outstanding per evict period (D14); that takes a count of this session's
// evictions, kept through the undo log, and a clock per job that outlives the session.
#pragma once

#include <string>
#include <unordered_set>

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
  // The session ends: remembers for the next one which jobs without a budget have lost a task.
  void Remember();

 private:
  bool HasBudget(const Job& job) const;
  bool IsOutstanding(JobId job) const;
  void Count(TaskId task, int32_t amount);

  Session& session_;
  const int64_t evict_period_ns_;
  const BudgetRules rules_;
  Table<JobId, int32_t> evicted_;                // in this session and still so
  std::unordered_set<std::string> recent_keys_;  // jobs whose clock from earlier sessions runs
  std::unordered_set<JobId> complained_;
};

}  // namespace krafla
