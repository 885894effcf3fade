// allocate: gives pending tasks to nodes.
//
// 1. Queues take turns, the one furthest below its share first; within a queue jobs go by order,
// within a job tasks.
// 2. A job's turn is one statement: tasks are placed until the job is ready (or runs out of tasks
// or nodes).
// 3. A ready job's placements are issued; a job that is only ready once resources are released
// keeps its marks for
//    this cycle, so that others plan around it; anything else is taken back.
// 4. A ready job with tasks left goes back into its queue: surplus tasks are placed one per turn.
// 5. In a loop that follows changes at once, surplus tasks may have to wait (surplus_wait.h).
#include <fmt/format.h>

#include <deque>
#include <span>

#include "actions/job_heaps.h"
#include "actions/starving_jobs.h"
#include "actions/task_line.h"
#include "model/fetch_jobs.h"
#include "session/action.h"
#include "session/in_hand.h"
#include "session/node_search.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

namespace {

class AllocateAction : public Action {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {{"predicateErrorCacheEnable", ArgumentType::kBool,
             "remember which nodes refused a pod of a role for the job's other pods of that role"}};
  }

  void Run(Session& s) override {
    if (s.log.V(5)) s.log.Line("Enter Allocate ...");
    session_ = &s;
    error_cache_ =
        s.config.ArgumentsOf("allocate").GetBool("predicateErrorCacheEnable").value_or(true);
    AllocateQueues();
    if (s.log.V(5)) s.log.Line("Leaving Allocate ...");
  }

 private:
  // Tasks of a job that allocate looks at, in the order they are tried.
  TaskLine PendingTasks(const Job& job) {
    std::vector<TaskId> tasks;
    tasks.reserve(static_cast<size_t>(job.Count(TaskStatus::kPending)));
    for (TaskId id : job.tasks) {
      const Task& task = session_->cluster.tasks[id];
      if (task.status != TaskStatus::kPending) continue;
      if (task.gated && !task.only_queue_gate) continue;
      if (session_->cluster.Request(id).IsEmpty()) continue;  // best effort: backfill's business
      tasks.push_back(id);
    }
    return {*session_, std::move(tasks)};
  }

  bool TakesPart(JobId id) {
    Session& s = *session_;
    Job& job = s.cluster.jobs[id];
    if (job.IsPending()) {
      if (s.config.HasAction("enqueue")) {
        if (s.log.V(4))
          s.log.Line("Job <{}> Queue <{}> skip allocate, reason: job status is pending.",
                     s.cluster.JobKey(id), s.cluster.QueueName(job.queue));
        return false;
      }
      // Nobody would ever let it in: without an enqueue action waiting groups are taken as they
      // come.
      s.undo.Save(job.phase);
      job.phase = JobPhase::kInqueue;
      s.surplus_wait.NoteAdmitted(id);
    }
    if (const std::optional<InvalidJob> invalid = s.JobInvalid(id)) {
      s.trace.Add({TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kInvalid), id.value});
      if (s.log.V(4))
        s.log.Line("Job <{}> Queue <{}> skip allocate, reason: {}, message {}",
                   s.cluster.JobKey(id), s.cluster.QueueName(job.queue), invalid->reason,
                   invalid->message);
      return false;
    }
    return true;
  }

  void AllocateQueues() {
    Session& s = *session_;
    Cluster& cluster = s.cluster;
    QueueHeap queues(QueueOrder{&s});
    std::vector<JobHeap> jobs_of(cluster.queues.size(), JobHeap(JobOrder{&s}));
    Table<QueueId, bool> seen(cluster.queues.size(), false);
    std::deque<TaskLine> task_lines;
    std::vector<uint32_t> line_of(cluster.jobs.size(), 0);  // where a job has one

    const std::span<const JobId> visited = s.JobsToVisit();
    for (size_t at = 0; at < visited.size(); ++at) {
      FetchWaitingJobsAhead(cluster, visited, at);
      const JobId id = visited[at];
      TakeInHand(id);
      if (!TakesPart(id)) continue;
      const Job& job = cluster.jobs[id];
      if (job.Count(TaskStatus::kPending) == 0)
        continue;  // most jobs: their tasks are not looked at
      TaskLine tasks = PendingTasks(job);
      if (tasks.empty()) continue;
      line_of[id.value] = static_cast<uint32_t>(task_lines.size());
      task_lines.push_back(std::move(tasks));
      if (!seen[job.queue]) {
        seen[job.queue] = true;
        queues.Push(job.queue);
      }
      jobs_of[job.queue.value].Push(id);
    }

    if (s.log.V(3)) s.log.Line("Try to allocate resource to {} Queues", queues.size());
    while (!queues.empty()) {
      const QueueId queue = queues.Pop();
      if (s.Overused(queue)) {
        if (s.log.V(3)) s.log.Line("Queue <{}> is overused, ignore it.", cluster.QueueName(queue));
        continue;
      }
      JobHeap& jobs = jobs_of[queue.value];
      if (jobs.empty()) continue;
      const JobId job = jobs.Pop();
      TakeInHand(job);
      TaskLine& tasks = task_lines[line_of[job.value]];
      if (AllocateJob(job, queue, tasks) && !tasks.empty()) jobs.Push(job);
      queues.Push(queue);
    }
  }

  // Whether the job is ready, that is whether its placements were issued.
  bool AllocateJob(JobId id, QueueId queue, TaskLine& tasks) {
    Session& s = *session_;
    if (SurplusWaits(s, id)) return false;
    Statement statement(s);
    PlaceTasks(statement, id, queue, tasks);
    if (s.JobReady(id)) {
      statement.Commit();
      return true;
    }
    if (s.JobPipelined(id)) {
      statement.Keep();
    } else {
      statement.Discard();
    }
    return false;
  }

  void PlaceTasks(Statement& statement, JobId id, QueueId queue, TaskLine& tasks) {
    Session& s = *session_;
    Cluster& cluster = s.cluster;
    const Job& job = cluster.jobs[id];
    NodeSearch& search = s.node_search();
    RefusalMemory memory;
    while (!tasks.empty()) {
      const TaskId task = tasks.Pop();
      tasks.FetchNext(cluster);
      const Task& t = cluster.tasks[task];
      if (!s.Allocatable(queue, task)) {
        if (s.log.V(3))
          s.log.Line("Queue <{}> is overused when considering task <{}>, ignore it.",
                     cluster.QueueName(queue), cluster.Text(t.name));
        continue;
      }
      if (t.gated) continue;
      if (t.role != kEmptyStr && s.fit_errors.RoleFailed(id, t.role_index)) {
        FitError error;
        error.message = fmt::format("Task {} with role spec {} has already predicated failed, skip",
                                    cluster.Text(t.name), cluster.Text(t.role));
        s.fit_errors.Set(cluster, task, std::move(error));
        continue;
      }
      if (const Refusal refusal = search.Prepare(task); refusal.refused()) {
        if (s.log.V(3))
          s.log.Line("PrePredicate for task {} failed for: {}", cluster.TaskKey(task),
                     s.reasons.Text(refusal.reason));
        FitError error;
        error.nodes = static_cast<int>(cluster.nodes_by_name.size());
        error.reasons.emplace_back(refusal.reason, error.nodes);
        s.fit_errors.Set(cluster, task, std::move(error));
        if (MayStillBecomeReady(job)) continue;
        break;
      }

      const bool remembers = error_cache_ && t.role != kEmptyStr && !search.RefusalsOnlyGrow(task);
      FitError error;
      NodeSearch::Choice choice;
      // A node an earlier cycle made room on for this task is tried first.
      if (t.nominated_node != kEmptyStr) {
        if (const NodeId nominated = cluster.FindNode(t.nominated_node); nominated.valid())
          choice = search.FindForAllocate(task, nominated, remembers ? &memory : nullptr, error);
      }
      if (!choice.node.valid())
        choice = search.FindForAllocate(task, NodeId{}, remembers ? &memory : nullptr, error);
      if (!choice.node.valid()) {
        if (choice.unscorable) continue;
        s.fit_errors.Set(cluster, task, std::move(error));
        if (MayStillBecomeReady(job)) continue;
        break;
      }
      if (choice.idle) {
        if (s.log.V(3))
          s.log.Line("Binding Task <{}> to node <{}>", cluster.TaskKey(task),
                     cluster.NodeName(choice.node));
        statement.Allocate(task, choice.node);
      } else {
        if (s.log.V(3))
          s.log.Line("Pipelining Task <{}> to node <{}> for <{}> on <{}>", cluster.TaskKey(task),
                     cluster.NodeName(choice.node), ToString(cluster.Request(task), cluster.kinds),
                     ToString(cluster.releasing[choice.node], cluster.kinds));
        statement.Pipeline(task, choice.node, false);
      }
      if (s.JobReady(id)) break;
    }
  }

  // A task found no node: is there any point in trying the job's others?
  bool MayStillBecomeReady(const Job& job) {
    if (job.min_available >= static_cast<int32_t>(job.tasks.size())) return false;
    const JobId id = session_->cluster.tasks[job.tasks.front()].job;
    const std::vector<uint16_t>& failed = session_->fit_errors.FailedRoles(id);
    auto has_failed = [&](size_t role) {
      return std::find(failed.begin(), failed.end(), role) != failed.end();
    };
    const size_t pending = static_cast<size_t>(TaskStatus::kPending);
    // Roles have no minimum of their own that counts: enough tasks of roles that have not failed
    // will do.
    if (job.min_available < job.min_role_total) {
      int32_t left = 0;
      for (size_t r = 0; r < job.roles.size(); ++r)
        if (!has_failed(r)) left += job.roles[r].count[pending];
      return job.Ready() + left >= job.min_available;
    }
    // Each failed role must have its own minimum already.
    for (uint16_t r : failed) {
      const JobRole& role = job.roles[r];
      if (role.min_member != 0 && Occupied(role) < role.min_member) return false;
    }
    return true;
  }

  static int32_t Occupied(const JobRole& role) {
    int32_t n = role.pending_best_effort;
    for (size_t s = 0; s < kTaskStatusCount; ++s) {
      const TaskStatus status = static_cast<TaskStatus>(s);
      if (IsAllocatedStatus(status) || status == TaskStatus::kSucceeded) n += role.count[s];
    }
    return n;
  }

  Session* session_ = nullptr;
  bool error_cache_ = true;
};

}  // namespace

std::unique_ptr<Action> Make_allocate_action() {
  return std::make_unique<AllocateAction>();
}

}  // namespace krafla
