// Volcano's annotations and labels that pods, PodGroups and Queues share.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/string_pool.h"
#include "manifest/metadata.h"
#include "manifest/object_reader.h"
#include "model/task.h"

namespace krafla {

struct PreemptableMark {
  bool said = false;           // by annotation or label, in whatever words
  bool value = false;          // what was said; false for words that are not a boolean
  bool by_annotation = false;  // said true by annotation
};

// The annotation stands before the label. Other words than booleans are false, with a warning.
PreemptableMark DecodePreemptable(ObjectReader& reader, const Metadata& meta);

// volcano.sh/revocable-zone: "*", or a comma list of zones.
ZoneAccess DecodeZones(const Metadata& meta, StringPool& strings);

// volcano.sh/cooldown-time or cooldown-time.volcano.sh, labels before annotations: -1 when it is
// not there, or is no duration; then a warning ends with `consequence`.
int64_t DecodeCooldown(ObjectReader& reader, const Metadata& meta, std::string_view consequence);

}  // namespace krafla
