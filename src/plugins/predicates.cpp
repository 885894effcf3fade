// predicates: may a pod run on a node, as Kubernetes' own filters see it. It also keeps the
// session's view of pods on nodes up to date.
#include <memory>
#include <optional>
#include <vector>

#include "kube_rules/kube_filters.h"
#include "session/plugin.h"
#include "session/session.h"

namespace krafla {

namespace {

struct SwitchArgument {
  const char* key;
  bool FilterSwitches::* member;
  const char* help;
};

constexpr SwitchArgument kSwitches[] = {
    {"predicate.NodeAffinityEnable", &FilterSwitches::node_affinity,
     "look at node selectors and required node affinity"},
    {"predicate.NodePortsEnable", &FilterSwitches::node_ports, "look at host ports"},
    {"predicate.TaintTolerationEnable", &FilterSwitches::taint_toleration, "look at taints"},
    {"predicate.PodAffinityEnable", &FilterSwitches::pod_affinity,
     "look at required pod affinity and anti-affinity"},
    {"predicate.NodeVolumeLimitsEnable", &FilterSwitches::node_volume_limits,
     "look at the number of CSI volumes a node can attach"},
    {"predicate.VolumeZoneEnable", &FilterSwitches::volume_zone,
     "look at the zones of bound volumes"},
    {"predicate.PodTopologySpreadEnable", &FilterSwitches::pod_topology_spread,
     "look at topology spread constraints that must hold"},
    {"predicate.VolumeBindingEnable", &FilterSwitches::volume_binding,
     "look at the claims of a pod and the nodes their volumes can be used on"},
};

class PredicatesPlugin final : public Plugin {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    std::vector<ArgumentSpec> specs;
    for (const SwitchArgument& argument : kSwitches)
      specs.push_back({argument.key, ArgumentType::kBool, argument.help});
    specs.push_back({"predicate.CacheEnable", ArgumentType::kBool,
                     "accepted; answers are always kept per class of pods"});
    specs.push_back({"predicate.DynamicResourceAllocationEnable", ArgumentType::kBool,
                     "accepted; resource claims are not looked at"});
    specs.push_back({"volumebinding.weight", ArgumentType::kInt,
                     "accepted; volumes have no score unless storage capacity is scored"});
    specs.push_back(
        {"volumebinding.bindTimeoutSeconds", ArgumentType::kInt,
         "serve: how long volumes are waited for before a pod is bound; 600 s by default"});
    specs.push_back({"volumebinding.shape", ArgumentType::kAny,
                     "accepted; volumes have no score unless storage capacity is scored"});
    specs.push_back({"dynamicresources.filterTimeoutSeconds", ArgumentType::kInt,
                     "accepted; resource claims are not looked at"});
    return specs;
  }

  bool Reopen(Session&, const ClusterChanges& changes) override {
    hidden_.clear();
    return filters_->Follow(changes);
  }

  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override {
    FilterSwitches switches;
    for (const SwitchArgument& argument : kSwitches)
      if (const std::optional<bool> value = option.arguments.GetBool(argument.key))
        switches.*argument.member = *value;
    switches.keeps_skips = !session.compat.exact_undo;
    switches.hears_newcomers = session.compat.newcomers_affinity;
    filters_.emplace(session.cluster, session.kube, session.reasons, switches);

    PredicateHook& predicate = hooks.predicate.emplace();
    predicate.prepare = [this](TaskId task) { return filters_->Prepare(task); };
    predicate.fixed = [this](ClassId cls, std::span<Refusal> by_node) {
      filters_->Fixed(cls, by_node);
    };
    predicate.fixed_at = [this](ClassId cls, NodeId node) { return filters_->FixedAt(cls, node); };
    predicate.fixed_depends_on = [this](ClassId cls, std::vector<uint64_t>& words) {
      filters_->FixedDependsOn(cls, words);
    };
    hooks.lasting.emplace();  // nothing else
    predicate.current = [this](TaskId task, NodeId node) { return filters_->Current(task, node); };
    predicate.current_may_refuse = [this](TaskId task, std::span<uint64_t> nodes) {
      filters_->LeaveDoubtful(task, nodes);
    };
    predicate.current_of_many = [this](TaskId task, std::span<const uint64_t> nodes,
                                       const PredicateHook::Say& say) {
      filters_->SayOfMany(task, nodes, say);
    };
    predicate.prepared_refuses = [this](TaskId task, NodeId node) {
      return filters_->PreparedRefuses(task, node);
    };
    predicate.prepared_refuses_where = [this](TaskId task, std::span<uint64_t> nodes) {
      filters_->AddPreparedRefuses(task, nodes);
    };
    predicate.current_is_node_local = [this](ClassId cls) {
      return filters_->CurrentIsNodeLocal(cls);
    };
    predicate.current_is_liftable = [this](ClassId cls) {
      return filters_->CurrentIsLiftable(cls);
    };

    hooks.simulate_remove = [this, &session](TaskId task, TaskId removed) {
      filters_->SimulateMove(task, removed, -1, session.undo);
    };
    hooks.simulate_add = [this, &session](TaskId task, TaskId added) {
      filters_->SimulateMove(task, added, +1, session.undo);
    };
    hooks.simulate_predicate = [this](TaskId task, NodeId node) {
      return filters_->SimulatePredicate(task, node);
    };

    hooks.on_allocate = [this, &session](TaskId task) {
      const Task& t = session.cluster.tasks[task];
      if (!t.node.valid()) return;
      // Only an allocated pod has its node for sure; for one that waits Volcano chooses no volumes.
      if (t.status == TaskStatus::kAllocated) filters_->Reserve(task, t.node, session.undo);
      session.kube.Add(task, t.node, session.undo);
    };
    hooks.on_deallocate = [this, &session](TaskId task) {
      const NodeId node = session.cluster.tasks[task].node;
      if (!node.valid()) return;
      filters_->Unreserve(task, session.undo);
      session.kube.Remove(task, node, session.undo);
    };

    // Volcano loses sight of a pod whose eviction it took back: reserving volumes for a pod that
    // was never prepared fails, and the view is not restored. Without that filter it is.
    if (session.compat.exact_undo || !switches.volume_binding) return;
    hooks.on_eviction_undone = [this, &session](TaskId task) { Hide(session, task); };
    hooks.eviction_undone_matters = [&session](TaskId task) {
      const NodeId node = session.cluster.tasks[task].node;
      return node.valid() && session.kube.IsOn(task, node);
    };
    // An outer rollback brings back what was hidden since; what is lost stays lost.
    hooks.on_rollback = [this, &session] {
      const std::vector<TaskId> restored(hidden_.begin() + static_cast<ptrdiff_t>(hidden_count_),
                                         hidden_.end());
      hidden_.resize(hidden_count_);
      for (TaskId task : restored) Hide(session, task);
    };
  }

 private:
  void Hide(Session& session, TaskId task) {
    const uint64_t before = session.kube.version();
    session.kube.Remove(task, session.cluster.tasks[task].node, session.undo);
    if (session.kube.version() == before) return;  // was hidden already
    session.undo.Save(hidden_count_);
    hidden_.push_back(task);
    hidden_count_ = hidden_.size();
  }

  std::optional<KubeFilters> filters_;
  // Who was hidden, in order. The length is logged: what lies beyond it after a rollback is visible
  // again.
  std::vector<TaskId> hidden_;
  size_t hidden_count_ = 0;
};

}  // namespace

std::unique_ptr<Plugin> Make_predicates_plugin() {
  return std::make_unique<PredicatesPlugin>();
}

}  // namespace krafla
