// enqueue: lets waiting PodGroups in, queue by queue in turn, as long as every plugin agrees.
#include "actions/job_heaps.h"
#include "session/action.h"
#include "session/in_hand.h"
#include "session/session.h"
#include "session/unsupported.h"

namespace krafla {

namespace {

class EnqueueAction : public Action {
 public:
  void Run(Session& s) override {
    if (s.log.V(5)) s.log.Line("Enter Enqueue ...");
    Cluster& cluster = s.cluster;
    QueueHeap queues(QueueOrder{&s});
    Table<QueueId, bool> seen(cluster.queues.size(), false);
    std::vector<JobHeap> waiting(cluster.queues.size(), JobHeap(JobOrder{&s}));

    for (JobId id : s.JobsToVisit()) {
      const Job& job = cluster.jobs[id];
      if (!seen[job.queue]) {
        seen[job.queue] = true;
        queues.Push(job.queue);
      }
      if (job.IsPending()) waiting[job.queue.value].Push(id);
    }

    while (!queues.empty()) {
      const QueueId queue = queues.Pop();
      JobHeap& jobs = waiting[queue.value];
      if (jobs.empty()) continue;
      const JobId id = jobs.Pop();
      TakeInHand(id);
      Job& job = cluster.jobs[id];
      if (MayEnter(s, id)) {
        s.JobEnqueued(id);
        s.undo.Save(job.phase);
        job.phase = JobPhase::kInqueue;
        s.surplus_wait.NoteAdmitted(id);
      }
      queues.Push(queue);
    }
    if (s.log.V(5)) s.log.Line("Leaving Enqueue ...");
  }

 private:
  static bool MayEnter(Session& s, JobId id) {
    const Job& job = s.cluster.jobs[id];
    const Queue& queue = s.cluster.queues[job.queue];
    // It must not reserve its minResources either.
    if (job.needs_network_topology) {
      s.NoteEnqueueRefusal(id, fmt::format("it {}", kNeedsTopology));
      return false;
    }
    if (s.compat.closed_queue && queue.state != QueueState::kOpen) {
      s.NoteEnqueueRefusal(id, fmt::format("queue {} is {}, not open",
                                           s.cluster.QueueName(job.queue), ToString(queue.state)));
      return false;
    }
    // Who says nothing about its minimum is not held to it.
    return !job.min_resources || s.JobEnqueueable(id);
  }
};

}  // namespace

std::unique_ptr<Action> Make_enqueue_action() {
  return std::make_unique<EnqueueAction>();
}

}  // namespace krafla
