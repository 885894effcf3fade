// Evicts the tasks that plugins nominate for nobody's sake: those on nodes of a closed zone.
#pragma once

#include "session/session.h"

namespace krafla {

void EvictNominatedVictims(Session& session);

}  // namespace krafla
