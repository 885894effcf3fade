// The jobs that may look for victims, in their queues: common ground of preempt and reclaim; and
// the rule about pods beyond minMember, which allocate shares.
#pragma once

#include <vector>

#include "actions/task_line.h"
#include "session/session.h"

namespace krafla {

// The tasks of a job that wait and are not gated.
TaskLine WaitingTasks(Session& session, JobId job);

// For the decision trace: this task of a job looks for no victims, or finds no node to look on.
void NoteSkipped(Session& session, TaskId task, SkipCode code, ReasonCode reason = 0);

// … this job had found its nodes, and the eviction limit does not allow the evictions.
void NoteHeldBack(Session& session, JobId job);

// Whether the job has its minMember, and its other pods wait for those of a burst
// (session/surplus_wait.h); says so in the decision trace.
bool SurplusWaits(Session& session, JobId job);

// Whether a job may take part; says why not at the guide's log level. `what`: "preemption",
// "reclaim".
bool MayLookForVictims(Session& session, JobId job, std::string_view what);

}  // namespace krafla
