#include "kube_rules/volume_tables.h"

#include <algorithm>

namespace krafla {

namespace {

uint64_t ClaimKey(StrId ns, StrId name) {
  return uint64_t{ns.value} << 32 | name.value;
}

bool MatchesWithoutName(const NodeSelectorTerm& term, const LabelSet& labels,
                        const StringPool& strings) {
  if (term.expressions.empty() && term.name_fields.empty()) return false;
  return std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const SelectorRequirement& r) { return Matches(r, labels, strings); });
}

}  // namespace

VolumeTables::VolumeTables(const Cluster& cluster, TopologyIndex& topology)
    : cluster_(cluster),
      volumes_(cluster.volumes),
      topology_(topology),
      limits_(cluster.nodes.size()) {
  uses_.Resize(cluster.classes.size());
  for (uint32_t i = 0; i < volumes_.claims.size(); ++i)
    claims_.emplace(ClaimKey(volumes_.claims[i].ns, volumes_.claims[i].name), i);
  for (uint32_t i = 0; i < volumes_.volumes.size(); ++i)
    volumes_by_name_.emplace(volumes_.volumes[i].name, i);
  for (uint32_t i = 0; i < volumes_.classes.size(); ++i)
    classes_by_name_.emplace(volumes_.classes[i].name, i);
  IndexAttachments();
  IndexReservations();
  for (const CsiNode& csi : volumes_.csi_nodes) {
    const NodeId node = cluster.FindNode(csi.node);
    if (!node.valid()) continue;
    for (const CsiNodeDriver& driver : csi.drivers)
      if (driver.limit) limits_[node].push_back({DriverOf(driver.driver), *driver.limit});
  }
}

uint32_t VolumeTables::FindClaim(StrId ns, StrId name) const {
  const auto it = claims_.find(ClaimKey(ns, name));
  return it == claims_.end() ? kNone : it->second;
}

uint32_t VolumeTables::DriverOf(StrId name) {
  return drivers_.try_emplace(name, static_cast<uint32_t>(drivers_.size())).first->second;
}

// A bound claim attaches its volume's handle; one that is not bound yet will attach something new,
// of the driver that its storage class provisions with.
void VolumeTables::IndexAttachments() {
  std::unordered_map<uint64_t, uint32_t> handles;
  attachments_.assign(volumes_.claims.size(), {kNone, 0});
  for (uint32_t c = 0; c < volumes_.claims.size(); ++c) {
    const PersistentVolumeClaim& claim = volumes_.claims[c];
    const uint32_t volume = claim.volume_name == kEmptyStr ? kNone : FindVolume(claim.volume_name);
    if (volume != kNone) {
      const PersistentVolume& pv = volumes_.volumes[volume];
      if (pv.csi_driver == kEmptyStr || pv.csi_handle == kEmptyStr) continue;
      const uint32_t driver = DriverOf(pv.csi_driver);
      const uint64_t key = uint64_t{driver} << 32 | pv.csi_handle.value;
      const auto [it, is_new] = handles.try_emplace(key, volume_count_);
      volume_count_ += is_new ? 1 : 0;
      attachments_[c] = {it->second, driver};
      continue;
    }
    const uint32_t storage_class = FindClass(claim.storage_class.value_or(kEmptyStr));
    if (storage_class == kNone || volumes_.classes[storage_class].provisioner == kEmptyStr)
      continue;
    attachments_[c] = {volume_count_++, DriverOf(volumes_.classes[storage_class].provisioner)};
  }
}

void VolumeTables::IndexReservations() {
  reserved_.resize(volumes_.claims.size());
  for (uint32_t v = 0; v < volumes_.volumes.size(); ++v) {
    const PersistentVolume& pv = volumes_.volumes[v];
    if (pv.claim_name == kEmptyStr) continue;
    const uint32_t claim = FindClaim(pv.claim_ns, pv.claim_name);
    if (claim == kNone) continue;
    if (pv.claim_uid == kEmptyStr || pv.claim_uid == volumes_.claims[claim].uid)
      reserved_[claim].push_back(v);
  }
  for (auto& list : reserved_)
    std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      return cluster_.Text(volumes_.volumes[a].name) < cluster_.Text(volumes_.volumes[b].name);
    });
}

const CsiAttachment* VolumeTables::AttachmentOf(uint32_t claim) const {
  return attachments_[claim].volume == kNone ? nullptr : &attachments_[claim];
}

std::span<const uint32_t> VolumeTables::ReservedFor(uint32_t claim) const {
  return reserved_[claim];
}

const std::vector<ClaimUse>& VolumeTables::UsesOf(ClassId cls) {
  auto& slot = uses_[cls];
  if (slot) return *slot;
  slot = std::make_unique<std::vector<ClaimUse>>();
  const TaskClass& of = cluster_.classes[cls];
  for (const ClaimVolume& volume : cluster_.specs[of.spec].claims)
    slot->push_back({volume.claim, FindClaim(of.ns, volume.claim), volume.ephemeral});
  return *slot;
}

bool VolumeTables::FitsNode(uint32_t volume, NodeId node) const {
  const PersistentVolume& pv = volumes_.volumes[volume];
  if (!pv.has_node_affinity) return true;
  const LabelSet& labels = cluster_.nodes[node].labels;
  return std::any_of(pv.node_terms.begin(), pv.node_terms.end(), [&](const NodeSelectorTerm& term) {
    return MatchesWithoutName(term, labels, cluster_.strings);
  });
}

// Local volumes name their one node by a label; looking that label up beats asking every node about
// every volume.
std::vector<NodeId> VolumeTables::NodesOf(const PersistentVolume& volume) {
  std::vector<NodeId> nodes;
  for (const NodeSelectorTerm& term : volume.node_terms) {
    const auto in = std::find_if(term.expressions.begin(), term.expressions.end(),
                                 [](const auto& r) { return r.op == SelectorOp::kIn; });
    auto add_if_match = [&](NodeId node) {
      if (MatchesWithoutName(term, cluster_.nodes[node].labels, cluster_.strings))
        nodes.push_back(node);
    };
    if (in == term.expressions.end()) {
      std::for_each(cluster_.nodes_by_name.begin(), cluster_.nodes_by_name.end(), add_if_match);
      continue;
    }
    const TopologyKey& key = topology_.Of(in->key);
    for (const StrId value : in->values)
      if (const auto it = key.domain_by_value.find(value); it != key.domain_by_value.end())
        std::for_each(key.nodes_in[it->second].begin(), key.nodes_in[it->second].end(),
                      add_if_match);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

VolumeTables::ClassVolumes& VolumeTables::VolumesOf(StrId storage_class) {
  auto& slot = by_storage_class_[storage_class];
  if (slot) return *slot;
  slot = std::make_unique<ClassVolumes>();
  slot->by_node.Resize(cluster_.nodes.size());
  const StrId available = cluster_.strings.Find("Available");
  std::vector<uint32_t> free;
  for (uint32_t v = 0; v < volumes_.volumes.size(); ++v) {
    const PersistentVolume& pv = volumes_.volumes[v];
    if (pv.storage_class == storage_class && pv.phase == available && pv.claim_name == kEmptyStr &&
        !pv.deleting)
      free.push_back(v);
  }
  std::sort(free.begin(), free.end(), [&](uint32_t a, uint32_t b) {
    const PersistentVolume& left = volumes_.volumes[a];
    const PersistentVolume& right = volumes_.volumes[b];
    if (left.capacity_bytes != right.capacity_bytes)
      return left.capacity_bytes < right.capacity_bytes;
    return cluster_.Text(left.name) < cluster_.Text(right.name);
  });
  for (const uint32_t v : free) {
    if (!volumes_.volumes[v].has_node_affinity) {
      slot->anywhere.push_back(v);
    } else {
      for (const NodeId node : NodesOf(volumes_.volumes[v])) slot->by_node[node].push_back(v);
    }
  }
  return *slot;
}

VolumeTables::FreeVolumes VolumeTables::FreeOn(StrId storage_class, NodeId node) {
  const ClassVolumes& of = VolumesOf(storage_class);
  return {of.by_node[node], of.anywhere};
}

}  // namespace krafla
