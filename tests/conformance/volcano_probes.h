// Probe cases: single questions to an open session, and Volcano's answers.
#pragma once

#include <string>
#include <vector>

#include "conformance/volcano_json.h"
#include "conformance/volcano_world.h"
#include "session/session.h"

namespace krafla::volcano_tables {

// Objects that a probe case needs and does not contain: jobs that Volcano's test made by hand and
// handed to the session without putting them into the cache.
std::vector<std::string> SuppliedObjects(const Json& recorded);

// Asks everything the case asks, in its order. One sentence per different answer.
std::vector<std::string> CompareProbes(const Json& recorded, const World& world, Session& session);

}  // namespace krafla::volcano_tables
