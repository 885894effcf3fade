// cdp, cooldown protection: a pod that has only just been placed is not taken away again. A guard
// for preemption and reclaiming; a closing zone does not wait for cooldowns.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/timestamp.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

class CooldownPlugin final : public Plugin {
 public:
  void Open(Session& session, const PluginOption&, PluginHooks& hooks) override {
    session_ = &session;
    notes_.emplace(session, "cdp");
    if (session.log.V(4)) session.log.Line("plugin cdp session open");

    hooks.is_guard = true;
    hooks.preemptable = [this](TaskId, std::span<const TaskId> candidates,
                               std::vector<TaskId>& victims) {
      return KeepCooled(candidates, victims);
    };
    hooks.reclaimable = hooks.preemptable;
    hooks.vote_depends_on = [](Asking, TaskId, std::vector<uint64_t>&) {};  // the candidate alone
    // D15: whoever preempts. Volcano's gang preemption does not ask about cooldowns.
    if (session.compat.guards)
      hooks.unified_evictable = [this](const EvictionContext&, std::span<const TaskId> candidates,
                                       std::vector<TaskId>& victims) {
        return KeepCooled(candidates, victims);
      };
  }

 private:
  Vote KeepCooled(std::span<const TaskId> candidates, std::vector<TaskId>& victims) {
    for (TaskId task : candidates) {
      if (IsCoolingDown(task)) {
        notes_->Spared(task, VetoCode::kCooldown);
      } else {
        victims.push_back(task);
      }
    }
    if (session_->log.V(4))
      session_->log.Line("Victims from cdp plugins are {}", ListOf(session_->cluster, victims));
    return Vote::kPermit;
  }

  // Only while the pod runs: one that is scheduled and has not come up yet may be taken.
  bool IsCoolingDown(TaskId id) const {
    const Task& task = session_->cluster.tasks[id];
    return task.cooldown_ns >= 0 && task.pod_running && task.scheduled_at.Present() &&
           ElapsedNs(task.scheduled_at, session_->now) < task.cooldown_ns;
  }

  Session* session_ = nullptr;
  std::optional<VictimNotes> notes_;
};

}  // namespace

std::unique_ptr<Plugin> Make_cdp_plugin() {
  return std::make_unique<CooldownPlugin>();
}

}  // namespace krafla
