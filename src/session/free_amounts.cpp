#include "session/free_amounts.h"

namespace krafla {

void FreeAmounts::CatchUp(const NodeChanges& node_changes,
                          const std::vector<uint32_t>& position_of) {
  const size_t nodes = cluster_.nodes_by_name.size();
  const size_t kinds = static_cast<size_t>(cluster_.kinds.size());
  if (!made_ || later_.kinds() != kinds || node_changes.size() - synced_ > nodes) {
    made_ = true;
    const auto node_at = [&](uint32_t p) { return cluster_.nodes_by_name[p]; };
    const AmountSteps steps = AmountSteps::Of(cluster_, 0);
    now_.Make(nodes, steps,
              [&](uint32_t p) -> const Resource& { return cluster_.idle[node_at(p)]; });
    later_.Make(nodes, steps, [&](uint32_t p) { return cluster_.FutureIdle(node_at(p)); });
  } else {
    for (const NodeId node : node_changes.From(synced_)) LookAt(position_of[node.value]);
  }
  synced_ = node_changes.size();
}

void FreeAmounts::LookAt(uint32_t position) {
  const NodeId node = cluster_.nodes_by_name[position];
  now_.Set(position, cluster_.idle[node]);
  later_.Set(position, cluster_.FutureIdle(node));
}

}  // namespace krafla
