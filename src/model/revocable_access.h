// Which pods may use revocable nodes, and which are taken off them when their zone closes. Pure
// questions about one pod and its PodGroup.
#pragma once

#include <vector>

#include "model/cluster.h"

namespace krafla {

// All true: our way; all false: Volcano's.
struct AccessRules {
  bool named_zones = true;       // D13: a pod may name its zones (Volcano: only "*" counts)
  bool needs_annotation = true;  // D30: preemptable alone opens no zone (Volcano: it opens all)
  bool silence_is_no = true;     // D29: who says nothing is left where it is (Volcano: is taken)
};

// The revocable zones one pod may use.
struct RevocableAccess {
  bool all = false;
  std::vector<StrId> names;  // when not all

  bool Any() const { return all || !names.empty(); }
  bool Allows(StrId zone) const;
  friend bool operator==(const RevocableAccess&, const RevocableAccess&) = default;
};

// Only the pod's own annotation is asked: a PodGroup opens no zone for its pods, in Volcano
// neither.
RevocableAccess AccessOf(const Task& task, const AccessRules& rules);
// AccessOf(...).Any() without making the list.
bool IsRevocable(const Task& task, const AccessRules& rules);

// Whether the pod, or its PodGroup where the pod is silent, offers to be moved aside: such pods are
// taken off a closing zone, and preempt nobody themselves. `job` is null for a pod without one.
bool OffersItself(const Task& task, const Job* job, const AccessRules& rules);

}  // namespace krafla
