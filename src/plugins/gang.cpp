// gang: all or nothing. A job starts only when its minAvailable (and each role its own minimum) can
// start, and loses tasks only down to that number.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "session/call_column.h"
#include "session/job_checks.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

// Words of the PodGroup API.
constexpr const char* kNotEnoughPodsOfTask = "NotEnoughPodsOfTask";
constexpr const char* kNotEnoughPods = "NotEnoughTasks";
constexpr const char* kNotEnoughResources = "NotEnoughResources";
constexpr const char* kUnschedulable = "Unschedulable";
constexpr const char* kScheduled = "Scheduled";

int WaitingFirst(bool left_ready, bool right_ready) {
  return static_cast<int>(left_ready) - static_cast<int>(right_ready);
}

// A job that lacks tasks only because some of its pods are ending, with nobody left to place, is
// not reported: its pods still hold their places, and there is nothing for the scheduler to do.
bool OnlyEnding(const Job& job) {
  if (job.releasing_on_node == 0) return false;
  if (job.Count(TaskStatus::kPending) > 0 || job.Waiting() > 0) return false;
  return job.ScheduledCount() + job.releasing_on_node >= job.min_available;
}

class GangPlugin final : public Plugin {
 public:
  void Open(Session& session, const PluginOption&, PluginHooks& hooks) override {
    session_ = &session;
    cluster_ = &session.cluster;
    notes_.emplace(session, "gang");

    hooks.job_valid = [this](JobId job) { return WhyInvalid(cluster_->jobs[job]); };
    hooks.preemptable = [this](TaskId preemptor, std::span<const TaskId> candidates,
                               std::vector<TaskId>& victims) {
      return AboveMinimum(preemptor, candidates, victims);
    };
    hooks.reclaimable = hooks.preemptable;
    hooks.vote_depends_on = [](Asking, TaskId, std::vector<uint64_t>&) {};  // the candidates' jobs
    hooks.preempt_levels = VictimLevels{
        .level =
            [this](TaskId id) {
              const JobId job = cluster_->tasks[id].job;
              return job.valid() && cluster_->jobs[job].Ready() > cluster_->jobs[job].min_available;
            },
        .needed = [](TaskId) { return 1; },
        .names_first = true};
    hooks.reclaim_levels = hooks.preempt_levels;
    // Gang preemption weighs whole gangs against each other itself.
    hooks.unified_evictable = [](const EvictionContext&, std::span<const TaskId> candidates,
                                 std::vector<TaskId>& victims) {
      victims.insert(victims.end(), candidates.begin(), candidates.end());
      return Vote::kPermit;
    };
    hooks.job_order = [this](JobId l, JobId r) {
      return WaitingFirst(cluster_->jobs[l].IsReady(), cluster_->jobs[r].IsReady());
    };
    hooks.sub_job_order = hooks.job_order;
    hooks.job_ready = [this](JobId id) {
      const Job& job = cluster_->jobs[id];
      return job.IsReady() && RolesAreReady(job);
    };
    hooks.job_pipelined = [this](JobId id) {
      const Job& job = cluster_->jobs[id];
      return job.IsPipelined() && RolesArePipelined(job) ? Vote::kPermit : Vote::kReject;
    };
    // Preempting is about the job's own minimum; those of its roles are not looked at.
    hooks.job_starving = [this](JobId job) { return cluster_->jobs[job].IsStarving(); };
  }

  void Close(Session& session) override {
    for (JobId id : session.JobsToClose()) {
      const Job& job = session.cluster.jobs[id];
      if (job.tasks.empty()) continue;
      if (job.IsReady()) {
        session.SetCondition(id, kScheduled, "tasks in gang are ready to be scheduled", "");
      } else if (!OnlyEnding(job)) {
        session.SetCondition(
            id, kUnschedulable, kNotEnoughResources,
            fmt::format("{}/{} tasks in gang unschedulable: {}", job.min_available - job.Ready(),
                        job.tasks.size(), session.WaitingReason(id)));
      }
    }
  }

 private:
  static std::optional<InvalidJob> WhyInvalid(const Job& job) {
    if (!RolesAreValid(job))
      return InvalidJob{kNotEnoughPodsOfTask,
                        "Not enough valid pods of each task for gang-scheduling"};
    if (job.Valid() < job.min_available)
      return InvalidJob{
          kNotEnoughPods,
          fmt::format("Not enough valid tasks for gang-scheduling, valid: {}, min: {}", job.Valid(),
                      job.min_available)};
    return std::nullopt;
  }

  // A job gives what it has above its minimum, in the order of the candidates.
  Vote AboveMinimum(TaskId preemptor, std::span<const TaskId> candidates,
                    std::vector<TaskId>& victims) {
    ready_.Begin(cluster_->jobs.size());
    for (TaskId task : candidates) {
      const JobId id = cluster_->tasks[task].job;
      if (!id.valid()) continue;  // its PodGroup is gone: not a matter of gangs
      const Job& job = cluster_->jobs[id];
      int32_t& ready = ready_.Get(id, [&] { return job.Ready(); });
      if (ready > job.min_available) {
        --ready;
        victims.push_back(task);
        continue;
      }
      notes_->Spared(task, VetoCode::kGangAtMinimum);
      if (session_->log.V(4))
        session_->log.Line(
            "Can not preempt task <{}> because job {} ready num({}) <= MinAvailable({}) for "
            "gang-scheduling",
            cluster_->TaskKey(task), cluster_->Text(job.name), ready, job.min_available);
    }
    if (session_->log.V(4))
      session_->log.Line("Victims from Gang plugins, victims={} preemptor={}",
                         ListOf(*cluster_, victims), cluster_->TaskKey(preemptor));
    return Vote::kPermit;
  }

  Session* session_ = nullptr;
  const Cluster* cluster_ = nullptr;
  std::optional<VictimNotes> notes_;
  CallColumn<JobId, int32_t> ready_;
};

}  // namespace

std::unique_ptr<Plugin> Make_gang_plugin() {
  return std::make_unique<GangPlugin>();
}

}  // namespace krafla
