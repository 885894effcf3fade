// Who could be evicted at all for tasks of a queue, before any plugin is asked: known of every task
// in eight bytes.
//
// Whoever wants to know how much room evictions could make goes through the tasks of all nodes, for
// every queue that starves. Tasks and their jobs lie all over the memory, and most of them belong
// to other queues, or do not run: that is told here without looking at them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/fetch.h"
#include "model/fetch_tasks.h"
#include "session/session.h"

namespace krafla {

class EvictableTasks {
 public:
  explicit EvictableTasks(const Session& session) : session_(session) {}

  // For whoever goes through the tasks of all nodes. Until somebody has, each task is looked at
  // when it is asked about: a cycle in which little has changed asks about few.
  void MakeAll();
  bool HasAll() const { return !tasks_.empty(); }
  // Follows the session's changes; comes before questions.
  void CatchUp();

  // Candidates for tasks of a queue: as CandidacyOf, for any task of the queue.
  struct Side {
    Asking asking = Asking::kPreempt;
    QueueId queue;
  };
  bool Counts(Side side, TaskId task) const {
    const uint32_t whose =
        tasks_.empty() ? WhoseIs(session_.cluster.tasks[task]) : tasks_[task.value].whose;
#ifdef KRAFLA_VERIFY
    KRAFLA_CHECK(whose == WhoseIs(session_.cluster.tasks[task]), "what is kept has followed");
#endif
    if (whose == kNobodys) return false;
    const QueueId its(whose >> 1);
    return side.asking == Asking::kPreempt ? its == side.queue
                                           : its != side.queue && (whose & kReclaimable) != 0;
  }
  const Resource& RequestOf(TaskId task) const {
    const Cluster& cluster = session_.cluster;
    return tasks_.empty() ? cluster.Request(task) : cluster.classes[tasks_[task.value].cls].request;
  }

  // For whoever asks about the tasks of some nodes, one after the other: the turn has come to
  // node(at). `kLooks`: candidates and their jobs will be looked at.
  template <bool kLooks, class NodeAt>
  KRAFLA_FETCHES void FetchAhead(Side side, size_t nodes, size_t at, NodeAt&& node) const {
    const Cluster& cluster = session_.cluster;
    if (tasks_.empty()) return FetchTasksAhead<true>(cluster, nodes, at, node);
    constexpr size_t kJobsAt = 1;
    constexpr size_t kTasksAt = 3;
    constexpr size_t kOursAt = kLooks ? 5 : 2;
    FetchListsAhead<kOursAt + 2>(cluster, nodes, at, node);
    if (at + kOursAt < nodes)
      for (const TaskId id : cluster.nodes[node(at + kOursAt)].tasks) Fetch(&tasks_[id.value]);
    if (kLooks && at + kTasksAt < nodes)
      for (const TaskId id : cluster.nodes[node(at + kTasksAt)].tasks)
        if (Counts(side, id)) Fetch(&cluster.tasks[id]);
    if (kLooks && at + kJobsAt < nodes)
      for (const TaskId id : cluster.nodes[node(at + kJobsAt)].tasks)
        if (Counts(side, id)) Fetch(&cluster.jobs[cluster.tasks[id].job]);
  }

 private:
  // The queue it belongs to, and whether others may take from it; or nobody's.
  static constexpr uint32_t kReclaimable = 1;
  static constexpr uint32_t kNobodys = UINT32_MAX;
  struct Brief {
    uint32_t whose;
    ClassId cls;
  };

  uint32_t WhoseIs(const Task& task) const {
    if (!IsPreemptableStatus(task.status) || !task.preemptable || !task.job.valid())
      return kNobodys;
    const QueueId queue = session_.cluster.jobs[task.job].queue;
    const bool reclaimable =
        task.status == TaskStatus::kRunning && session_.cluster.queues[queue].reclaimable;
    return queue.value << 1 | (reclaimable ? kReclaimable : 0);
  }

  const Session& session_;
  std::vector<Brief> tasks_;  // by TaskId; empty: not made
  size_t synced_ = 0;         // of the session's task changes
};

}  // namespace krafla
