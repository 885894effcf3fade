// The pods of a node as candidates for eviction, counted by what keeps them out.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/candidacy.h"
#include "session/session.h"

namespace krafla {

enum class EvictingAction : uint8_t { kPreempt, kReclaim };
std::string_view ToString(EvictingAction action);

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
