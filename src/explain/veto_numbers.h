// The numbers behind a plugin's veto, worked out again from the state it was given in: nothing of
// them is recorded while scheduling.
#pragma once

#include <span>
#include <string>

#include "explain/candidates.h"
#include "explain/cycle_probe.h"
#include "session/session.h"

namespace krafla {

// Why `spared` is not let go, as the end of a sentence: "gang: research/batch has 3 ready, minimum
// 3". To be asked while the session is in the state of the vote.
std::string DescribeVeto(Session& session, EvictingAction action, TaskId for_task,
                         const VictimVote& vote, TaskId spared);

}  // namespace krafla
