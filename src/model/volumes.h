// Storage objects, as far as they decide where a pod may run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/timestamp.h"
#include "model/ids.h"
#include "model/selectors.h"

namespace krafla {

enum class AccessMode : uint8_t {
  kReadWriteOnce = 1,
  kReadOnlyMany = 2,
  kReadWriteMany = 4,
  kReadWriteOncePod = 8
};
enum class VolumeMode : uint8_t { kFilesystem, kBlock };

struct PersistentVolumeClaim {
  StrId ns;
  StrId name;
  StrId uid = kEmptyStr;
  StrId volume_name = kEmptyStr;       // bound or pre-bound
  bool fully_bound = false;            // annotation pv.kubernetes.io/bind-completed
  std::optional<StrId> storage_class;  // absent is not the same as ""
  StrId selected_node = kEmptyStr;     // annotation volume.kubernetes.io/selected-node
  int64_t request_bytes = 0;
  uint8_t access_modes = 0;
  VolumeMode mode = VolumeMode::kFilesystem;
  LabelSelector selector;
  StrId owner_pod_uid = kEmptyStr;  // controller owner when it is a pod
  StrId volume_attributes_class = kEmptyStr;
  bool deleting = false;
  bool lost = false;  // status.phase Lost
};

struct PersistentVolume {
  StrId name;
  LabelSet labels;
  StrId storage_class = kEmptyStr;
  int64_t capacity_bytes = 0;
  uint8_t access_modes = 0;
  VolumeMode mode = VolumeMode::kFilesystem;
  bool has_node_affinity = false;
  std::vector<NodeSelectorTerm> node_terms;
  StrId claim_ns = kEmptyStr;  // claimRef
  StrId claim_name = kEmptyStr;
  StrId claim_uid = kEmptyStr;
  StrId csi_driver = kEmptyStr;  // empty: not a CSI volume
  StrId csi_handle = kEmptyStr;
  StrId phase = kEmptyStr;  // Available, Bound, Released, …
  StrId volume_attributes_class = kEmptyStr;
  bool deleting = false;
};

struct StorageClass {
  StrId name;
  StrId provisioner = kEmptyStr;
  bool wait_for_first_consumer = false;
  StrId csi_driver_parameter = kEmptyStr;  // parameters["csi.storage.k8s.io/csi-driver-name"]
  bool has_allowed_topologies = false;
  std::vector<NodeSelectorTerm> allowed_topologies;
};

struct CsiNodeDriver {
  StrId driver;
  std::optional<int64_t> limit;  // allocatable.count
  std::vector<StrId> topology_keys;
};

struct CsiNode {
  StrId node;
  std::vector<CsiNodeDriver> drivers;
};

struct Volumes {
  std::vector<PersistentVolumeClaim> claims;
  std::vector<PersistentVolume> volumes;
  std::vector<StorageClass> classes;
  std::vector<CsiNode> csi_nodes;

  bool empty() const {
    return claims.empty() && volumes.empty() && classes.empty() && csi_nodes.empty();
  }
};

}  // namespace krafla
