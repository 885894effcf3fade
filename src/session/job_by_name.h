// Finding again what outlives a cycle: names are kept between cycles, ids are not.
#pragma once

#include <string_view>

#include "model/cluster.h"

namespace krafla {

// By "namespace/name"; invalid when there is no such job.
JobId FindJob(const Cluster& cluster, std::string_view key);

}  // namespace krafla
