#include "session/eviction_reason.h"

#include <string>
#include <vector>

namespace krafla {

std::string_view ToString(ToldReason reason) {
  switch (reason) {
    case ToldReason::kPriority:
      return "priority";
    case ToldReason::kFairShare:
      return "fair-share";
    case ToldReason::kOffered:
      return "offered";
    case ToldReason::kUnopposed:
      return "unopposed";
    case ToldReason::kWithinJob:
      return "within-job";
    case ToldReason::kReclaim:
      return "reclaim";
    case ToldReason::kZoneClosed:
      return "zone-closed";
    case ToldReason::kBudget:
      return "budget";
  }
  return "";
}

bool Agreed(const Session& session, const Eviction& eviction, std::string_view plugin) {
  const std::vector<std::string>& names = session.plugin_names();
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == plugin) return (eviction.permitted_by >> i & 1) != 0;
  return false;
}

ToldReason ReasonOf(const Session& session, const Eviction& eviction) {
  switch (eviction.reason) {
    case EvictionReason::kWithinJob:
      return ToldReason::kWithinJob;
    case EvictionReason::kReclaim:
      return ToldReason::kReclaim;
    case EvictionReason::kZoneClosed:
      return ToldReason::kZoneClosed;
    case EvictionReason::kBudget:
      return ToldReason::kBudget;
    case EvictionReason::kPreempt:
      break;
  }
  // The others of a tier only spare; these three have a view of who should go for whom.
  if (Agreed(session, eviction, "priority")) return ToldReason::kPriority;
  if (Agreed(session, eviction, "drf")) return ToldReason::kFairShare;
  if (Agreed(session, eviction, "tdm")) return ToldReason::kOffered;
  return ToldReason::kUnopposed;
}

}  // namespace krafla
