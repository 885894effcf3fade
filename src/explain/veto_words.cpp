#include "explain/veto_words.h"

namespace krafla {

std::string_view WhySpared(VetoCode code) {
  switch (code) {
    case VetoCode::kLowerPriorityOnly:
      return "its priority is not lower";
    case VetoCode::kGangAtMinimum:
      return "its job needs it for its minimum";
    case VetoCode::kShareTooSmall:
      return "its job would have the smaller share";
    case VetoCode::kQueueDeserves:
      return "its queue has no more than it deserves";
    case VetoCode::kCritical:
      return "it belongs to the system";
    case VetoCode::kCooldown:
      return "it is in its cooldown";
    case VetoCode::kBudget:
      return "a disruption budget holds it";
    case VetoCode::kOnRevocableNode:
      return "it is on a revocable node";
    case VetoCode::kNotPreemptable:
      return "it does not offer itself";
    case VetoCode::kEvictedTooOften:
      return "its job has been evicted too often of late";
    case VetoCode::kClockSkew:
      return "the scheduler's clock differs from the API server's";
  }
  return "";
}

}  // namespace krafla
