#include "kube_rules/csi_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

std::string WhyNotOwned(const Cluster& cluster, TaskId task, const ClaimUse& use) {
  const PersistentVolumeClaim& claim = cluster.volumes.claims[use.claim];
  if (!use.ephemeral) return {};
  if (claim.owner_pod_uid != kEmptyStr && claim.owner_pod_uid == cluster.tasks[task].uid) return {};
  return fmt::format("PVC {}/{} was not created for pod {} (pod is not owner)",
                     cluster.Text(claim.ns), cluster.Text(claim.name), cluster.TaskKey(task));
}

CsiLimitRule::CsiLimitRule(const Cluster& cluster, const KubeView& view, VolumeTables& tables,
                           ReasonTable& reasons)
    : cluster_(cluster),
      view_(view),
      tables_(tables),
      reasons_(reasons),
      too_many_{Refusal::kUnschedulable, reasons.Intern("node(s) exceed max volume count")},
      attached_round_(tables.attachable_volumes(), 0),
      counts_(tables.drivers()) {
  for (uint32_t t = 0; t < cluster.tasks.size() && !foreign_claims_; ++t)
    for (const ClaimUse& use : tables.UsesOf(cluster.tasks[TaskId(t)].cls))
      if (use.claim != VolumeTables::kNone && !WhyNotOwned(cluster, TaskId(t), use).empty())
        foreign_claims_ = true;
}

bool CsiLimitRule::MayBeFinal(ClassId cls) {
  const std::vector<ClaimUse>& uses = tables_.UsesOf(cls);
  if (uses.empty()) return false;
  return foreign_claims_ || std::any_of(uses.begin(), uses.end(), [](const ClaimUse& use) {
           return use.claim == VolumeTables::kNone;
         });
}

uint32_t& CsiLimitRule::CountOf(uint32_t driver) {
  DriverCount& count = counts_[driver];
  if (count.round != round_) count = {round_, 0};
  return count.count;
}

// Counts the use's volume unless it is counted already; false with a refusal when the claim is not
// the pod's own.
bool CsiLimitRule::Attach(TaskId task, const ClaimUse& use, Refusal& refusal) {
  if (use.ephemeral) {
    if (const std::string why = WhyNotOwned(cluster_, task, use); !why.empty()) {
      refusal = {Refusal::kError, reasons_.Intern(why)};
      return false;
    }
  }
  const CsiAttachment* attachment = tables_.AttachmentOf(use.claim);
  if (attachment == nullptr || attached_round_[attachment->volume] == round_) return true;
  attached_round_[attachment->volume] = round_;
  ++CountOf(attachment->driver);
  return true;
}

Refusal CsiLimitRule::NotFound(TaskId task, const ClaimUse& use) {
  if (use.name == kEmptyStr)
    return {Refusal::kError, reasons_.Intern("PersistentVolumeClaim had no name")};
  const std::string_view name = cluster_.Text(use.name);
  return {
      Refusal::kUnschedulableAndUnresolvable,
      reasons_.Intern(fmt::format("looking up PVC {}/{}: persistentvolumeclaim \"{}\" not found",
                                  cluster_.Text(cluster_.tasks[task].ns), name, name))};
}

Refusal CsiLimitRule::Check(TaskId task, NodeId node) {
  const std::vector<ClaimUse>& wanted = tables_.UsesOf(cluster_.tasks[task].cls);
  Refusal refusal;
  bool attaches = false;
  for (const ClaimUse& use : wanted) {
    if (use.claim == VolumeTables::kNone) return NotFound(task, use);
    if (use.ephemeral) {
      if (const std::string why = WhyNotOwned(cluster_, task, use); !why.empty())
        return {Refusal::kError, reasons_.Intern(why)};
    }
    attaches = attaches || tables_.AttachmentOf(use.claim) != nullptr;
  }
  const std::vector<VolumeTables::Limit>& limits = tables_.LimitsOf(node);
  if (!attaches || limits.empty()) return {};

  ++round_;
  for (const TaskId other : view_.PodsOn(node))
    for (const ClaimUse& use : tables_.UsesOf(cluster_.tasks[other].cls))
      if (use.claim != VolumeTables::kNone && !Attach(other, use, refusal)) return refusal;
  // A driver is over its limit only if this pod adds to it.
  for (const ClaimUse& use : wanted) {
    const CsiAttachment* attachment = tables_.AttachmentOf(use.claim);
    if (attachment == nullptr || attached_round_[attachment->volume] == round_) continue;
    Attach(task, use, refusal);
    for (const VolumeTables::Limit& limit : limits)
      if (limit.driver == attachment->driver && CountOf(limit.driver) > limit.count)
        return too_many_;
  }
  return {};
}

}  // namespace krafla
