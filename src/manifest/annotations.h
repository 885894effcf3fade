// Volcano's annotations and labels that pods and PodGroups share.
#pragma once

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

}  // namespace krafla
