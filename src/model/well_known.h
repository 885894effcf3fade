// Labels and annotations: what Volcano's users write, and what Krafla adds under krafla.io. Names
// are interface, kept to the letter.
#pragma once

#include <string_view>

namespace krafla::keys {

inline constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";
inline constexpr std::string_view kGroupNameVolcano = "scheduling.volcano.sh/group-name";
inline constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";
inline constexpr std::string_view kQueueAllocationGate =
    "scheduling.volcano.sh/queue-allocation-gate";
inline constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";
inline constexpr std::string_view kTaskPriority = "volcano.sh/task-priority";
inline constexpr std::string_view kPreemptable = "volcano.sh/preemptable";
inline constexpr std::string_view kRevocableZone = "volcano.sh/revocable-zone";
inline constexpr std::string_view kCooldownTime = "volcano.sh/cooldown-time";
inline constexpr std::string_view kCooldownTimeAlternative = "cooldown-time.volcano.sh";
inline constexpr std::string_view kExpectedRunTime = "krafla.io/expected-run-time";
inline constexpr std::string_view kZoneEvictions = "krafla.io/zone-evictions";
inline constexpr std::string_view kEvictions = "krafla.io/evictions";
inline constexpr std::string_view kLastLoss = "krafla.io/last-loss";
inline constexpr std::string_view kBudgetMinAvailable = "volcano.sh/jdb-min-available";
inline constexpr std::string_view kBudgetMaxUnavailable = "volcano.sh/jdb-max-unavailable";
inline constexpr std::string_view kBudgetMinAvailableLong =
    "volcano.sh/job-disruption-budget-min-available";
inline constexpr std::string_view kBudgetMaxUnavailableLong =
    "volcano.sh/job-disruption-budget-max-unavailable";
inline constexpr std::string_view kSlaWaitingTime = "volcano.sh/sla-waiting-time";
inline constexpr std::string_view kSlaWaitingTimeShort = "sla-waiting-time";
inline constexpr std::string_view kHierarchy = "volcano.sh/hierarchy";
inline constexpr std::string_view kHierarchyWeights = "volcano.sh/hierarchy-weights";

}  // namespace krafla::keys
