// priority: the more important first, and only the less important give way: jobs by their priority
// class, tasks of one job by their own priority.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

// < 0 when the left one is more important.
int HigherFirst(int32_t left, int32_t right) {
  return left > right ? -1 : (left < right ? 1 : 0);
}

class PriorityPlugin final : public Plugin {
 public:
  void Open(Session& session, const PluginOption&, PluginHooks& hooks) override {
    session_ = &session;
    cluster_ = &session.cluster;
    notes_.emplace(session, "priority");

    hooks.task_order = [this](TaskId l, TaskId r) {
      return HigherFirst(cluster_->tasks[l].priority, cluster_->tasks[r].priority);
    };
    hooks.job_order = [this](JobId l, JobId r) {
      return HigherFirst(cluster_->jobs[l].priority, cluster_->jobs[r].priority);
    };
    hooks.sub_job_order = [this](JobId l, JobId r) {
      return HigherFirst(HighestTaskPriority(l), HighestTaskPriority(r));
    };
    hooks.preemptable = [this](TaskId preemptor, std::span<const TaskId> candidates,
                               std::vector<TaskId>& victims) {
      return LessImportant(preemptor, candidates, victims);
    };
    hooks.vote_depends_on = [this](Asking, TaskId id, std::vector<uint64_t>& words) {
      const Task& task = cluster_->tasks[id];
      words.push_back(static_cast<uint32_t>(task.priority));
      words.push_back(task.job.valid() ? static_cast<uint32_t>(cluster_->jobs[task.job].priority)
                                       : UINT64_MAX);
    };
    hooks.preempt_levels =
        VictimLevels{.level = [this](TaskId id) { return -int64_t{PriorityOfJob(id)}; },
                     .needed = [this](TaskId id) { return 1 - int64_t{PriorityOfJob(id)}; },
                     .names_first = true};
    hooks.unified_evictable =
        [this](const EvictionContext& context, std::span<const TaskId> candidates,
               std::vector<TaskId>& victims) { return OfLesserJobs(context, candidates, victims); };
    hooks.job_starving = [this](JobId id) {
      const Job& job = cluster_->jobs[id];
      return job.Ready() + job.Waiting() < static_cast<int32_t>(job.tasks.size());
    };
  }

 private:
  Vote LessImportant(TaskId preemptor, std::span<const TaskId> candidates,
                     std::vector<TaskId>& victims) {
    const JobId own = cluster_->tasks[preemptor].job;
    if (!own.valid()) return Vote::kPermit;  // its PodGroup is gone: it takes nobody's place
    for (TaskId task : candidates) {
      const JobId theirs = cluster_->tasks[task].job;
      const bool less_important =
          theirs == own ? cluster_->tasks[task].priority < cluster_->tasks[preemptor].priority
                        : IsLesserJob(theirs, own);
      Sort(task, less_important, victims);
    }
    if (session_->log.V(4))
      session_->log.Line("[priority] Victims from Priority plugin are {}",
                         ListOf(*cluster_, victims));
    return Vote::kPermit;
  }

  // For a whole gang. Reclaiming is about fair shares between queues: priority does not limit it.
  Vote OfLesserJobs(const EvictionContext& context, std::span<const TaskId> candidates,
                    std::vector<TaskId>& victims) {
    for (TaskId task : candidates)
      Sort(task, context.reclaim || IsLesserJob(cluster_->tasks[task].job, context.job), victims);
    return Vote::kPermit;
  }

  bool IsLesserJob(JobId job, JobId than) const {
    return job.valid() && cluster_->jobs[job].priority < cluster_->jobs[than].priority;
  }

  int32_t PriorityOfJob(TaskId task) const {
    const JobId job = cluster_->tasks[task].job;
    return job.valid() ? cluster_->jobs[job].priority : 0;
  }

  void Sort(TaskId task, bool is_victim, std::vector<TaskId>& victims) {
    if (is_victim) {
      victims.push_back(task);
    } else {
      notes_->Spared(task, VetoCode::kLowerPriorityOnly);
    }
  }

  int32_t HighestTaskPriority(JobId job) const {
    int32_t highest = 0;
    for (TaskId task : cluster_->jobs[job].tasks)
      highest = std::max(highest, cluster_->tasks[task].priority);
    return highest;
  }

  Session* session_ = nullptr;
  const Cluster* cluster_ = nullptr;
  std::optional<VictimNotes> notes_;
};

}  // namespace

std::unique_ptr<Plugin> Make_priority_plugin() {
  return std::make_unique<PriorityPlugin>();
}

}  // namespace krafla
