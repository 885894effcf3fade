// reclaim: takes resources back from queues that have more than they deserve, for starving jobs of
// queues that have less.
#include <optional>

#include "actions/job_heaps.h"
#include "actions/room_finder.h"
#include "actions/starving_jobs.h"
#include "session/action.h"
#include "session/in_hand.h"
#include "session/node_search.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

namespace {

class ReclaimAction : public Action {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {{"predicateErrorCacheEnable", ArgumentType::kBool, "accepted; has no effect here"}};
  }

  void Run(Session& s) override {
    if (s.log.V(5)) s.log.Line("Enter Reclaim ...");
    session_ = &s;
    room_.emplace(s);
    ReclaimForQueues();
    if (s.log.V(5)) s.log.Line("Leaving Reclaim ...");
  }

 private:
  void ReclaimForQueues() {
    Session& s = *session_;
    Cluster& cluster = s.cluster;
    QueueHeap queues(QueueOrder{&s});
    std::vector<bool> seen(cluster.queues.size(), false);
    std::vector<JobHeap> starving(cluster.queues.size(), JobHeap(JobOrder{&s}));
    for (JobId id : s.JobsToVisit()) {
      TakeInHand(id);
      if (!MayLookForVictims(s, id, "reclaim")) continue;
      const Job& job = cluster.jobs[id];
      if (!seen[job.queue.value]) {
        seen[job.queue.value] = true;
        queues.Push(job.queue);
      }
      if (s.JobStarving(id)) {
        if (SurplusWaits(s, id)) continue;  // as in preempt
        starving[job.queue.value].Push(id);
      } else {
        s.trace.Add(
            {TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kNotStarving), id.value});
      }
    }

    while (!queues.empty()) {
      const QueueId queue = queues.Pop();
      if (s.Overused(queue)) {
        // Both ways of putting it are Volcano's: the log line's and its guide's.
        if (s.log.V(3))
          s.log.Line("Queue <{0}> is overused, ignore it. Queue is overused: {0}",
                     cluster.QueueName(queue));
        for (JobHeap jobs = starving[queue.value]; !jobs.empty();)
          s.trace.Add({TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kQueueOverused),
                       jobs.Pop().value});
        continue;
      }
      JobHeap& jobs = starving[queue.value];
      while (!jobs.empty()) {
        ReclaimForJob(jobs.Pop(), queue);
        // Its turn is over only when it has no jobs left; until then it also waits in line again,
        // which moves the others as it does in Volcano.
        if (!jobs.empty()) queues.Push(queue);
      }
      if (s.log.V(3)) s.log.Line("No preemptors in Queue <{}>, break.", cluster.QueueName(queue));
    }
  }

  void ReclaimForJob(JobId id, QueueId queue) {
    Session& s = *session_;
    Cluster& cluster = s.cluster;
    TakeInHand(id);
    TaskLine tasks = WaitingTasks(s, id);
    const VictimRule rule{.whose = VictimRule::Whose::kOtherQueues,
                          .checks_everything = s.compat.reclaim_predicates};
    Statement statement(s);
    while (s.JobStarving(id)) {
      if (tasks.empty()) {
        if (s.log.V(3)) s.log.Line("No preemptor task in job <{}>.", cluster.JobKey(id));
        break;
      }
      const TaskId task = tasks.Pop();
      if (cluster.tasks[task].preemption_policy == PreemptionPolicy::kNever) {
        NoteSkipped(s, task, SkipCode::kNeverPreempts);
        if (s.log.V(3)) s.log.Line("Task {} cannot preempt (policy Never)", cluster.TaskKey(task));
        continue;
      }
      if (!s.Preemptive(queue, task)) {
        NoteSkipped(s, task, SkipCode::kNotAllocatable);
        if (s.log.V(3))
          s.log.Line("Queue <{}> cannot reclaim for task <{}>, skip", cluster.QueueName(queue),
                     cluster.Text(cluster.tasks[task].name));
        continue;
      }
      if (const Refusal refusal = s.node_search().Prepare(task); refusal.refused()) {
        NoteSkipped(s, task, SkipCode::kNoNode, refusal.reason);
        continue;
      }
      room_->FindRoom(statement, task, rule, RoomFinder::Order::kName, nullptr);
    }
    if (s.JobPipelined(id)) {
      if (room_->Keep(statement, id)) s.trace.Add({TraceKind::kCommit, 0, 1, id.value});
    } else {
      s.trace.Add({TraceKind::kDiscard, 0, 1, id.value});
      room_->TakeBack(statement);
    }
  }

  Session* session_ = nullptr;
  std::optional<RoomFinder> room_;
};

}  // namespace

std::unique_ptr<Action> Make_reclaim_action() {
  return std::make_unique<ReclaimAction>();
}

}  // namespace krafla
