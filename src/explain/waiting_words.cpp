#include "explain/waiting_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "explain/amount_words.h"
#include "session/job_checks.h"
#include "session/unsupported.h"

namespace krafla {

namespace {

int32_t Valid(const JobRole& role) {
  int32_t valid = 0;
  for (const TaskStatus status :
       {TaskStatus::kPending, TaskStatus::kPipelined, TaskStatus::kAllocated, TaskStatus::kBinding,
        TaskStatus::kBound, TaskStatus::kRunning, TaskStatus::kSucceeded})
    valid += role.count[static_cast<size_t>(status)];
  return valid;
}

std::string CountOf(int32_t there, int32_t needed, std::string_view what) {
  return fmt::format("{} of the {} pods of {} {}", there, needed, what,
                     there == 1 ? "exists" : "exist");
}

// What the queue has beside this job's marks, which are taken back, and what the job would need.
std::string ShareMissing(const Session& session, JobId id, TaskId task) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  const QueueReport& report = session.queue_reports[job.queue];
  const std::string_view queue = c.QueueName(job.queue);
  Resource marked;
  size_t pods = 1;
  for (const TaskId other : job.tasks) {
    const TaskStatus status = c.tasks[other].status;
    if (status != TaskStatus::kAllocated && status != TaskStatus::kPipelined) continue;
    marked.Add(c.Request(other));
    ++pods;
  }
  Resource asked = marked;
  asked.Add(c.Request(task));
  const int kind =
      report.known
          ? Resource(report.allocated).Add(c.Request(task)).FirstExceeding(report.deserved, asked)
          : -1;
  if (kind < 0)
    return fmt::format("queue {} has no share left for {}", queue, c.Text(c.tasks[task].name));
  return fmt::format("queue {} has {} of the {} {} it deserves, {} for {}", queue,
                     AmountText(std::max(0.0, report.allocated.Get(kind) - marked.Get(kind)), kind),
                     AmountText(report.deserved.Get(kind), kind), c.kinds.Name(kind),
                     pods == 1 ? fmt::format("{} asks", c.Text(c.tasks[task].name))
                               : fmt::format("{} pods ask", pods),
                     AmountText(asked.Get(kind), kind));
}

}  // namespace

bool IsNeverBound(const Session& session, TaskId task) {
  return session.cluster.tasks[task].best_effort && !session.config.HasAction("backfill");
}

std::optional<PodShortage> ShortageOf(const Session& session, JobId id) {
  const std::optional<InvalidJob> invalid = session.JobInvalid(id);
  if (!invalid) return std::nullopt;
  const Job& job = session.cluster.jobs[id];
  PodShortage shortage{invalid->reason, invalid->message};
  if (job.Valid() < job.min_available) {
    shortage.message = CountOf(job.Valid(), job.min_available, "minMember");
  } else if (RoleMinimumsApply(job)) {
    const auto role = std::find_if(job.roles.begin(), job.roles.end(), [](const JobRole& r) {
      return r.in_min_task_member && Valid(r) < r.min_member;
    });
    if (role != job.roles.end())
      shortage.message = CountOf(Valid(*role), role->min_member,
                                 fmt::format("minTaskMember {}", session.cluster.Text(role->name)));
  }
  // Those that are there and do not count.
  if (const int32_t failed = job.Count(TaskStatus::kFailed); failed > 0)
    shortage.message += fmt::format("; {} failed", failed);
  if (const int32_t ending = job.Count(TaskStatus::kReleasing); ending > 0)
    shortage.message += fmt::format("; {} end", ending);
  return shortage;
}

std::string FurtherCause(const Session& session, JobId id) {
  const Cluster& c = session.cluster;
  const Job& job = c.jobs[id];
  if (session.EnqueueRefusal(id) != nullptr) return {};
  // WaitingReason says it.
  if (!session.eviction_limit.WhyHeldBack(id).empty() || !PodsThatNeedClaims(c, job).empty() ||
      !session.surplus_wait.Why(id).empty())
    return {};
  for (const TaskId task : job.tasks)
    if (session.fit_errors.Find(task) != nullptr) return {};
  const auto gated = std::count_if(job.tasks.begin(), job.tasks.end(), [&](TaskId task) {
    return c.tasks[task].gated && c.tasks[task].status == TaskStatus::kPending;
  });
  if (gated > 0 && job.Valid() - gated < job.min_available)
    return fmt::format("{} scheduling gates to be removed",
                       gated == 1 ? std::string("1 pod waits for its")
                                  : fmt::format("{} pods wait for their", gated));
  const std::string_view name = c.QueueName(job.queue);
  if (const QueueState state = c.queues[job.queue].state; state != QueueState::kOpen)
    return fmt::format("queue {} is {}", name, ToString(state));
  for (const TaskId task : job.tasks) {
    if (c.tasks[task].status != TaskStatus::kPending || c.tasks[task].gated) continue;
    if (session.Allocatable(job.queue, task)) break;
    return ShareMissing(session, id, task);
  }
  if (session.Overused(job.queue)) return fmt::format("queue {} has all it deserves", name);
  return {};
}

}  // namespace krafla
