// Ports of the host: two pods on one node cannot have the same.
#pragma once

#include "model/cluster.h"
#include "session/kube_view.h"
#include "session/refusal.h"

namespace krafla {

class HostPortRule {
 public:
  HostPortRule(const Cluster& cluster, const KubeView& view, ReasonTable& reasons);

  // Between two sessions: a text that was unknown may have come up.
  void Follow();

  Refusal Check(const PodSpec& spec, NodeId node) const;

 private:
  bool Conflict(const HostPort& wanted, const HostPort& used) const;
  bool IsEveryAddress(StrId ip) const { return ip == kEmptyStr || ip == every_address_; }

  const Cluster& cluster_;
  const KubeView& view_;
  StrId every_address_;
  Refusal refusal_;
};

}  // namespace krafla
