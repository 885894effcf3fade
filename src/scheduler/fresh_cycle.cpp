#include "scheduler/fresh_cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "scheduler/trial_cycle.h"
#include "session/eviction_reason.h"

namespace krafla {

namespace {

// Everything a cycle says, a line each.
std::string Describe(const Session& session, std::optional<Timestamp> next_timer) {
  const Cluster& c = session.cluster;
  std::string text;
  const auto line = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
    text += '\n';
  };
  for (const Bind& bind : session.plan.binds)
    line("bind {} on {} by {}", c.TaskKey(bind.task), c.NodeName(bind.node), bind.action);
  for (const Eviction& e : session.plan.evictions)
    line("evict {} from {} by {} for {} because {} permitted by {:x}", c.TaskKey(e.task),
         e.node.valid() ? c.NodeName(e.node) : "", e.action,
         e.for_task.valid() ? c.TaskKey(e.for_task) : "", ToString(ReasonOf(session, e)),
         e.permitted_by);
  for (const JobPhaseChange& change : session.phase_changes())
    line("phase {} {} -> {}", c.JobKey(change.job), ToString(change.before),
         ToString(change.after));
  for (const JobId id : c.jobs_by_name) {
    const Job& job = c.jobs[id];
    for (const JobCondition& condition : job.conditions)
      if (condition.from_this_session)
        line("condition {} {} {} {} {}", c.JobKey(id), condition.type, condition.status,
             condition.reason, condition.message);
    for (const TaskId task : job.tasks) {
      if (c.tasks[task].status == TaskStatus::kPipelined)
        line("pipelined {} on {}", c.TaskKey(task), c.NodeName(c.tasks[task].node));
      if (const FitError* error = session.fit_errors.Find(task))
        line("no node for {}: {} {}", c.TaskKey(task), FitErrors::Text(*error, session.reasons),
             error->unresolvable != nullptr
                 ? std::count(error->unresolvable->begin(), error->unresolvable->end(), true)
                 : 0);
    }
    if (const std::string* refusal = session.EnqueueRefusal(id))
      line("not let in {}: {}", c.JobKey(id), *refusal);
  }
  for (const QueueId id : c.queues_by_name) {
    const QueueReport& report = session.queue_reports[id];
    if (report.known)
      line("queue {} deserves {} has {} share {}", c.QueueName(id),
           ToString(report.deserved, c.kinds), ToString(report.allocated, c.kinds), report.share);
  }
  for (const CycleMemory::ZoneEviction& clock : session.memory.last_evictions)
    line("clock {} {}", clock.zone, clock.at.ns);
  for (const CycleMemory::JobLoss& loss : session.memory.job_losses)
    line("loss {} {} {} {} {}", loss.job, loss.at.ns, loss.size, loss.ending, loss.ended.ns);
  for (const CycleMemory::JobEvictions& entry : session.memory.job_evictions) {
    line("evictions {}", entry.job);
    for (const Timestamp at : entry.times) line("  {}", at.ns);
  }
  for (const CycleMemory::Admission& admission : session.memory.admissions)
    line("admitted {} at {} with {} pods", admission.job, admission.at.ns, admission.pods);
  for (const CycleMemory::SurplusWait& wait : session.memory.surplus_waits)
    line("surplus of {} waits since {} until {}", wait.job, wait.since.ns, wait.until.ns);
  line("next timer {}", next_timer ? next_timer->ns : 0);
  return text;
}

}  // namespace

FreshCycle::FreshCycle(Cluster& cluster, const SchedulerConfig& config, Timestamp now,
                       const TimeZone& zone, const CycleMemory& memory) {
  const TrialCycle trial(cluster, config, now, zone, memory);
  decisions_ = Describe(trial.session(), trial.session().NextTimer());
}

void FreshCycle::MustBeTheSameAs(const Session& session,
                                 std::optional<Timestamp> next_timer) const {
  const std::string kept = Describe(session, next_timer);
  if (kept == decisions_) return;
  size_t at = static_cast<size_t>(
      std::mismatch(kept.begin(), kept.end(), decisions_.begin(), decisions_.end()).first -
      kept.begin());
  at = at == 0 ? 0 : kept.rfind('\n', at - 1) + 1;
  const auto line_at = [&](const std::string& text) {
    return at < text.size() ? text.substr(at, text.find('\n', at) - at) : std::string("nothing");
  };
  KRAFLA_CHECK(false,
               fmt::format("a session that followed the changes says\n  {}\na fresh one\n  {}",
                           line_at(kept), line_at(decisions_)));
}

}  // namespace krafla
