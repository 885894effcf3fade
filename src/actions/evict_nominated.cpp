#include "actions/evict_nominated.h"

#include <algorithm>

#include "session/fetch_evictions.h"
#include "session/statement.h"

namespace krafla {

void EvictNominatedVictims(Session& s) {
  const Victims victims = s.VictimTasks();
  if (victims.tasks.empty()) return;
  const auto& names = s.plugin_names();
  const auto pdb =
      static_cast<size_t>(std::find(names.begin(), names.end(), "pdb") - names.begin());
  const bool pdb_nominates = pdb < names.size() && (victims.permitted_by >> pdb & 1) != 0;
  for (size_t i = 0; i < victims.tasks.size(); ++i) {
    FetchEvictionsAhead(s, victims.tasks, i);
    const TaskId id = victims.tasks[i];
    const Task& task = s.cluster.tasks[id];
    // Of a pod without a PodGroup nobody would make a new one.
    if (!task.job.valid() || !IsPreemptableStatus(task.status)) continue;
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
