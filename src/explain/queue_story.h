// One queue: what it deserves, has and asks for, who is over and who under, what it could take back
// and what others could take from it.
#pragma once

#include "explain/explanation.h"
#include "session/session.h"

namespace krafla {

// `before`: the cluster before the cycle that `session` has run.
void TellQueueStory(const Cluster& before, const Session& session, QueueId queue,
                    Explanation& explanation);

}  // namespace krafla
