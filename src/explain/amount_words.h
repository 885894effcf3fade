// Amounts as people write them: "4 cpu, 8Gi memory, 1 nvidia.com/gpu".
#pragma once

#include <cstddef>
#include <string>

#include "model/resource.h"

namespace krafla {

// One amount without the name of its kind: "8Gi", "0.50".
std::string AmountText(double amount, int kind);

// "500m" is written 0.50: cpu and memory always, other kinds where there is some; pods are left
// out.
std::string AmountsText(const Resource& resource, const ResourceKinds& kinds);

// Only the kinds that `resource` has more than nothing of: "2 cpu"; "nothing" when there are none.
std::string NamedAmountsText(const Resource& resource, const ResourceKinds& kinds);

// "1 pod", "3 pods"
std::string PodCount(size_t pods);

}  // namespace krafla
