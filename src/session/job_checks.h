// Minimums per role (minTaskMember): whether each role of a job has enough tasks. They are looked
// at only when the job's minAvailable covers their sum; else minAvailable alone counts.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.h"

namespace krafla {

bool RoleMinimumsApply(const Job& job);

// Enough tasks that run, have ended well, or may still be placed.
bool RolesAreValid(const Job& job);
// Enough tasks that hold a place or have ended well; best-effort tasks need no place and count too.
bool RolesAreReady(const Job& job);
// The same, with those that wait on a node for room.
bool RolesArePipelined(const Job& job);

// By role: how many tasks that hold a place, or have ended well, are above the role's minimum (may
// be negative). Empty when minimums do not apply.
std::vector<int32_t> RoleSurplus(const Job& job);

}  // namespace krafla
