#include "kube_rules/volume_zone.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

namespace {

constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// "z1__z2"; nothing at all when a part is empty.
std::vector<std::string_view> SplitZones(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find("__");
    const std::string_view part = Trim(text.substr(0, end));
    if (part.empty()) return {};
    parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 2);
  }
}

}  // namespace

VolumeZoneRule::VolumeZoneRule(const Cluster& cluster, VolumeTables& tables, ReasonTable& reasons)
    : cluster_(cluster),
      tables_(tables),
      reasons_(reasons),
      no_zone_{Refusal::kUnschedulableAndUnresolvable,
               reasons.Intern("node(s) had no available volume zone")} {
  judged_.Resize(cluster.classes.size());
  const StrId zone = cluster.strings.Find(kZone);
  const StrId region = cluster.strings.Find(kRegion);
  const ZoneLabel all[] = {{cluster.strings.Find(kBetaZone), zone},
                           {cluster.strings.Find(kBetaRegion), region},
                           {zone, zone},
                           {region, region}};
  for (const ZoneLabel& label : all)
    if (label.label.valid()) labels_.push_back(label);
}

Refusal VolumeZoneRule::Unresolvable(std::string_view reason) {
  return {Refusal::kUnschedulableAndUnresolvable, reasons_.Intern(reason)};
}

void VolumeZoneRule::AddTopologies(const PersistentVolume& volume,
                                   std::vector<Topology>& topologies) const {
  for (const ZoneLabel& label : labels_) {
    const StrId value = FindLabel(volume.labels, label.label);
    if (!value.valid()) continue;
    const std::vector<std::string_view> parts = SplitZones(cluster_.Text(value));
    if (parts.empty()) continue;
    Topology& topology = topologies.emplace_back(Topology{label.label, label.newer, {}});
    for (const std::string_view part : parts)
      if (const StrId known = cluster_.strings.Find(part); known.valid())
        topology.values.push_back(known);
    std::sort(topology.values.begin(), topology.values.end());
  }
}

Refusal VolumeZoneRule::Judge(const ClaimUse& use, std::vector<Topology>& topologies) {
  if (use.ephemeral) return {};
  if (use.name == kEmptyStr) return Unresolvable("PersistentVolumeClaim had no name");
  if (use.claim == VolumeTables::kNone)
    return Unresolvable(
        fmt::format("persistentvolumeclaim \"{}\" not found", cluster_.Text(use.name)));
  const PersistentVolumeClaim& claim = cluster_.volumes.claims[use.claim];
  if (claim.volume_name == kEmptyStr) {
    const StrId name = claim.storage_class.value_or(kEmptyStr);
    if (name == kEmptyStr)
      return Unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
    const uint32_t storage_class = tables_.FindClass(name);
    if (storage_class == VolumeTables::kNone)
      return Unresolvable(
          fmt::format("storageclass.storage.k8s.io \"{}\" not found", cluster_.Text(name)));
    if (cluster_.volumes.classes[storage_class].wait_for_first_consumer) return {};
    return Unresolvable("PersistentVolume had no name");
  }
  const uint32_t volume = tables_.FindVolume(claim.volume_name);
  if (volume == VolumeTables::kNone)
    return Unresolvable(
        fmt::format("persistentvolume \"{}\" not found", cluster_.Text(claim.volume_name)));
  AddTopologies(cluster_.volumes.volumes[volume], topologies);
  return {};
}

const VolumeZoneRule::Judged& VolumeZoneRule::Of(ClassId cls) {
  auto& slot = judged_[cls];
  if (slot) return *slot;
  slot = std::make_unique<Judged>();
  for (const ClaimUse& use : tables_.UsesOf(cls)) {
    slot->refusal = Judge(use, slot->topologies);
    if (slot->refusal.refused()) break;
  }
  return *slot;
}

Refusal VolumeZoneRule::Prepare(ClassId cls) {
  return Of(cls).refusal;
}

Refusal VolumeZoneRule::Check(ClassId cls, NodeId node) {
  const std::vector<Topology>& topologies = Of(cls).topologies;
  if (topologies.empty()) return {};
  const LabelSet& labels = cluster_.nodes[node].labels;
  // A cluster of one zone may have no zone labels at all.
  const bool zoned = std::any_of(labels_.begin(), labels_.end(), [&](const ZoneLabel& label) {
    return FindLabel(labels, label.label).valid();
  });
  if (!zoned) return {};
  for (const Topology& topology : topologies) {
    StrId value = FindLabel(labels, topology.label);
    if (!value.valid()) value = FindLabel(labels, topology.newer_label);
    if (!value.valid() ||
        !std::binary_search(topology.values.begin(), topology.values.end(), value))
      return no_zone_;
  }
  return {};
}

}  // namespace krafla
