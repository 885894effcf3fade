// pdb: PodDisruptionBudgets hold for the scheduler's own evictions. A guard.
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/pod_budgets.h"
#include "session/drain_guard.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

class PdbPlugin final : public Plugin, public DrainGuard {
 public:
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override {
    session_ = &session;
    notes_.emplace(session, "pdb");
    const Compatibility& compat = session.compat;
    budgets_.emplace(session.cluster,
                     PodBudgets::Rules{.charge_only_the_allowed = compat.budget_accounting,
                                       .unlabelled_may_go = compat.pdb_unlabelled,
                                       .charge_the_leaving = compat.budget_accounting});

    hooks.is_guard = true;
    hooks.guard_counts = true;
    hooks.preemptable = [this](TaskId, std::span<const TaskId> candidates,
                               std::vector<TaskId>& victims) {
      return KeepAllowed(candidates, victims);
    };
    hooks.reclaimable = hooks.preemptable;
    hooks.vote_depends_on = [this](Asking, TaskId, std::vector<uint64_t>& words) {
      words.push_back(budgets_state_);
    };
    // D15: whoever preempts. Volcano's gang preemption does not ask about budgets.
    if (compat.guards)
      hooks.unified_evictable = [this](const EvictionContext&, std::span<const TaskId> candidates,
                                       std::vector<TaskId>& victims) {
        return KeepAllowed(candidates, victims);
      };
    // D24: Volcano takes every eviction a budget would survive for one that is wanted.
    if (!compat.victims_filter)
      hooks.victim_tasks = [this](std::vector<TaskId>& nominated) { NominateAllowed(nominated); };
    holds_drains_ = compat.drain_guards && option.Enabled(Switch::kVictim);
    if (holds_drains_)
      hooks.spare_victims = [this](std::vector<TaskId>& nominated) { Spare(nominated); };
    if (compat.budget_accounting) Account(hooks);
  }

  void Spare(std::vector<TaskId>& tasks) override {
    if (!holds_drains_) return;
    std::vector<TaskId> let_go;
    Judge(tasks, let_go);
    tasks = std::move(let_go);
  }

 private:
  // D14: what was evicted in this cycle, by whatever action, is no longer there to be allowed.
  void Account(PluginHooks& hooks) {
    hooks.on_deallocate = [this](TaskId task) {
      if (session_->cluster.tasks[task].status == TaskStatus::kReleasing)
        Change(task, [&] { budgets_->Charge(task, session_->undo); });
    };
    hooks.on_allocate = [this](TaskId task) {
      // Bound or Running: an eviction was taken back. New placements are Allocated or Pipelined.
      if (IsPreemptableStatus(session_->cluster.tasks[task].status))
        Change(task, [&] { budgets_->Refund(task, session_->undo); });
    };
  }

  template <class F>
  void Change(TaskId task, F&& change) {
    if (budgets_->BudgetsOf(task).empty()) return;
    session_->undo.Save(budgets_state_);
    budgets_state_ = ++last_budgets_state_;
    change();
  }

  Vote KeepAllowed(std::span<const TaskId> candidates, std::vector<TaskId>& victims) {
    Judge(candidates, victims);
    return Vote::kPermit;
  }

  void NominateAllowed(std::vector<TaskId>& nominated) {
    const Cluster& cluster = session_->cluster;
    std::vector<TaskId> running;
    for (JobId job : cluster.jobs_by_name)
      for (TaskId task : cluster.jobs[job].tasks)
        if (cluster.tasks[task].status == TaskStatus::kRunning) running.push_back(task);
    Judge(running, nominated);
  }

  void Judge(std::span<const TaskId> tasks, std::vector<TaskId>& let_go) {
    held_.clear();
    budgets_->Judge(tasks, let_go, held_);
    for (TaskId task : held_) {
      notes_->Spared(task, VetoCode::kBudget);
      if (session_->log.V(4))
        session_->log.Line("A PodDisruptionBudget keeps pod <{}> from the victims",
                           session_->cluster.TaskKey(task));
    }
  }

  Session* session_ = nullptr;
  std::optional<VictimNotes> notes_;
  std::optional<PodBudgets> budgets_;
  bool holds_drains_ = false;
  // A number for what is left in all budgets, which a rollback brings back with it.
  uint64_t budgets_state_ = 0;
  uint64_t last_budgets_state_ = 0;
  std::vector<TaskId> held_;  // of one call; kept for its memory
};

}  // namespace

std::unique_ptr<Plugin> Make_pdb_plugin() {
  return std::make_unique<PdbPlugin>();
}

}  // namespace krafla
