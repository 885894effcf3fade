// Sentences about what an object names and nobody has made: what a condition, an event and a page
// say alike, with what can be done about it.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace krafla
