// Which CSI driver attaches the volume of a claim, and which of them are counted as resources.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster_state/cluster_builder.h"
#include "model/cluster.h"

namespace krafla {

// "attachable-volumes-csi-<driver>"
std::string AttachLimitName(std::string_view driver);

// How much of it a node has when its CSINode declares the driver without a limit.
inline constexpr int64_t kNoAttachLimit = 0x7fffffff;

class CsiClaims {
 public:
  CsiClaims(const Cluster& cluster, const BuildOptions& options);

  // The drivers that are counted, each once, in order of their names.
  std::vector<StrId> CountedDrivers() const;
  // One driver per claim of the pod that counts. None at all when any claim is missing or is not
  // the pod's: Volcano gives up there, and the pod cannot run anyway.
  std::vector<StrId> DriversOf(const Task& task, const PodSpec& spec) const;
  // The first claim that is not there, or is not the pod's; null: all are.
  const ClaimVolume* FindMissingClaim(const Task& task, const PodSpec& spec) const;

 private:
  StrId DriverOf(const PersistentVolumeClaim& claim) const;
  StrId DriverOfClass(const PersistentVolumeClaim& claim) const;
  bool Counted(StrId driver) const;

  const Cluster& cluster_;
  const BuildOptions& options_;
  std::unordered_map<uint64_t, const PersistentVolumeClaim*> claims_;  // by namespace and name
  std::unordered_map<StrId, const PersistentVolume*> volumes_;
  std::unordered_map<StrId, const StorageClass*> classes_;
  std::unordered_map<StrId, bool> declared_;
};

}  // namespace krafla
