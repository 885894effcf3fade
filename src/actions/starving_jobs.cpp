#include "actions/starving_jobs.h"

#include <algorithm>
#include <utility>

namespace krafla {

TaskLine WaitingTasks(Session& s, JobId job) {
  std::vector<TaskId> tasks;
  tasks.reserve(static_cast<size_t>(s.cluster.jobs[job].Count(TaskStatus::kPending)));
  for (TaskId id : s.cluster.jobs[job].tasks) {
    const Task& task = s.cluster.tasks[id];
    if (task.status == TaskStatus::kPending && !task.gated) tasks.push_back(id);
  }
  return {s, std::move(tasks)};
}

void NoteSkipped(Session& s, TaskId task, SkipCode code, ReasonCode reason) {
  s.trace.Add({TraceKind::kJobSkipped, 0, static_cast<uint16_t>(code),
               s.cluster.tasks[task].job.value, task.value, static_cast<uint32_t>(reason)});
}

void NoteHeldBack(Session& s, JobId job) {
  s.trace.Add(
      {TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kEvictionLimit), job.value});
  if (s.log.V(3))
    s.log.Line("Job <{}>: {}", s.cluster.JobKey(job), s.eviction_limit.WhyHeldBackNow(job));
}

bool SurplusWaits(Session& s, JobId id) {
  if (!s.surplus_wait.MayHold()) return false;
  const Job& job = s.cluster.jobs[id];
  if (job.Count(TaskStatus::kPending) == 0) return false;
  if (job.Ready() < std::max(1, job.min_available) || !s.JobReady(id)) return false;
  if (!s.surplus_wait.Holds(id)) return false;
  s.trace.Add(
      {TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kSurplusWaits), id.value});
  if (s.log.V(3)) s.log.Line("Job <{}>: {}", s.cluster.JobKey(id), s.surplus_wait.Why(id));
  return true;
}

bool MayLookForVictims(Session& s, JobId id, std::string_view what) {
  const Job& job = s.cluster.jobs[id];
  if (job.IsPending()) {
    s.trace.Add(
        {TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kPendingPhase), id.value});
    return false;
  }
  if (const std::optional<InvalidJob> invalid = s.JobInvalid(id)) {
    s.trace.Add({TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kInvalid), id.value});
    if (s.log.V(4))
      s.log.Line("Job <{}> Queue <{}> skip {}, reason: {}, message {}", s.cluster.JobKey(id),
                 s.cluster.QueueName(job.queue), what, invalid->reason, invalid->message);
    return false;
  }
  return true;
}

}  // namespace krafla
