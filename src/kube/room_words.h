// What a pod or a job waits for whose nodes are chosen: that others leave them.
//
// Asked after a cycle, while its session is open.
#pragma once

#include <string>

#include "session/session.h"

namespace krafla {

// Room is being made for the job as a whole: as soon as others have left it can start.
bool RoomIsBeingMade(const Session& session, JobId job);

struct RoomWords {
  std::string sentence;
  std::string where;  // of it; the count changes with every pod that leaves
};

// Of a pod that the cycle has given a node: "waits for at most 2 pods to leave node n1".
RoomWords WhoHasToLeave(const Session& session, TaskId task);
// Of all such pods of a job: "waits for at most 3 pods to leave nodes n1, n2".
RoomWords WhoHasToLeave(const Session& session, JobId job);

}  // namespace krafla
