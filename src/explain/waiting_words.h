// What a job waits for, in words that a user can act on: said in a PodGroup's condition, in the
// conditions and events of its pods, and on pages.
//
// Asked after a cycle, while its session is open.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "session/session.h"

namespace krafla {

// The job has fewer pods than it needs to start: nothing is short yet but pods.
struct PodShortage {
  std::string reason;   // a word of the PodGroup API
  std::string message;  // "2 of the 5 pods of minMember exist"
};
std::optional<PodShortage> ShortageOf(const Session& session, JobId job);

// A pod that asks for nothing, and no backfill among the actions: whatever place an action keeps
// for it, none binds it.
bool IsNeverBound(const Session& session, TaskId task);
// Behind the name of such a pod.
inline constexpr std::string_view kOnlyBackfillPlaces =
    "asks for nothing, and only backfill, which is not among the actions, places such pods";

// The cause of waiting where Session::WaitingReason gives none: the gates of its pods, or its
// queue. Empty: it gives one, or none is known.
std::string FurtherCause(const Session& session, JobId job);

}  // namespace krafla
