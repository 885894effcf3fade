#include "kube_rules/kube_filters.h"

#include <algorithm>

namespace krafla {

std::string_view ToString(Filter filter) {
  static constexpr std::string_view kNames[kFilterCount] = {
      "PodsNumber",        "NodeUnschedulable", "NodeAffinity",     "TaintToleration",
      "NodePorts",         "InterPodAffinity",  "NodeVolumeLimits", "VolumeZone",
      "PodTopologySpread", "VolumeBinding"};
  return kNames[static_cast<size_t>(filter)];
}

KubeFilters::KubeFilters(const Cluster& cluster, KubeView& view, ReasonTable& reasons,
                         const FilterSwitches& switches)
    : cluster_(cluster),
      view_(view),
      reasons_(reasons),
      on_(switches),
      facts_(cluster, view, switches.hears_newcomers),
      node_fit_(cluster, reasons),
      ports_(cluster, view, reasons),
      too_many_pods_{Refusal::kUnschedulable, reasons.Intern("node(s) pod number exceeded")},
      full_(cluster, view),
      needs_(cluster.classes.size(), 0),
      affinity_state_(cluster.tasks.size(), kNotAsked) {
  if (on_.pod_affinity && facts_.terms) affinity_.emplace(facts_, reasons);
  if (on_.pod_topology_spread && facts_.kinds) spread_.emplace(facts_, reasons);
}

bool KubeFilters::Follow(const ClusterChanges& changes) {
  if (!facts_.StillHold() || volumes_ != nullptr) return false;
  node_fit_.Follow(changes.node_facts);
  ports_.Follow();
  full_.Follow(changes);
  needs_.Resize(cluster_.classes.size());
  affinity_state_.Reset(cluster_.tasks.size(), kNotAsked);
  prepared_.Clear();
  last_task_ = {};
  last_prepared_ = nullptr;
  moves_.clear();
  return true;
}

uint8_t KubeFilters::NeedsOf(ClassId cls) {
  uint8_t& needs = needs_[cls];
  if (needs != 0) return needs;
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  needs = kKnown;
  if (on_.node_ports && !spec.host_ports.empty()) needs |= kPorts;
  if (spread_ && spread_->HasConstraints(cls)) needs |= kSpread;
  if (!spec.claims.empty()) {
    needs |= kClaims;
    if (!volumes_) volumes_ = std::make_unique<VolumeRules>(cluster_, view_, facts_, reasons_);
  }
  return needs;
}

Refusal KubeFilters::PrepareVolumes(TaskId task) {
  Refusal refusal;
  if (on_.volume_zone) refusal = volumes_->zone.Prepare(cluster_.tasks[task].cls);
  if (!refusal.refused() && on_.volume_binding) refusal = volumes_->binding.Prepare(task);
  return refusal;
}

bool KubeFilters::NeedsCounts(TaskId task, ClassId cls) {
  return affinity_state_[task] == kActive || (NeedsOf(cls) & kSpread) != 0;
}

void KubeFilters::Count(TaskId task, ClassId cls) {
  Prepared now;
  if (affinity_ && !(on_.keeps_skips && affinity_state_[task] == kSkipped)) {
    now.affinity = affinity_->Prepare(cls);
    affinity_state_[task] = now.affinity.empty() ? kSkipped : kActive;
  }
  // Most tasks have nothing to compare with: there is nothing to keep.
  if (!NeedsCounts(task, cls)) return;
  if ((NeedsOf(cls) & kSpread) != 0) now.spread = spread_->Prepare(cls);
  last_task_ = task;
  last_prepared_ = &prepared_.Set(task, std::move(now));
}

const KubeFilters::Prepared& KubeFilters::PreparedFor(TaskId task, ClassId cls) {
  if (task == last_task_) return *last_prepared_;
  if (const Prepared* known = prepared_.Find(task); known != nullptr) {
    last_task_ = task;
    last_prepared_ = known;
  } else {
    Count(task, cls);
    // As of now nothing is counted any more; what was kept last is another task's.
    if (!NeedsCounts(task, cls)) return nothing_;
  }
  return *last_prepared_;
}

Refusal KubeFilters::Prepare(TaskId task) {
  const ClassId cls = cluster_.tasks[task].cls;
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  if (on_.node_affinity && spec.has_required_node_affinity)
    if (const Refusal refusal = node_fit_.CheckNames(spec); refusal.refused()) return refusal;
  const uint8_t needs = NeedsOf(cls);
  if (affinity_ || (needs & kSpread) != 0) Count(task, cls);
  return (needs & kClaims) != 0 ? PrepareVolumes(task) : Refusal{};
}

void KubeFilters::Fixed(ClassId cls, std::span<Refusal> by_node) {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  node_fit_.JoinUnschedulable(spec, by_node);
  if (on_.node_affinity) node_fit_.JoinAffinity(spec, by_node);
  if (on_.taint_toleration) node_fit_.JoinTaints(spec, by_node);
  if ((NeedsOf(cls) & kClaims) == 0) return;
  for (const NodeId node : cluster_.nodes_by_name) {
    if (on_.volume_zone) by_node[node.value].Join(volumes_->zone.Check(cls, node));
    if (on_.volume_binding) by_node[node.value].Join(volumes_->binding.CheckBound(cls, node));
  }
}

Refusal KubeFilters::FixedAt(ClassId cls, NodeId node) {
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  Refusal refusal = node_fit_.CheckUnschedulable(spec, node);
  if (on_.node_affinity) refusal.Join(node_fit_.CheckAffinity(spec, node));
  if (on_.taint_toleration) refusal.Join(node_fit_.CheckTaints(spec, node));
  if ((NeedsOf(cls) & kClaims) == 0) return refusal;
  if (on_.volume_zone) refusal.Join(volumes_->zone.Check(cls, node));
  if (on_.volume_binding) refusal.Join(volumes_->binding.CheckBound(cls, node));
  return refusal;
}

void KubeFilters::FixedDependsOn(ClassId cls, std::vector<uint64_t>& words) {
  words.push_back(node_fit_.FirstLike(cluster_.classes[cls].spec).value);
  words.push_back((NeedsOf(cls) & kClaims) != 0 ? cls.value : UINT64_MAX);
}

Refusal KubeFilters::Current(TaskId task, NodeId node) {
  Refusal refusal;
  if (full_.IsFull(node)) refusal = too_many_pods_;
  const ClassId cls = cluster_.tasks[task].cls;
  const uint8_t needs = NeedsOf(cls);
  if ((needs & kPorts) != 0)
    refusal.Join(ports_.Check(cluster_.specs[cluster_.classes[cls].spec], node));
  if (affinity_ && affinity_state_[task] == kNotAsked) Count(task, cls);
  if (affinity_state_[task] == kActive)
    refusal.Join(affinity_->Check(PreparedFor(task, cls).affinity, node));
  if ((needs & kClaims) != 0 && on_.node_volume_limits)
    refusal.Join(volumes_->limits.Check(task, node));
  if ((needs & kSpread) != 0)
    refusal.Join(spread_->Check(PreparedFor(task, cls).spread, cls, node));
  if ((needs & kClaims) != 0 && on_.volume_binding)
    refusal.Join(volumes_->binding.CheckUnbound(cls, node));
  return refusal;
}

bool KubeFilters::PreparedRefuses(TaskId task, NodeId node) {
  const ClassId cls = cluster_.tasks[task].cls;
  if (affinity_state_[task] == kActive &&
      affinity_->Check(PreparedFor(task, cls).affinity, node).refused())
    return true;
  return (NeedsOf(cls) & kSpread) != 0 &&
         spread_->Check(PreparedFor(task, cls).spread, cls, node).refused();
}

void KubeFilters::AddPreparedRefuses(TaskId task, std::span<uint64_t> nodes) {
  const ClassId cls = cluster_.tasks[task].cls;
  if (affinity_state_[task] == kActive)
    affinity_->AddRefusing(PreparedFor(task, cls).affinity, nodes);
  if ((NeedsOf(cls) & kSpread) != 0)
    spread_->AddRefusing(PreparedFor(task, cls).spread, cls, nodes);
}

void KubeFilters::LeaveDoubtful(TaskId task, std::span<uint64_t> nodes) {
  const ClassId cls = cluster_.tasks[task].cls;
  const uint8_t needs = NeedsOf(cls);
  if (affinity_ && affinity_state_[task] == kNotAsked) Count(task, cls);
  if ((needs & (kPorts | kClaims)) != 0) return;
  doubtful_.assign(nodes.size(), 0);
  full_.AddFull(nodes, doubtful_);
  AddPreparedRefuses(task, doubtful_);
  KeepThese(nodes, doubtful_);
}

void KubeFilters::SayOfMany(TaskId task, RowOfBits nodes, const PredicateHook::Say& say) {
  const ClassId cls = cluster_.tasks[task].cls;
  const uint8_t needs = NeedsOf(cls);
  if (affinity_ && affinity_state_[task] == kNotAsked) Count(task, cls);
  const bool affinity = affinity_state_[task] == kActive;
  const bool spread = (needs & kSpread) != 0;
  // Whom both refuse hears both.
  if ((needs & (kPorts | kClaims)) != 0 || affinity == spread) return;
  left_.assign(nodes.begin(), nodes.end());
  doubtful_.assign(nodes.size(), 0);
  full_.AddFull(nodes, doubtful_);
  TakeOff(left_, doubtful_);
  const Prepared& prepared = PreparedFor(task, cls);
  if (affinity) affinity_->SayOfMany(prepared.affinity, left_, say);
  if (spread) spread_->SayOfMany(prepared.spread, cls, left_, say);
}

bool KubeFilters::CurrentIsNodeLocal(ClassId cls) {
  const uint8_t needs = NeedsOf(cls);
  if ((needs & kSpread) != 0) return false;
  if (affinity_ && affinity_->LooksAround(cls)) return false;
  if ((needs & kClaims) == 0) return true;
  // A claim that is not bound yet competes with others for volumes. And who takes the answer for
  // local also takes it that evictions can lift it.
  return !(on_.volume_binding && volumes_->binding.HasUnbound(cls)) &&
         !(on_.node_volume_limits && volumes_->limits.MayBeFinal(cls));
}

bool KubeFilters::CurrentIsLiftable(ClassId cls) {
  const uint8_t needs = NeedsOf(cls);
  if ((needs & kClaims) != 0) return false;
  if (affinity_ && affinity_->WantsCompany(cls)) return false;
  return (needs & kSpread) == 0 || spread_->AllNodesHaveKeys(cls);
}

void KubeFilters::Reserve(TaskId task, NodeId node, UndoLog& undo) {
  if (on_.volume_binding && (NeedsOf(cluster_.tasks[task].cls) & kClaims) != 0)
    volumes_->binding.Reserve(task, node, undo);
}

void KubeFilters::Unreserve(TaskId task, UndoLog& undo) {
  if (on_.volume_binding && (NeedsOf(cluster_.tasks[task].cls) & kClaims) != 0)
    volumes_->binding.Unreserve(task, undo);
}

void KubeFilters::SimulateMove(TaskId task, TaskId moved, int32_t step, UndoLog& undo) {
  if (affinity_state_[task] != kActive) return;
  moves_.push_back({task, moved, cluster_.tasks[moved].node, step});
  undo.Inserted(moves_, moves_.size() - 1);
}

Refusal KubeFilters::SimulatePredicate(TaskId task, NodeId node) {
  if (affinity_state_[task] != kActive) return {};
  const Prepared& prepared = PreparedFor(task, cluster_.tasks[task].cls);
  return affinity_->CheckAfter(prepared.affinity, task, moves_, node);
}

KubeFilters::Report KubeFilters::ExplainPrepare(TaskId task) {
  view_.EnsureBuilt();
  Report report;
  auto at = [&](Filter filter) -> Refusal& { return report[static_cast<size_t>(filter)]; };
  const ClassId cls = cluster_.tasks[task].cls;
  if (on_.node_affinity)
    at(Filter::kNodeAffinity) = node_fit_.CheckNames(cluster_.specs[cluster_.classes[cls].spec]);
  const uint8_t needs = NeedsOf(cls);
  if (affinity_ || (needs & kSpread) != 0) Count(task, cls);
  if ((needs & kClaims) == 0) return report;
  if (on_.volume_zone) at(Filter::kVolumeZone) = volumes_->zone.Prepare(cls);
  if (on_.volume_binding) at(Filter::kVolumeBinding) = volumes_->binding.Prepare(task);
  return report;
}

KubeFilters::Report KubeFilters::ExplainNode(TaskId task, NodeId node) {
  Report report;
  auto at = [&](Filter filter) -> Refusal& { return report[static_cast<size_t>(filter)]; };
  const ClassId cls = cluster_.tasks[task].cls;
  const PodSpec& spec = cluster_.specs[cluster_.classes[cls].spec];
  const uint8_t needs = NeedsOf(cls);
  if (full_.IsFull(node)) at(Filter::kPodsNumber) = too_many_pods_;
  at(Filter::kNodeUnschedulable) = node_fit_.CheckUnschedulable(spec, node);
  if (on_.node_affinity) at(Filter::kNodeAffinity) = node_fit_.CheckAffinity(spec, node);
  if (on_.taint_toleration) at(Filter::kTaintToleration) = node_fit_.CheckTaints(spec, node);
  if (on_.node_ports) at(Filter::kNodePorts) = ports_.Check(spec, node);
  if (affinity_state_[task] == kActive)
    at(Filter::kInterPodAffinity) = affinity_->Check(PreparedFor(task, cls).affinity, node);
  if ((needs & kSpread) != 0)
    at(Filter::kPodTopologySpread) = spread_->Check(PreparedFor(task, cls).spread, cls, node);
  if ((needs & kClaims) == 0) return report;
  if (on_.node_volume_limits) at(Filter::kNodeVolumeLimits) = volumes_->limits.Check(task, node);
  if (on_.volume_zone) at(Filter::kVolumeZone) = volumes_->zone.Check(cls, node);
  if (on_.volume_binding) at(Filter::kVolumeBinding) = volumes_->binding.CheckAll(cls, node);
  return report;
}

}  // namespace krafla
