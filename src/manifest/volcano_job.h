// A batch.volcano.sh/v1alpha1 Job, turned into the PodGroup and the pods that Volcano's controller
// would make.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "manifest/object_stream.h"

namespace krafla {

// The value of a PriorityClass, 0 for one that does not exist.
using PriorityOfClass = std::function<int32_t(std::string_view name)>;

// JSON texts of one PodGroup and its pods, in this order; empty when the job is wrong (reported) or
// finished. Each string has room for simdjson's padding.
//
// Of a job whose minAvailable is less than its tasks ask for, the controller counts the tasks of
// the highest priority into minResources; without `priority_of` all are equal and the first ones
// count.
std::vector<std::string> ExpandVolcanoJob(const ObjectText& job, Diagnostics& diagnostics,
                                          const PriorityOfClass& priority_of = {});

}  // namespace krafla
