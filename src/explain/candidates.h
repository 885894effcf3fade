// Who on a node could be evicted for a pod at all, before any plugin is asked, and what keeps the
// others out: the filters of preempt and reclaim with a name for each "no".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace krafla {

enum class EvictingAction : uint8_t { kPreempt, kReclaim };
std::string_view ToString(EvictingAction action);

// In the order in which the filters ask.
enum class Candidacy : uint8_t {
  kCandidate,
  kNotRunning,
  kBestEffort,      // the pod asks for nothing itself, and this one asks for something
  kNotPreemptable,  // says preemptable: false
  kNoJob,
  kOwnJob,
  kOtherQueue,      // preempt stays within the queue
  kOwnQueue,        // reclaim takes from others
  kNotReclaimable,  // its queue says so
  kCount,
};
// In a table of counts: "not running".
std::string_view ToString(Candidacy candidacy);

Candidacy CandidacyOf(const Session& session, EvictingAction action, TaskId for_task,
                      TaskId candidate);

struct CandidateCensus {
  std::array<uint32_t, static_cast<size_t>(Candidacy::kCount)> counts{};
  std::vector<TaskId> candidates;  // in the node's order

  uint32_t Count(Candidacy c) const { return counts[static_cast<size_t>(c)]; }
};
CandidateCensus CandidatesOn(const Session& session, EvictingAction action, TaskId for_task,
                             NodeId node);

}  // namespace krafla
