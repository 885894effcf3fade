// Patches of Kubernetes applied to an object's text on our side, for servers that let us replace an
// object but not patch it (kube/update_fallback.h). What a patch does not name stays byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace krafla {

enum class PatchType {
  kMerge,      // RFC 7386: null removes a field, a list replaces a list
  kStrategic,  // as kMerge, but items of "conditions" are merged by their "type"
};

// Both texts are JSON objects.
Result<std::string> ApplyPatch(std::string_view object, std::string_view patch, PatchType type);

// The text at metadata.<field> when it is a string, as written between its quotes; empty otherwise.
std::string MetadataText(std::string_view object, std::string_view field);

}  // namespace krafla
