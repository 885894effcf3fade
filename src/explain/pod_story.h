// What happens, or could happen, to one pod in a cycle.
#pragma once

#include "explain/cycle_probe.h"
#include "explain/explanation.h"
#include "explain/job_gates.h"
#include "session/session.h"

namespace krafla {

// A pod that is not pending: evicted by this cycle (who takes its place, who allowed it, why not
// its neighbour), or staying (whether it could be a victim, and what protects it). The session has
// run; `probe` listens to it, null when the pod has no job.
void TellPodStory(Session& session, CycleProbe* probe, TaskId pod, Explanation& explanation);

// For a pending pod: why each node refuses this very pod, in front of the gates of its job.
void AddRefusalsOfPod(Session& session, TaskId pod, JobGates& gates);

// Who was evicted for the job (or the pod), as a table.
void AddVictimsFor(const Session& session, JobId job, TaskId pod, Explanation& explanation);

}  // namespace krafla
