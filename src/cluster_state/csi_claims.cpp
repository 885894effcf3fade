#include "cluster_state/csi_claims.h"

#include <algorithm>

#include "cluster_state/name_index.h"

namespace krafla {

namespace {

// Provisioners of local directories: nothing is attached, Volcano never counts them.
constexpr std::string_view kIgnoredProvisioners[] = {"rancher.io/local-path",
                                                     "hostpath.csi.k8s.io"};

}  // namespace

std::string AttachLimitName(std::string_view driver) {
  std::string name = "attachable-volumes-csi-";
  name += driver;
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

CsiClaims::CsiClaims(const Cluster& cluster, const BuildOptions& options)
    : cluster_(cluster), options_(options) {
  const Volumes& all = cluster.volumes;
  for (const PersistentVolumeClaim& claim : all.claims)
    claims_.emplace(NameKey(claim.ns, claim.name), &claim);
  for (const PersistentVolume& volume : all.volumes) volumes_.emplace(volume.name, &volume);
  for (const StorageClass& entry : all.classes) classes_.emplace(entry.name, &entry);
  for (const CsiNode& node : all.csi_nodes)
    for (const CsiNodeDriver& driver : node.drivers) declared_[driver.driver] = true;
}

StrId CsiClaims::DriverOfClass(const PersistentVolumeClaim& claim) const {
  if (!claim.storage_class || *claim.storage_class == kEmptyStr) return kEmptyStr;
  const auto found = classes_.find(*claim.storage_class);
  if (found == classes_.end()) return kEmptyStr;
  const StorageClass& entry = *found->second;
  return entry.csi_driver_parameter != kEmptyStr ? entry.csi_driver_parameter : entry.provisioner;
}

StrId CsiClaims::DriverOf(const PersistentVolumeClaim& claim) const {
  if (claim.volume_name == kEmptyStr) return DriverOfClass(claim);
  // A claim may be bound to a volume that does not exist yet, or no longer.
  const auto volume = volumes_.find(claim.volume_name);
  return volume == volumes_.end() ? DriverOfClass(claim) : volume->second->csi_driver;
}

bool CsiClaims::Counted(StrId driver) const {
  if (driver == kEmptyStr) return false;
  if (!options_.count_undeclared_csi_drivers && !declared_.contains(driver)) return false;
  const auto is_driver = [name = cluster_.Text(driver)](std::string_view ignored) {
    return ignored == name;
  };
  return std::ranges::none_of(kIgnoredProvisioners, is_driver) &&
         std::ranges::none_of(options_.ignored_provisioners, is_driver);
}

std::vector<StrId> CsiClaims::CountedDrivers() const {
  std::vector<StrId> drivers;
  for (const auto& entry : declared_) drivers.push_back(entry.first);
  for (const auto& entry : claims_) {
    const StrId driver = DriverOf(*entry.second);
    if (Counted(driver)) drivers.push_back(driver);
  }
  std::sort(drivers.begin(), drivers.end(),
            [&](StrId a, StrId b) { return cluster_.Text(a) < cluster_.Text(b); });
  drivers.erase(std::unique(drivers.begin(), drivers.end()), drivers.end());
  return drivers;
}

const ClaimVolume* CsiClaims::FindMissingClaim(const Task& task, const PodSpec& spec) const {
  const auto missing = std::ranges::find_if(spec.claims, [&](const ClaimVolume& volume) {
    const auto found = claims_.find(NameKey(task.ns, volume.claim));
    return found == claims_.end() || (volume.ephemeral && found->second->owner_pod_uid != task.uid);
  });
  return missing == spec.claims.end() ? nullptr : &*missing;
}

std::vector<StrId> CsiClaims::DriversOf(const Task& task, const PodSpec& spec) const {
  std::vector<StrId> drivers;
  for (const ClaimVolume& volume : spec.claims) {
    const auto found = claims_.find(NameKey(task.ns, volume.claim));
    if (found == claims_.end()) return {};
    const PersistentVolumeClaim& claim = *found->second;
    if (volume.ephemeral && claim.owner_pod_uid != task.uid) return {};
    const StrId driver = DriverOf(claim);
    if (Counted(driver)) drivers.push_back(driver);
  }
  return drivers;
}

}  // namespace krafla
