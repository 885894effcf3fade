// What a pod counts for in a ResourceQuota. Volcano's Job controller adds that up for a PodGroup's
// minResources.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "manifest/object_reader.h"

namespace krafla {

__extension__ using MilliAmount = __int128;

// By name, in thousandths.
using PodUsage = std::map<std::string, MilliAmount, std::less<>>;

// The usage of a pod with this "spec" (a part of the reader's text, empty when absent): cpu,
// memory, ephemeral-storage, huge pages and extended resources by their own names and by the
// quota's (requests.cpu, limits.cpu), and the pod itself. What is wrong with the amounts is noted
// in the reader.
PodUsage DecodePodUsage(ObjectReader& reader, std::string_view pod_spec);

// usage += more * times
void AddTimes(PodUsage& usage, const PodUsage& more, int64_t times);

// Kubernetes' notation: "3", "2500m".
std::string ToQuantityText(MilliAmount milli);

}  // namespace krafla
