// Claims, volumes and storage classes by name, and the CSI volumes behind claims as dense numbers.
// Built once per session, and only when some pod has claims.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "kube_rules/topology_index.h"
#include "model/cluster.h"

namespace krafla {

// What a claim attaches to a node, as far as drivers limit it.
struct CsiAttachment {
  uint32_t volume = 0;  // dense; two claims of one volume attach once
  uint32_t driver = 0;  // dense
};

// Where a claim of a pod leads.
struct ClaimUse {
  StrId name;
  uint32_t claim = 0;  // index into Volumes::claims, or VolumeTables::kNone
  bool ephemeral = false;
};

class VolumeTables {
 public:
  static constexpr uint32_t kNone = 0xffffffffU;

  // `topology` stays with the caller.
  VolumeTables(const Cluster& cluster, TopologyIndex& topology);

  uint32_t FindClaim(StrId ns, StrId name) const;
  uint32_t FindVolume(StrId name) const { return Find(volumes_by_name_, name); }
  uint32_t FindClass(StrId name) const { return Find(classes_by_name_, name); }

  // The claims of the class's pods, in the order of their volumes.
  const std::vector<ClaimUse>& UsesOf(ClassId cls);
  // Null: the claim attaches nothing that counts.
  const CsiAttachment* AttachmentOf(uint32_t claim) const;
  size_t attachable_volumes() const { return volume_count_; }
  size_t drivers() const { return drivers_.size(); }

  struct Limit {
    uint32_t driver;
    int64_t count;
  };
  const std::vector<Limit>& LimitsOf(NodeId node) const { return limits_[node]; }

  // A volume's own rule about nodes. It does not look at node names: a term that only names nodes
  // matches all.
  bool FitsNode(uint32_t volume, NodeId node) const;

  // Volumes of a storage class that are free to be taken, the smallest first, then by name: those
  // that can be used on this node alone, and those that can be used anywhere.
  struct FreeVolumes {
    std::span<const uint32_t> here;
    std::span<const uint32_t> anywhere;
  };
  FreeVolumes FreeOn(StrId storage_class, NodeId node);
  // Volumes that name this claim as theirs, by name.
  std::span<const uint32_t> ReservedFor(uint32_t claim) const;

 private:
  struct ClassVolumes {
    Table<NodeId, std::vector<uint32_t>> by_node;
    std::vector<uint32_t> anywhere;
  };
  template <class Map>
  static uint32_t Find(const Map& map, StrId name) {
    const auto it = map.find(name);
    return it == map.end() ? kNone : it->second;
  }
  uint32_t DriverOf(StrId name);
  void IndexAttachments();
  void IndexReservations();
  ClassVolumes& VolumesOf(StrId storage_class);
  std::vector<NodeId> NodesOf(const PersistentVolume& volume);

  const Cluster& cluster_;
  const Volumes& volumes_;
  TopologyIndex& topology_;
  std::unordered_map<uint64_t, uint32_t> claims_;
  std::unordered_map<StrId, uint32_t> volumes_by_name_;
  std::unordered_map<StrId, uint32_t> classes_by_name_;
  std::unordered_map<StrId, uint32_t> drivers_;
  std::vector<CsiAttachment> attachments_;  // by claim; volume kNone: none
  uint32_t volume_count_ = 0;
  Table<NodeId, std::vector<Limit>> limits_;
  std::vector<std::vector<uint32_t>> reserved_;  // by claim
  std::unordered_map<StrId, std::unique_ptr<ClassVolumes>> by_storage_class_;
  Table<ClassId, std::unique_ptr<std::vector<ClaimUse>>> uses_;
};

}  // namespace krafla
