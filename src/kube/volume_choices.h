// Which volumes the pods of a plan are to have: for claims that wait for their first consumer, the
// volume that was found on the node, or that one has to be made there.
#pragma once

#include <string>
#include <vector>

#include "session/session.h"

namespace krafla {

struct ClaimOrder {
  std::string ns;
  std::string name;
  std::string uid;
  std::string volume;  // empty: to be provisioned on the pod's node
};

// One entry per bind of the session's plan, in its order; most are empty. Chosen anew in the order
// of the plan, by the rule that the predicates have used.
std::vector<std::vector<ClaimOrder>> ChooseVolumes(const Session& session);

}  // namespace krafla
