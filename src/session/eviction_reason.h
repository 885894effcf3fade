// Why somebody was evicted, by what decided it: the plugins of the tier that named the pod. Found
// out when it is told and not when it is decided; evicting is the hot path, and does not ask.
#pragma once

#include <cstdint>
#include <string_view>

#include "session/session.h"

namespace krafla {

// docs/output.md explains each word.
enum class ToldReason : uint8_t {
  // preempt, for a job of the same queue; by the plugins of the tier that decided:
  kPriority,   // priority: its job has the lower one
  kFairShare,  // drf, and not priority: its job has the larger share
  kOffered,    // tdm, and none of these: it may be pushed aside
  kUnopposed,  // none of the three: nobody compares the two jobs

  kWithinJob,   // preempt: for a more important task of the same job
  kReclaim,     // reclaim: its queue had more than it deserves
  kZoneClosed,  // its node's revocable zone is closed
  kBudget,      // shuffle, Volcano's way: a PodDisruptionBudget would allow it
};
std::string_view ToString(ToldReason reason);

ToldReason ReasonOf(const Session& session, const Eviction& eviction);

// Whether the plugin was asked and agreed in the tier that decided.
bool Agreed(const Session& session, const Eviction& eviction, std::string_view plugin);

}  // namespace krafla
