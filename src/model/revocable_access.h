// Which pods may use revocable nodes, and which are taken off them when their zone closes. Pure
// questions about one pod and its PodGroup.
#pragma once

#include <string_view>
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
  bool some = false;  // it names zones; those of them that anybody else has a word for:
  std::vector<StrId> names;

  bool Any() const { return all || some; }
  bool Allows(StrId zone) const;
  friend bool operator==(const RevocableAccess&, const RevocableAccess&) = default;
};

// The zones in the text of ZoneAccess::names.
std::vector<std::string_view> NamedZones(std::string_view names);

// Only the pod's own annotation is asked: a PodGroup opens no zone for its pods, in Volcano
// neither.
RevocableAccess AccessOf(const Task& task, const AccessRules& rules, const StringPool& strings);
// AccessOf(...).Any() without making the list.
bool IsRevocable(const Task& task, const AccessRules& rules);

// Whether the pod, or its PodGroup where the pod is silent, offers to be moved aside: such pods are
// taken off a closing zone, and preempt nobody themselves. `job` is null for a pod without one.
bool OffersItself(const Task& task, const Job* job, const AccessRules& rules);

}  // namespace krafla
