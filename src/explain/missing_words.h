// Sentences about what an object names and nobody has made: what a condition, an event and a page
// say alike, with what can be done about it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cluster_state/group_wait.h"
#include "model/cluster.h"

namespace krafla {

// ` (did you mean "red"?)`, or nothing.
std::string NearestQueue(std::string_view queue, const Cluster& cluster);

// Of a pod that names no PodGroup. `named`: it names the queue itself, which else is the default.
std::string PodWithoutQueue(std::string_view queue, bool named, const Cluster& cluster);
// Of a PodGroup.
std::string GroupWithoutQueue(std::string_view queue, bool named, const Cluster& cluster);
// Of a pod of that PodGroup.
std::string PodOfGroupWithoutQueue(std::string_view group, std::string_view queue, bool named,
                                   const Cluster& cluster);
// Of a pod that names a PodGroup that is not there.
std::string PodWithoutGroup(std::string_view group);
// Of a pod that names no PodGroup and is not scheduled without one.
std::string PodAwaitsGroup(GroupWait wait);
// Of a pod that is left out of every cycle for it. `ephemeral`: it should have been made for the
// pod.
std::string PodWithoutClaim(std::string_view claim, bool ephemeral);
// Of a PodGroup that is scheduled all the same, with this priority; `known`: the classes there are.
std::string GroupWithoutPriorityClass(std::string_view name, int32_t priority,
                                      std::span<const std::string_view> known);
// Of a pod without PodGroup: it had passed the API server before the class went.
std::string PodWithoutPriorityClass(std::string_view name, int32_t priority);

}  // namespace krafla
