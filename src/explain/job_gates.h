// The gates of one job: every question the scheduler asked about it in a cycle, in its order, up to
// the one that said no.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/cycle_probe.h"
#include "explain/explanation.h"
#include "explain/room_search.h"
#include "session/session.h"

namespace krafla {

// One pod of the job looked for room by evicting others.
struct EvictionAttempt {
  std::string action;
  size_t round = 0;  // of CycleProbe::starving()
  TaskId task;
  bool placed = false;
};
// Of preempt and reclaim, in order.
std::vector<EvictionAttempt> AttemptsOf(const CycleProbe& probe);

// What the gates are made of.
struct JobGatesInput {
  Session& session;  // after its actions
  const CycleProbe& probe;
  JobId job;
  JobPhase phase_before = JobPhase::kPending;
  const std::vector<EvictionAttempt>& attempts;
  // Looks at attempts, at the moment they were made.
  const std::vector<RoomLook>& searches;
};

struct JobGates {
  std::vector<Gate> gates;
  std::string why;  // what holds the job, as a sentence without its end; empty: nothing does
};
JobGates GatesOf(const JobGatesInput& input);

// How a job stands after the cycle: whether it waits, and what this cycle did for it.
struct JobStanding {
  int32_t bound = 0;      // by this cycle
  int32_t pipelined = 0;  // by this cycle
  int32_t pending = 0;
  bool has_minimum = false;  // with those
};
JobStanding StandingOf(const Session& session, JobId job);

// Why nodes refused a pod: how many for which reason, most first.
ExplanationTable RefusalCounts(const Session& session, const FitError& error);

}  // namespace krafla
