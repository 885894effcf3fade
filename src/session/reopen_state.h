// What a session remembers in order to be opened again (session_reopen.cpp), the index of jobs
// aside.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/strong_id.h"
#include "model/cluster.h"

namespace krafla {

// The phase a PodGroup is to get, when it differs from what it has.
struct JobPhaseChange {
  JobId job;
  JobPhase before;
  JobPhase after;
};

struct ReopenState {
  bool visits_all_jobs = false;     // as SessionOptions say
  size_t jobs_synced = 0;           // of the task changes, by the index of jobs
  Table<JobId, uint32_t> job_seen;  // in which count of `seen`
  uint32_t seen = 0;
  size_t opened_at = 0;  // of the node changes

  bool notes_phases = false;
  std::vector<JobId> closing;          // whose conditions and phase may change
  std::vector<JobPhase> phase_before;  // of those
  Table<JobId, uint32_t> close_seen;   // in which cycle it was added to them
  uint32_t cycle = 0;                  // how often it was opened again
  std::vector<JobId> rewound;          // jobs the last cycle had changed
  std::vector<JobPhaseChange> phase_changes;

  std::vector<uint64_t> lasting;  // PluginHooks::lasting of all plugins
  std::vector<uint64_t> lasting_scratch;
  std::optional<std::vector<NodeId>> zone_nodes;
};

}  // namespace krafla
