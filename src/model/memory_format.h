// The format of the annotations by which PodGroups tell of earlier evictions
// (model/group_memory.h): its version, and what is read of a text at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krafla {

// Each text begins with the version of its format. A text without one is of the time before
// versions, and is read as v1. A text of another version is of a later krafla: it says nothing
// here.
inline constexpr std::string_view kMemoryVersion = "v1;";
// True also of a text without version.
bool IsKnownMemoryVersion(std::string_view text);

// Every user that may write PodGroups may write these texts, so their content is bounded: at most
// this many parts count (the latest evictions, the first zones), a zone has a name that a label
// value can have, and a group is no larger than this.
inline constexpr size_t kMostEvictionsRead = 1000;
inline constexpr size_t kMostZonesRead = 100;
inline constexpr int64_t kLargestGroupRead = 1'000'000;

}  // namespace krafla
