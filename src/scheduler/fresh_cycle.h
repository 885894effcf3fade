// A cycle on a cluster by a session that is opened for it alone, to be compared with one that has
// followed the changes: both must decide the same. For tests and builds that verify.
#pragma once

#include <optional>
#include <string>

#include "config/scheduler_config.h"
#include "session/session.h"

namespace krafla {

class FreshCycle {
 public:
  // Runs the cycle and takes everything it did back. `memory` is copied.
  FreshCycle(Cluster& cluster, const SchedulerConfig& config, Timestamp now, const TimeZone& zone,
             const CycleMemory& memory);
  // Aborts with the first difference. `session` has run its actions on the same cluster.
  void MustBeTheSameAs(const Session& session, std::optional<Timestamp> next_timer) const;

 private:
  std::string decisions_;
};

}  // namespace krafla
