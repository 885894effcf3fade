// Looks for single changes that would get a waiting job, or one pod of it, a place. Each is tried
// by running the cycle (what_if.h); what was not tried is not told.
//
// Which changes are tried follows from what said no: there is no point in trying the budget of a
// job that nobody wanted to take from.
#pragma once

#include <string>
#include <vector>

#include "explain/room_search.h"
#include "explain/what_if.h"

namespace krafla {

// What the cycle said about the job.
struct FlipClues {
  const std::vector<RoomLook>& searches;
  // Plugins that said no, by the switch that would stop them from being asked.
  std::vector<std::pair<std::string, Switch>> said_no;
};

FlipSearch SearchFlips(const CycleInputs& inputs, Goal goal, const FlipClues& clues);

}  // namespace krafla
