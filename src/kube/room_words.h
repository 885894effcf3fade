// What a pod or a job waits for whose nodes are chosen: that others leave them.
//
// Asked after a cycle, while its session is open.
#pragma once

#include <string>

#include "session/session.h"

namespace krafla {

// Room is being made for the job as a whole: as soon as others have left it can start.
bool RoomIsBeingMade(const Session& session, JobId job);

// Of a pod that the cycle has given a node: "waits for 2 pods to leave node n1".
std::string WhoHasToLeave(const Session& session, TaskId task);
// Of all such pods of a job: "waits for 3 pods to leave nodes n1, n2".
std::string WhoHasToLeave(const Session& session, JobId job);

}  // namespace krafla
