// Why two replicas never write at the same time: the margin between the end of a leader's writes
// and the moment at which another replica may take its Lease. Used by LeaderLease and by the check
// of the flags.
#pragma once

#include <algorithm>
#include <chrono>

namespace krafla {

// How long one request about the Lease may take. Several fit into the renew deadline.
constexpr std::chrono::milliseconds LeaseRequestTimeout(std::chrono::milliseconds renew_deadline) {
  return std::clamp(renew_deadline / 4, std::chrono::milliseconds(100),
                    std::chrono::milliseconds(4000));
}

// For what the clocks of two machines and the threads of a busy one may differ.
constexpr std::chrono::milliseconds LeaseSlack(std::chrono::milliseconds lease_duration) {
  return std::max(lease_duration / 10, std::chrono::milliseconds(100));
}

// The lease duration that a renew deadline needs at least: a request that was sent at the last
// moment is answered, or given up, before another replica leads.
constexpr std::chrono::milliseconds LeastLeaseDuration(std::chrono::milliseconds lease_duration,
                                                       std::chrono::milliseconds renew_deadline) {
  return renew_deadline + LeaseRequestTimeout(renew_deadline) + LeaseSlack(lease_duration);
}

}  // namespace krafla
