// Figures about queues, namespaces, jobs, zones and cooldowns, as a cycle finds them. They cost
// more than the rest, so in large clusters they are not taken in every cycle: at most a twentieth
// of the time goes into them.
//
// Set by the scheduling thread, read by the server's threads.
#pragma once

#include <memory>
#include <vector>

#include "scheduler/scheduling_loop.h"

namespace prometheus {
class Registry;
}

namespace krafla {

class ClusterMetrics {
 public:
  explicit ClusterMetrics(prometheus::Registry& registry);
  ~ClusterMetrics();

  // While the session is open.
  void Cycle(const Session& session, const std::vector<JobPhaseChange>& phases);

 private:
  struct Families;
  void Plugins(const Session& session);
  void Jobs(const Session& session, const std::vector<JobPhaseChange>& phases);
  void Queues(const Session& session);
  void Shares(const Session& session);
  void Zones(const Session& session);
  std::unique_ptr<Families> families_;
};

}  // namespace krafla
