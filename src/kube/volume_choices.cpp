#include "kube/volume_choices.h"

#include <algorithm>

#include "kube_rules/volume_binding.h"

namespace krafla {

std::vector<std::vector<ClaimOrder>> ChooseVolumes(const Session& session) {
  const Cluster& c = session.cluster;
  std::vector<std::vector<ClaimOrder>> orders(session.plan.binds.size());
  const auto has_claims = [&](const Bind& bind) {
    return !c.specs[c.classes[c.tasks[bind.task].cls].spec].claims.empty();
  };
  if (std::none_of(session.plan.binds.begin(), session.plan.binds.end(), has_claims)) return orders;
  TopologyIndex topology(c);
  VolumeTables tables(c, topology);
  ReasonTable reasons;
  VolumeBindingRule rule(c, tables, reasons);
  UndoLog undo;
  for (size_t i = 0; i < orders.size(); ++i) {
    const Bind& bind = session.plan.binds[i];
    if (!has_claims(bind)) continue;
    rule.Reserve(bind.task, bind.node, undo);
    for (const VolumeBindingRule::ChosenVolume& chosen : rule.ReservedBy(bind.task)) {
      const PersistentVolumeClaim& claim = c.volumes.claims[chosen.claim];
      ClaimOrder& order = orders[i].emplace_back();
      order.ns = c.Text(claim.ns);
      order.name = c.Text(claim.name);
      order.uid = c.Text(claim.uid);
      if (chosen.volume != VolumeTables::kNone)
        order.volume = c.Text(c.volumes.volumes[chosen.volume].name);
    }
  }
  return orders;
}

}  // namespace krafla
