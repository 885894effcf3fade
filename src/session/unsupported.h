// What jobs and pods may ask for and Krafla does not support yet: they wait, and are not placed as
// if they had not asked. In words, for all who say why.
#pragma once

#include <string>
#include <string_view>

#include "model/cluster.h"

namespace krafla {

// The reason of InvalidJob for a job with a hard network topology.
inline constexpr std::string_view kTopologyNotSupported = "NetworkTopologyNotSupported";
inline constexpr std::string_view kNeedsTopology =
    "needs a hard network topology (spec.networkTopology or spec.subGroupPolicy of its PodGroup), "
    "which is not supported yet; with mode soft it is scheduled without one";
inline constexpr std::string_view kNeedsClaims =
    "needs ResourceClaims, which are not supported yet";

// "1 pod needs ResourceClaims, which are not supported yet"; empty: none of the job's does.
std::string PodsThatNeedClaims(const Cluster& cluster, const Job& job);

// What of a PodGroup's spec is passed over while it is scheduled: "spec.networkTopology, mode
// soft". Empty: nothing.
std::string PassedOver(const Job& job);

}  // namespace krafla
