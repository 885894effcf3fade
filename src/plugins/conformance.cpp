// conformance: pods the cluster itself lives on are nobody's victims. A guard.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "session/drain_guard.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

class ConformancePlugin final : public Plugin, public DrainGuard {
 public:
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override {
    cluster_ = &session.cluster;
    notes_.emplace(session, "conformance");
    // Texts nobody in this cluster uses have no id and match nobody.
    cluster_critical_ = session.cluster.strings.Find("system-cluster-critical");
    node_critical_ = session.cluster.strings.Find("system-node-critical");
    system_namespace_ = session.cluster.strings.Find("kube-system");

    hooks.is_guard = true;
    hooks.preemptable = [this](TaskId, std::span<const TaskId> candidates,
                               std::vector<TaskId>& victims) {
      return KeepOthers(candidates, victims);
    };
    hooks.reclaimable = hooks.preemptable;
    hooks.vote_depends_on = [](Asking, TaskId, std::vector<uint64_t>&) {};  // the candidate alone
    hooks.preempt_levels =
        VictimLevels{.level = [this](TaskId id) { return IsCritical(id) ? 0 : 1; },
                     .needed = [](TaskId) { return 1; },
                     .names_first = true};
    hooks.reclaim_levels = hooks.preempt_levels;
    hooks.unified_evictable = [this](const EvictionContext&, std::span<const TaskId> candidates,
                                     std::vector<TaskId>& victims) {
      return KeepOthers(candidates, victims);
    };
    holds_drains_ = session.compat.drain_guards && option.Enabled(Switch::kVictim);
    if (holds_drains_)
      hooks.spare_victims = [this](std::vector<TaskId>& nominated) { Spare(nominated); };
  }

  void Spare(std::vector<TaskId>& tasks) override {
    if (holds_drains_) std::erase_if(tasks, [this](TaskId task) { return IsCritical(task); });
  }

 private:
  Vote KeepOthers(std::span<const TaskId> candidates, std::vector<TaskId>& victims) {
    for (TaskId task : candidates) {
      if (IsCritical(task)) {
        notes_->Spared(task, VetoCode::kCritical);
      } else {
        victims.push_back(task);
      }
    }
    return Vote::kPermit;
  }

  bool IsCritical(TaskId id) const {
    // The namespace as its class has it: whoever asks about candidates has looked at their classes,
    // not at all of the task.
    const Task& task = cluster_->tasks[id];
    return task.priority_class == cluster_critical_ || task.priority_class == node_critical_ ||
           cluster_->classes[task.cls].ns == system_namespace_;
  }

  const Cluster* cluster_ = nullptr;
  std::optional<VictimNotes> notes_;
  bool holds_drains_ = false;
  StrId cluster_critical_;
  StrId node_critical_;
  StrId system_namespace_;
};

}  // namespace

std::unique_ptr<Plugin> Make_conformance_plugin() {
  return std::make_unique<ConformancePlugin>();
}

}  // namespace krafla
