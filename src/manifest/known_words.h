// Words that may stand at a place of a manifest, read by us or not: for whoever looks for misspelt
// ones.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace krafla {

inline constexpr std::string_view kPodGroupSpecKeys[] = {
    "minMember",    "minTaskMember",   "queue",         "priorityClassName",
    "minResources", "networkTopology", "subGroupPolicy"};
inline constexpr std::string_view kQueueSpecKeys[] = {
    "weight",   "capability", "state",  "reclaimable", "extendClusters", "guarantee",
    "affinity", "type",       "parent", "deserved",    "priority",       "dequeueStrategy"};
inline constexpr std::string_view kQueueGuaranteeKeys[] = {"resource"};
inline constexpr std::string_view kPodPhases[] = {"Pending", "Running", "Succeeded", "Failed",
                                                  "Unknown"};

inline bool IsAmong(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace krafla
