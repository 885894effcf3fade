// backfill: places tasks that ask for nothing (best effort) wherever predicates let them.
#include <algorithm>

#include "actions/job_heaps.h"
#include "base/go_heap.h"
#include "session/action.h"
#include "session/in_hand.h"
#include "session/node_search.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

namespace {

class BackfillAction : public Action {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {{"predicateErrorCacheEnable", ArgumentType::kBool, "accepted; has no effect here"}};
  }

  void Run(Session& s) override {
    if (s.log.V(5)) s.log.Line("Enter Backfill ...");
    for (TaskId task : PickTasks(s)) PlaceTask(s, task);
    if (s.log.V(5)) s.log.Line("Leaving Backfill ...");
  }

 private:
  // All best-effort tasks that wait, in queue, job and task order. Those that wait for room are
  // taken out of the line first: they need none.
  static std::vector<TaskId> PickTasks(Session& s) {
    Cluster& cluster = s.cluster;
    auto task_less = [&](TaskId l, TaskId r) { return s.TaskLess(l, r); };
    using TaskHeap = GoHeap<TaskId, decltype(task_less)>;
    QueueHeap queues(QueueOrder{&s});
    std::vector<JobHeap> jobs_of(cluster.queues.size(), JobHeap(JobOrder{&s}));
    std::vector<TaskHeap> tasks_of;
    std::vector<size_t> heap_of(cluster.jobs.size(), SIZE_MAX);

    for (JobId id : s.JobsToVisit()) {
      TakeInHand(id);
      const Job& job = cluster.jobs[id];
      if (job.IsPending() || (job.pending_best_effort == 0 && job.Waiting() == 0)) continue;
      if (s.JobInvalid(id)) continue;
      TaskHeap tasks(task_less);
      for (TaskId task : job.tasks) {
        const Task& t = cluster.tasks[task];
        if (t.status == TaskStatus::kPending && t.best_effort && !t.gated) tasks.Push(task);
      }
      std::vector<TaskId> waiting;
      for (TaskId task : job.tasks) {
        const Task& t = cluster.tasks[task];
        if (t.status == TaskStatus::kPipelined && t.best_effort) waiting.push_back(task);
      }
      for (TaskId task : waiting) {
        s.Unplace(task);
        tasks.Push(task);
      }
      if (tasks.empty()) continue;
      heap_of[id.value] = tasks_of.size();
      tasks_of.push_back(std::move(tasks));
      JobHeap& jobs = jobs_of[job.queue.value];
      if (jobs.empty()) queues.Push(job.queue);
      jobs.Push(id);
    }

    std::vector<TaskId> order;
    while (!queues.empty()) {
      JobHeap& jobs = jobs_of[queues.Pop().value];
      while (!jobs.empty()) {
        TaskHeap& tasks = tasks_of[heap_of[jobs.Pop().value]];
        while (!tasks.empty()) order.push_back(tasks.Pop());
      }
    }
    return order;
  }

  static void PlaceTask(Session& s, TaskId task) {
    Cluster& cluster = s.cluster;
    TakeInHand(cluster.tasks[task].job);
    NodeSearch& search = s.node_search();
    if (const Refusal refusal = search.Prepare(task); refusal.refused()) {
      FitError error;
      error.nodes = static_cast<int>(cluster.nodes_by_name.size());
      error.reasons.emplace_back(refusal.reason, error.nodes);
      s.fit_errors.Set(cluster, task, std::move(error));
      return;
    }
    FitError error;
    const NodeId node = search.FindForBackfill(task, error);
    if (!node.valid()) {
      s.fit_errors.Set(cluster, task, std::move(error));
      return;
    }
    if (s.log.V(3))
      s.log.Line("Binding Task <{}> to node <{}>", cluster.TaskKey(task), cluster.NodeName(node));
    s.trace.Add({TraceKind::kAllocate, 0, 0, task.value, node.value});
    s.Place(task, node, TaskStatus::kAllocated);
    const JobId job = cluster.tasks[task].job;
    if (!s.JobReady(job)) return;
    // Ready now: everything of the job that has a place is issued, also what an earlier action only
    // marked.
    for (TaskId other : cluster.jobs[job].tasks) {
      if (cluster.tasks[other].status != TaskStatus::kAllocated) continue;
      s.SetStatus(other, TaskStatus::kBinding);
      s.plan.binds.push_back({other, cluster.tasks[other].node, s.current_action()});
    }
  }
};

}  // namespace

std::unique_ptr<Action> Make_backfill_action() {
  return std::make_unique<BackfillAction>();
}

}  // namespace krafla
