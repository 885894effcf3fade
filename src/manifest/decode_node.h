// Nodes and namespaces.
#pragma once

#include "manifest/decode_context.h"

namespace krafla {

void DecodeNode(DecodeContext& context, JsonObject root);
void DecodeNamespace(DecodeContext& context, JsonObject root);

}  // namespace krafla
