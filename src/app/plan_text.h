// The answer of `krafla run` for a person.
#pragma once

#include <string>

#include "app/plan_json.h"
#include "session/session.h"

namespace krafla {

std::string PlanAsText(const Session& session, bool color);
std::string StatsAsText(const Session& session, const RunStats& stats);

}  // namespace krafla
