#include "kube_rules/host_ports.h"

namespace krafla {

HostPortRule::HostPortRule(const Cluster& cluster, const KubeView& view, ReasonTable& reasons)
    : cluster_(cluster),
      view_(view),
      every_address_(cluster.strings.Find("0.0.0.0")),
      refusal_{Refusal::kUnschedulable,
               reasons.Intern("node(s) didn't have free ports for the requested pod ports")} {}

void HostPortRule::Follow() {
  every_address_ = cluster_.strings.Find("0.0.0.0");
}

bool HostPortRule::Conflict(const HostPort& wanted, const HostPort& used) const {
  return wanted.port == used.port && wanted.protocol == used.protocol &&
         (IsEveryAddress(wanted.host_ip) || IsEveryAddress(used.host_ip) ||
          wanted.host_ip == used.host_ip);
}

Refusal HostPortRule::Check(const PodSpec& spec, NodeId node) const {
  if (spec.host_ports.empty()) return {};
  for (const TaskId task : view_.PodsOn(node))
    for (const HostPort& used : cluster_.SpecOf(task).host_ports)
      for (const HostPort& wanted : spec.host_ports)
        if (Conflict(wanted, used)) return refusal_;
  return {};
}

}  // namespace krafla
