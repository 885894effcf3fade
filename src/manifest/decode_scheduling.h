// The objects that say how scheduling is to go: PodGroups, queues, priorities, budgets, quotas.
#pragma once

#include "manifest/decode_context.h"

namespace krafla {

void DecodePodGroup(DecodeContext& context, JsonObject root);
void DecodeQueue(DecodeContext& context, JsonObject root);
void DecodePriorityClass(DecodeContext& context, JsonObject root);
void DecodePodDisruptionBudget(DecodeContext& context, JsonObject root);
// Amounts are checked; nothing is kept.
void DecodeResourceQuota(DecodeContext& context, JsonObject root);

}  // namespace krafla
