// Topology-aware preemption: what would have to go on each node, tried out and taken back, and
// which node costs least. The tries work on the session itself behind a savepoint; nothing is
// cloned.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "actions/victim_search.h"
#include "session/session.h"

namespace krafla {

struct DryRunLimits {
  int64_t min_candidate_percent = 10;
  int64_t min_candidates = 1;
  int64_t max_candidates = 100;

  // How many nodes with a solution are enough.
  size_t Enough(size_t nodes) const;
};

struct DryRunCandidate {
  NodeId node;
  std::vector<TaskId> victims;  // the most important first
  uint64_t permitted_by = 0;
};

// What was found on nodes, by position in nodes_by_name; nobody: no solution there.
using DryRunResults = std::unordered_map<uint32_t, DryRunCandidate>;

// Tries nodes, a bit per position in nodes_by_name, in order until there are enough candidates.
// Nodes that `results` knows are not tried again, and what is found on others is added to it; the
// candidates are good as long as it is.
std::vector<const DryRunCandidate*> FindCandidates(Session& session, TaskId task,
                                                   std::span<const uint64_t> nodes,
                                                   const VictimRule& rule, size_t enough,
                                                   DryRunResults& results);

// The cheapest: lowest highest priority among its victims, then lowest sum of priorities, then
// fewest victims, then those most recently started, then the first.
const DryRunCandidate& SelectCandidate(const Session& session,
                                       std::span<const DryRunCandidate* const> candidates);

}  // namespace krafla
