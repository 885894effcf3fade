// How many volumes of a CSI driver a node can have attached.
#pragma once

#include <vector>

#include "kube_rules/volume_tables.h"
#include "session/kube_view.h"
#include "session/refusal.h"

namespace krafla {

class CsiLimitRule {
 public:
  CsiLimitRule(const Cluster& cluster, const KubeView& view, VolumeTables& tables,
               ReasonTable& reasons);

  // Depends on nothing but the class and the pods of the node.
  Refusal Check(TaskId task, NodeId node);
  // The answer may be one that evictions do not lift: a claim is missing, or not the pod's own.
  bool MayBeFinal(ClassId cls);

 private:
  bool Attach(TaskId task, const ClaimUse& use, Refusal& refusal);
  uint32_t& CountOf(uint32_t driver);
  Refusal NotFound(TaskId task, const ClaimUse& use);

  const Cluster& cluster_;
  const KubeView& view_;
  VolumeTables& tables_;
  ReasonTable& reasons_;
  Refusal too_many_;
  bool foreign_claims_ = false;  // some pod uses an ephemeral claim that is not its own
  // Scratch, valid where the stamp is the current round's.
  uint32_t round_ = 0;
  std::vector<uint32_t> attached_round_;  // by volume
  struct DriverCount {
    uint32_t round = 0;
    uint32_t count = 0;
  };
  std::vector<DriverCount> counts_;  // by driver
};

// "PVC ns/claim was not created for pod ns/pod (pod is not owner)"; empty when the claim is the
// pod's own.
std::string WhyNotOwned(const Cluster& cluster, TaskId task, const ClaimUse& use);

}  // namespace krafla
