#include "kube_rules/volume_binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube_rules/csi_limits.h"

namespace krafla {

VolumeBindingRule::VolumeBindingRule(const Cluster& cluster, VolumeTables& tables,
                                     ReasonTable& reasons)
    : cluster_(cluster),
      volumes_(cluster.volumes),
      tables_(tables),
      reasons_(reasons),
      no_provisioner_(cluster.strings.Find("kubernetes.io/no-provisioner")),
      wrong_node_(Unresolvable("node(s) didn't match PersistentVolume's node affinity")),
      nothing_to_bind_(Unresolvable("node(s) didn't find available persistent volumes to bind")),
      volume_gone_(Unresolvable(
          "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")),
      decided_by_(cluster.volumes.claims.size()),
      volume_of_(cluster.volumes.claims.size(), kNone),
      claim_of_(cluster.volumes.volumes.size(), kNone) {
  claims_.Resize(cluster.classes.size());
  for (const PersistentVolumeClaim& claim : volumes_.claims)
    selected_node_.push_back(claim.selected_node);
}

Refusal VolumeBindingRule::Unresolvable(std::string_view reason) {
  return {Refusal::kUnschedulableAndUnresolvable, reasons_.Intern(reason)};
}

const VolumeBindingRule::Claims& VolumeBindingRule::Of(ClassId cls) {
  auto& slot = claims_[cls];
  if (slot) return *slot;
  slot = std::make_unique<Claims>();
  for (const ClaimUse& use : tables_.UsesOf(cls)) {
    if (use.claim == kNone) continue;
    const PersistentVolumeClaim& claim = volumes_.claims[use.claim];
    if (claim.volume_name != kEmptyStr && claim.fully_bound) {
      slot->bound.push_back(use.claim);
      continue;
    }
    const uint32_t storage_class = tables_.FindClass(claim.storage_class.value_or(kEmptyStr));
    if (storage_class != kNone && volumes_.classes[storage_class].wait_for_first_consumer &&
        claim.volume_name == kEmptyStr) {
      slot->unbound.push_back(use.claim);
    } else {
      slot->immediate = true;
    }
  }
  return *slot;
}

Refusal VolumeBindingRule::Prepare(TaskId task) {
  const ClassId cls = cluster_.tasks[task].cls;
  for (const ClaimUse& use : tables_.UsesOf(cls)) {
    const std::string_view name = cluster_.Text(use.name);
    if (use.claim == kNone) {
      return Unresolvable(use.ephemeral
                              ? fmt::format("waiting for ephemeral volume controller to create the "
                                            "persistentvolumeclaim \"{}\"",
                                            name)
                              : fmt::format("persistentvolumeclaim \"{}\" not found", name));
    }
    const PersistentVolumeClaim& claim = volumes_.claims[use.claim];
    if (claim.lost)
      return Unresolvable(
          fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                      name, cluster_.Text(claim.volume_name)));
    if (claim.deleting)
      return Unresolvable(fmt::format("persistentvolumeclaim \"{}\" is being deleted", name));
    if (const std::string why = WhyNotOwned(cluster_, task, use); !why.empty())
      return Unresolvable(why);
  }
  return Of(cls).immediate ? Unresolvable("pod has unbound immediate PersistentVolumeClaims")
                           : Refusal{};
}

Refusal VolumeBindingRule::CheckBound(ClassId cls, NodeId node) {
  for (const uint32_t claim : Of(cls).bound) {
    const uint32_t volume = tables_.FindVolume(volumes_.claims[claim].volume_name);
    if (volume == kNone) return volume_gone_;
    if (!tables_.FitsNode(volume, node)) return wrong_node_;
  }
  return {};
}

bool VolumeBindingRule::HasUnbound(ClassId cls) {
  return !Of(cls).unbound.empty();
}

Refusal VolumeBindingRule::CheckUnbound(ClassId cls, NodeId node) {
  const Claims& claims = Of(cls);
  return claims.unbound.empty() || Choose(claims, node) ? Refusal{} : nothing_to_bind_;
}

Refusal VolumeBindingRule::CheckAll(ClassId cls, NodeId node) {
  const Refusal bound = CheckBound(cls, node);
  Refusal all = CheckUnbound(cls, node);
  if (!all.refused() || bound.reason == wrong_node_.reason) return bound;
  all.Join(bound);
  return all;
}

// Claims with a chosen node wait for their provisioner there. The others take volumes, small claims
// first so that they leave the large volumes alone; what finds none must be provisioned.
bool VolumeBindingRule::Choose(const Claims& claims, NodeId node) {
  choices_.clear();
  to_provision_.clear();
  const StrId name = cluster_.nodes[node].name;
  for (const uint32_t claim : claims.unbound) {
    if (selected_node_[claim] == kEmptyStr) continue;
    if (selected_node_[claim] != name) return false;
    to_provision_.push_back(claim);
  }
  for (const uint32_t claim : claims.unbound) {
    if (selected_node_[claim] != kEmptyStr) continue;
    choices_.push_back({claim, kNone});
  }
  std::stable_sort(choices_.begin(), choices_.end(), [&](const Choice& a, const Choice& b) {
    return volumes_.claims[a.claim].request_bytes < volumes_.claims[b.claim].request_bytes;
  });
  for (Choice& choice : choices_) {
    choice.volume = FindVolume(choice.claim, node);
    if (choice.volume == kNone) to_provision_.push_back(choice.claim);
  }
  std::erase_if(choices_, [](const Choice& choice) { return choice.volume == kNone; });
  return std::all_of(to_provision_.begin(), to_provision_.end(),
                     [&](uint32_t claim) { return CanProvision(claim, node); });
}

bool VolumeBindingRule::CanProvision(uint32_t claim, NodeId node) const {
  const StrId name = volumes_.claims[claim].storage_class.value_or(kEmptyStr);
  const StorageClass& storage_class = volumes_.classes[tables_.FindClass(name)];
  if (storage_class.provisioner == kEmptyStr || storage_class.provisioner == no_provisioner_)
    return false;
  if (!storage_class.has_allowed_topologies) return true;
  const Node& n = cluster_.nodes[node];
  return std::any_of(storage_class.allowed_topologies.begin(),
                     storage_class.allowed_topologies.end(), [&](const NodeSelectorTerm& term) {
                       return Matches(term, n.labels, n.name, cluster_.strings);
                     });
}

bool VolumeBindingRule::IsChosen(uint32_t volume) const {
  return std::any_of(choices_.begin(), choices_.end(),
                     [&](const Choice& choice) { return choice.volume == volume; });
}

bool VolumeBindingRule::Suits(const PersistentVolume& volume,
                              const PersistentVolumeClaim& claim) const {
  return volume.capacity_bytes >= claim.request_bytes && volume.mode == claim.mode &&
         volume.volume_attributes_class == claim.volume_attributes_class && !volume.deleting;
}

uint32_t VolumeBindingRule::FindVolume(uint32_t claim_id, NodeId node) {
  const PersistentVolumeClaim& claim = volumes_.claims[claim_id];
  const StrId storage_class = claim.storage_class.value_or(kEmptyStr);
  // A volume that is reserved for the claim is the answer, and if it cannot be used here there is
  // none.
  for (const uint32_t v : tables_.ReservedFor(claim_id)) {
    const PersistentVolume& volume = volumes_.volumes[v];
    if (volume.storage_class != storage_class || IsChosen(v) || !Suits(volume, claim)) continue;
    return tables_.FitsNode(v, node) ? v : kNone;
  }
  if (const uint32_t taken = volume_of_[claim_id]; taken != kNone && !IsChosen(taken))
    return tables_.FitsNode(taken, node) ? taken : kNone;
  const VolumeTables::FreeVolumes free = tables_.FreeOn(storage_class, node);
  auto first = [&](std::span<const uint32_t> list) {
    for (const uint32_t v : list) {
      const PersistentVolume& volume = volumes_.volumes[v];
      if (claim_of_[v] != kNone || IsChosen(v) || !Suits(volume, claim)) continue;
      if (claim.selector.given && !Matches(claim.selector, volume.labels)) continue;
      if ((claim.access_modes & ~volume.access_modes) == 0) return v;
    }
    return kNone;
  };
  const uint32_t here = first(free.here);
  const uint32_t anywhere = first(free.anywhere);
  if (here == kNone || anywhere == kNone) return here == kNone ? anywhere : here;
  const PersistentVolume& left = volumes_.volumes[here];
  const PersistentVolume& right = volumes_.volumes[anywhere];
  if (left.capacity_bytes != right.capacity_bytes)
    return left.capacity_bytes < right.capacity_bytes ? here : anywhere;
  return cluster_.Text(left.name) < cluster_.Text(right.name) ? here : anywhere;
}

void VolumeBindingRule::Reserve(TaskId task, NodeId node, UndoLog& undo) {
  const Claims& claims = Of(cluster_.tasks[task].cls);
  if (claims.unbound.empty() || !Choose(claims, node)) return;
  auto decide = [&](uint32_t claim) {
    undo.Save(decided_by_[claim]);
    decided_by_[claim] = task;
  };
  for (const Choice& choice : choices_) {
    undo.Save(claim_of_[choice.volume]);
    claim_of_[choice.volume] = choice.claim;
    undo.Save(volume_of_[choice.claim]);
    volume_of_[choice.claim] = choice.volume;
    decide(choice.claim);
  }
  for (const uint32_t claim : to_provision_) {
    undo.Save(selected_node_[claim]);
    selected_node_[claim] = cluster_.nodes[node].name;
    decide(claim);
  }
}

std::vector<VolumeBindingRule::ChosenVolume> VolumeBindingRule::ReservedBy(TaskId task) {
  std::vector<ChosenVolume> chosen;
  for (const uint32_t claim : Of(cluster_.tasks[task].cls).unbound)
    if (decided_by_[claim] == task) chosen.push_back({claim, volume_of_[claim]});
  return chosen;
}

void VolumeBindingRule::Unreserve(TaskId task, UndoLog& undo) {
  for (const uint32_t claim : Of(cluster_.tasks[task].cls).unbound) {
    if (decided_by_[claim] != task) continue;
    undo.Save(decided_by_[claim]);
    decided_by_[claim] = TaskId{};
    undo.Save(selected_node_[claim]);
    selected_node_[claim] = volumes_.claims[claim].selected_node;
    if (const uint32_t volume = volume_of_[claim]; volume != kNone) {
      undo.Save(claim_of_[volume]);
      claim_of_[volume] = kNone;
      undo.Save(volume_of_[claim]);
      volume_of_[claim] = kNone;
    }
  }
}

}  // namespace krafla
