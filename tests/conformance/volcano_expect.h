// Compares a session whose actions have run and whose plugins are not closed yet with what a case
// records.
#pragma once

#include <string>
#include <vector>

#include "conformance/volcano_json.h"
#include "conformance/volcano_world.h"
#include "session/session.h"

namespace krafla::volcano_tables {

// Whether Volcano gives this answer whenever it is asked.
bool IsDeterministic(const Json& recorded);

// What is checked: `expect`. One sentence per difference; none: the case passes.
std::vector<std::string> CompareWithExpect(const Json& recorded, const World& world,
                                           const Session& session);

// What that run of Volcano did in full: `observed`. Task states, amounts of nodes and jobs, phases.
std::vector<std::string> CompareWithObserved(const Json& recorded, const World& world);

// {"milliCPU": 1000, "memory": 0, "pods": 1, …}: what is not named there is 0.
bool SameAmounts(const Json& recorded, const Resource& resource, const ResourceKinds& kinds);

}  // namespace krafla::volcano_tables
