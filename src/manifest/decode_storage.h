// Storage objects.
#pragma once

#include "manifest/decode_context.h"

namespace krafla {

void DecodePersistentVolumeClaim(DecodeContext& context, JsonObject root);
void DecodePersistentVolume(DecodeContext& context, JsonObject root);
void DecodeStorageClass(DecodeContext& context, JsonObject root);
void DecodeCsiNode(DecodeContext& context, JsonObject root);

}  // namespace krafla
