// Zones and regions written on bound volumes: a pod runs where its volumes are.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kube_rules/volume_tables.h"
#include "session/refusal.h"

namespace krafla {

class VolumeZoneRule {
 public:
  VolumeZoneRule(const Cluster& cluster, VolumeTables& tables, ReasonTable& reasons);

  // For the class as a whole: claims that cannot be judged.
  Refusal Prepare(ClassId cls);
  Refusal Check(ClassId cls, NodeId node);

 private:
  struct Topology {
    StrId label;
    StrId newer_label;          // the same under its present name
    std::vector<StrId> values;  // sorted; values no node has are left out
  };
  struct Judged {
    Refusal refusal;
    std::vector<Topology> topologies;
  };
  const Judged& Of(ClassId cls);
  Refusal Judge(const ClaimUse& use, std::vector<Topology>& topologies);
  Refusal Unresolvable(std::string_view reason);
  void AddTopologies(const PersistentVolume& volume, std::vector<Topology>& topologies) const;

  const Cluster& cluster_;
  VolumeTables& tables_;
  ReasonTable& reasons_;
  struct ZoneLabel {
    StrId label;
    StrId newer;
  };
  std::vector<ZoneLabel> labels_;
  Refusal no_zone_;
  Table<ClassId, std::unique_ptr<Judged>> judged_;
};

}  // namespace krafla
