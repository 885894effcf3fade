#include "actions/evict_nominated.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "session/fetch_evictions.h"
#include "session/statement.h"

namespace krafla {

namespace {

// Of a pod without a PodGroup nobody would make a new one.
bool MayGo(const Task& task) {
  return task.job.valid() && IsPreemptableStatus(task.status);
}

// What the eviction limit leaves of the nominated tasks. A job loses some of them one by one as
// long as it keeps minAvailable ready pods; those that would go below it go together, so that no
// gang is left half.
void HoldBackBeyondLimit(Session& s, std::vector<TaskId>& victims) {
  std::erase_if(victims, [&](TaskId task) { return !MayGo(s.cluster.tasks[task]); });
  EvictionLimit& limit = s.eviction_limit;
  if (std::cmp_less_equal(victims.size(), limit.LeftForDrain())) {
    limit.Take(static_cast<int32_t>(victims.size()), /*is_drain=*/true, JobId{});
    return;
  }
  std::map<JobId, int32_t> nominated;
  for (const TaskId task : victims) ++nominated[s.cluster.tasks[task].job];
  std::map<JobId, int32_t> granted;
  for (const TaskId task : victims) {
    const JobId id = s.cluster.tasks[task].job;
    const auto [it, is_new] = granted.try_emplace(id, 0);
    if (!is_new) continue;
    const int32_t all = nominated.at(id);
    const Job& job = s.cluster.jobs[id];
    const bool stays_whole = job.Ready() - all >= job.min_available;
    const int32_t some = stays_whole ? std::min(all, limit.LeftForDrain()) : all;
    if (some > 0 && limit.Take(some, /*is_drain=*/true, JobId{})) it->second = some;
    // The rest goes in portions: however much it is, it waits only until the limit is free.
    const int32_t portion = limit.allowance().limits.Most();
    for (int32_t rest = stays_whole ? all - it->second : 0; rest > 0; rest -= portion)
      limit.Take(std::min(rest, portion), true, JobId{});
  }
  std::erase_if(victims, [&](TaskId task) { return granted.at(s.cluster.tasks[task].job)-- <= 0; });
}

}  // namespace

void EvictNominatedVictims(Session& s) {
  Victims victims = s.VictimTasks();
  if (victims.tasks.empty()) return;
  if (s.eviction_limit.on()) HoldBackBeyondLimit(s, victims.tasks);
  const auto& names = s.plugin_names();
  const auto pdb =
      static_cast<size_t>(std::find(names.begin(), names.end(), "pdb") - names.begin());
  const bool pdb_nominates = pdb < names.size() && (victims.permitted_by >> pdb & 1) != 0;
  for (size_t i = 0; i < victims.tasks.size(); ++i) {
    FetchEvictionsAhead(s, victims.tasks, i);
    const TaskId id = victims.tasks[i];
    const Task& task = s.cluster.tasks[id];
    if (!MayGo(task)) continue;
    if (s.log.V(3))
      s.log.Line("pod {} from namespace {} and job {} will be evicted.", s.cluster.Text(task.name),
                 s.cluster.Text(task.ns), s.cluster.JobKey(task.job));
    // A gang leaves a closing zone whole, from ordinary nodes too; only Volcano's pdb nominates for
    // another reason.
    const bool for_budget =
        pdb_nominates && !(task.node.valid() && s.cluster.nodes[task.node].zone != kEmptyStr);
    Statement::EvictForGood(s, id,
                            for_budget ? EvictionReason::kBudget : EvictionReason::kZoneClosed,
                            victims.permitted_by);
  }
}

}  // namespace krafla
