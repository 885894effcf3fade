#include "record/record_cycle.h"

#include "explain/eviction_story.h"
#include "session/eviction_reason.h"
#include "session/made_room_for.h"

namespace krafla {

RecordedCycle RecordCycle(const Session& session, const std::vector<JobPhaseChange>& phases,
                          uint64_t number) {
  const Cluster& c = session.cluster;
  RecordedCycle cycle;
  cycle.number = number;
  cycle.at = session.now;
  cycle.phases.reserve(phases.size());
  for (const JobPhaseChange& change : phases)
    cycle.phases.push_back({c.JobKey(change.job), change.before, change.after});
  cycle.binds.reserve(session.plan.binds.size());
  for (const Bind& bind : session.plan.binds)
    cycle.binds.push_back(
        {c.TaskKey(bind.task), std::string(c.NodeName(bind.node)), std::string(bind.action)});
  cycle.evictions.reserve(session.plan.evictions.size());
  for (size_t i = 0; i < session.plan.evictions.size(); ++i) {
    const Eviction& eviction = session.plan.evictions[i];
    const JobId job = c.tasks[eviction.task].job;
    cycle.evictions.push_back(
        {.pod = c.TaskKey(eviction.task),
         .uid = std::string(c.Text(c.tasks[eviction.task].uid)),
         .node = eviction.node.valid() ? std::string(c.NodeName(eviction.node)) : std::string(),
         .action = std::string(eviction.action),
         .for_pod = eviction.for_task.valid() ? c.TaskKey(eviction.for_task) : std::string(),
         .job = job.valid() ? c.JobKey(job) : std::string(),
         .queue = job.valid() ? std::string(c.QueueName(c.jobs[job].queue)) : std::string(),
         .for_other = MadeRoomFor(c, eviction).valid(),
         .reason = std::string(ToString(ReasonOf(session, eviction))),
         .allowed_by = PluginsThatAllowed(session, eviction),
         .message = EvictionHeadline(session, i)});
  }
  for (const StepTime& step : session.step_times)
    cycle.steps_ms.emplace_back(step.name, step.wall_ms);
  for (const Job& job : c.jobs)
    cycle.waiting_pods += job.Count(TaskStatus::kPending) + job.Count(TaskStatus::kPipelined);
  return cycle;
}

}  // namespace krafla
