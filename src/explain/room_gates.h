// The gates of one pod's search for room (room_search.h) and of its queue's share, in words and
// numbers.
#pragma once

#include <string>
#include <vector>

#include "explain/explanation.h"
#include "explain/room_search.h"
#include "session/session.h"

namespace krafla {

// eligible, predicates, candidates, victims, enough, queue share, predicates after: up to the one
// that said no.
std::vector<Gate> RoomGates(const Session& session, JobId job, const RoomLook& search);

// Why the queue says no to a pod, or (invalid task) is passed over as a whole.
std::string DescribeQueueRefusal(const Session& session, QueueId queue, TaskId task,
                                 const Resource& allocated);

// deserved.cpu, allocated.cpu, request.cpu, … in base units.
void AddQueueNumbers(const Session& session, QueueId queue, const Resource& allocated, TaskId task,
                     Gate& gate);

// "2 cpu", what is missing on a node.
std::string MissingText(const Session& session, const NodeRoom& room);

// Rows "nodes, reason, example" of nodes that refuse, the most frequent reason first.
ExplanationTable RefusalTable(const Session& session, const std::vector<NodeRoom>& nodes);

}  // namespace krafla
