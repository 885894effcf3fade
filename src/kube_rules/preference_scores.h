// What a pod prefers about the node itself: preferred node affinity, taints it would rather avoid,
// images that are there already. None of it changes within a session.
#pragma once

#include <cstdint>

#include "model/cluster.h"

namespace krafla {

// The weights of the preferred terms the node matches.
int64_t PreferredNodeWeight(const PodSpec& spec, const Node& node, const StringPool& strings);
// PreferNoSchedule taints of the node that nothing tolerates.
int64_t UntoleratedPreferences(const PodSpec& spec, const Node& node);
// 0 to 100: how much of the pod's images need not be pulled, an image counting more the more nodes
// have it.
int64_t ImageLocality(const PodSpec& spec, const Node& node, size_t total_nodes);

}  // namespace krafla
