// Kubernetes' filters as Volcano's predicates plugin uses them: which of them are on, in which
// order they are asked, and what a pod's preparation leaves behind for its later checks.
//
// A filter that says "unresolvable" does not keep the later ones from being asked; their kinds of
// "no" are joined. What cannot change within a session is answered per class (Fixed), the rest per
// pod and node (Current).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/undo_log.h"
#include "kube_rules/csi_limits.h"
#include "kube_rules/full_nodes.h"
#include "kube_rules/host_ports.h"
#include "kube_rules/kube_facts.h"
#include "kube_rules/latest_of_tasks.h"
#include "kube_rules/node_fit_rules.h"
#include "kube_rules/pod_affinity.h"
#include "kube_rules/topology_spread.h"
#include "kube_rules/volume_binding.h"
#include "kube_rules/volume_zone.h"
#include "session/hooks.h"
#include "session/refusal.h"
#include "session/rows_of_bits.h"

namespace krafla {

// In the order in which their reasons count.
enum class Filter : uint8_t {
  kPodsNumber,
  kNodeUnschedulable,
  kNodeAffinity,
  kTaintToleration,
  kNodePorts,
  kInterPodAffinity,
  kNodeVolumeLimits,
  kVolumeZone,
  kPodTopologySpread,
  kVolumeBinding,
  kCount,
};
inline constexpr size_t kFilterCount = static_cast<size_t>(Filter::kCount);
// The name Kubernetes has for it.
std::string_view ToString(Filter filter);

struct FilterSwitches {
  bool node_affinity = true;
  bool node_ports = true;
  bool taint_toleration = true;
  bool pod_affinity = true;
  bool node_volume_limits = true;
  bool volume_zone = true;
  bool pod_topology_spread = true;
  bool volume_binding = true;
  // Volcano's: once pod affinity had nothing to say about a task it is not asked again in the
  // session, also when that was in the middle of a try that was taken back.
  bool keeps_skips = false;
  bool hears_newcomers = false;  // terms of pods placed during the session count at once
};

class KubeFilters {
 public:
  // Before the session's first change. All references outlive this object.
  KubeFilters(const Cluster& cluster, KubeView& view, ReasonTable& reasons,
              const FilterSwitches& switches);

  // Between two sessions; false: has to be made anew.
  bool Follow(const ClusterChanges& changes);

  // Counts what later checks of this task compare with, as of now; a refusal is one for every node.
  Refusal Prepare(TaskId task);
  // By NodeId.
  void Fixed(ClassId cls, std::span<Refusal> by_node);
  Refusal FixedAt(ClassId cls, NodeId node);
  // Words that are equal for two classes only if these answers are.
  void FixedDependsOn(ClassId cls, std::vector<uint64_t>& words);
  // With the counts of the task's last Prepare, whatever has happened since.
  Refusal Current(TaskId task, NodeId node);
  // Leaves of the given nodes, bits by position in nodes_by_name, those that Current may refuse.
  // Whom it refuses for the number of pods, pod affinity or spread is known of 64 nodes at a time,
  // from the same counts; of a pod with ports or claims all nodes are left.
  void LeaveDoubtful(TaskId task, std::span<uint64_t> nodes);
  // Calls `say` with what Current says of whole domains for pod affinity or spread, if one of both
  // has a say, and their nodes that are not full.
  void SayOfMany(TaskId task, RowOfBits nodes, const PredicateHook::Say& say);
  // Whether Current refuses for pod affinity or spread, which it does until the next Prepare.
  bool PreparedRefuses(TaskId task, NodeId node);
  // Adds all such nodes; bits by position in nodes_by_name.
  void AddPreparedRefuses(TaskId task, std::span<uint64_t> nodes);
  bool CurrentIsNodeLocal(ClassId cls);
  // Whether evictions may lift whatever Current refuses for.
  bool CurrentIsLiftable(ClassId cls);

  // A task was allocated: volumes are chosen for it. And given back.
  void Reserve(TaskId task, NodeId node, UndoLog& undo);
  void Unreserve(TaskId task, UndoLog& undo);

  // Dry runs look at pod affinity alone.
  void SimulateMove(TaskId task, TaskId moved, int32_t step, UndoLog& undo);
  Refusal SimulatePredicate(TaskId task, NodeId node);

  // What each filter by itself says: the preparation (all filters are asked even after a refusal),
  // then the node.
  using Report = std::array<Refusal, kFilterCount>;
  Report ExplainPrepare(TaskId task);
  Report ExplainNode(TaskId task, NodeId node);

 private:
  // What a class needs beyond the number of pods.
  enum Need : uint8_t {
    kPorts = 1,
    kClaims = 2,
    kSpread = 4,
    kKnown = 128,
  };
  struct Prepared {
    PodAffinityCounts affinity;
    SpreadCounts spread;
  };
  // Whether pod affinity had nothing to say about a task when it was last prepared.
  enum AffinityState : uint8_t { kNotAsked, kSkipped, kActive };

  uint8_t NeedsOf(ClassId cls);
  Refusal PrepareVolumes(TaskId task);
  // Whether anybody asks for what was counted last.
  bool NeedsCounts(TaskId task, ClassId cls);
  void Count(TaskId task, ClassId cls);
  const Prepared& PreparedFor(TaskId task, ClassId cls);

  const Cluster& cluster_;
  KubeView& view_;
  ReasonTable& reasons_;
  const FilterSwitches on_;
  KubeFacts facts_;
  NodeFitRules node_fit_;
  HostPortRule ports_;
  std::optional<PodAffinityRule> affinity_;   // only when some pod has pod affinity
  std::optional<TopologySpreadRule> spread_;  // only when some pod has spread constraints
  // Only when a pod with claims has come up.
  struct VolumeRules {
    VolumeRules(const Cluster& cluster, const KubeView& view, KubeFacts& facts,
                ReasonTable& reasons)
        : tables(cluster, facts.topology),
          limits(cluster, view, tables, reasons),
          zone(cluster, tables, reasons),
          binding(cluster, tables, reasons) {}
    VolumeTables tables;
    CsiLimitRule limits;
    VolumeZoneRule zone;
    VolumeBindingRule binding;
  };
  std::unique_ptr<VolumeRules> volumes_;

  Refusal too_many_pods_;
  FullNodes full_;
  Table<ClassId, uint8_t> needs_;
  Table<TaskId, AffinityState> affinity_state_;
  // The latest preparations. Bounded: a task whose counts were dropped is counted again when asked
  // about.
  LatestOfTasks<Prepared, 512> prepared_;  // of tasks that have something to compare with
  const Prepared nothing_{};
  TaskId last_task_;
  const Prepared* last_prepared_ = nullptr;
  std::vector<PodMove> moves_;
  // Of one call, kept for their memory.
  std::vector<uint64_t> doubtful_;
  std::vector<uint64_t> left_;
};

}  // namespace krafla
