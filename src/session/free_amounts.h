// What nodes have free, in columns: now, and once pods that are ending are gone and those that wait
// for that have come. Owned by NodeSearch.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.h"
#include "session/amount_columns.h"
#include "session/change_list.h"

namespace krafla {

class FreeAmounts {
 public:
  explicit FreeAmounts(const Cluster& cluster) : cluster_(cluster) {}

  // Follows the list of changed nodes; comes before questions.
  void CatchUp(const NodeChanges& node_changes, const std::vector<uint32_t>& position_of);
  // Nothing that is kept is good any more.
  void Forget() { made_ = false; }

  const AmountColumns& now() const { return now_; }
  const AmountColumns& later() const { return later_; }

 private:
  void LookAt(uint32_t position);

  const Cluster& cluster_;
  bool made_ = false;
  size_t synced_ = 0;  // of the list of changed nodes
  AmountColumns now_;
  AmountColumns later_;
};

}  // namespace krafla
