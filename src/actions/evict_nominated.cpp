#include "actions/evict_nominated.h"

#include "session/statement.h"

namespace krafla {

void EvictNominatedVictims(Session& s) {
  const Victims victims = s.VictimTasks();
  if (victims.tasks.empty()) return;
  Statement statement(s);
  for (TaskId id : victims.tasks) {
    const Task& task = s.cluster.tasks[id];
    // Of a pod without a PodGroup nobody would make a new one.
    if (!task.job.valid() || !IsPreemptableStatus(task.status)) continue;
    if (s.log.V(3))
      s.log.Line("pod {} from namespace {} and job {} will be evicted.", s.cluster.Text(task.name),
                 s.cluster.Text(task.ns), s.cluster.JobKey(task.job));
    const bool on_zone = task.node.valid() && s.cluster.nodes[task.node].zone != kEmptyStr;
    statement.Evict(id, TaskId{}, on_zone ? EvictionReason::kZoneClosed : EvictionReason::kBudget,
                    victims.permitted_by);
  }
  statement.Commit();
}

}  // namespace krafla
