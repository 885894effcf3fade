// A scheduler that runs cycle after cycle on one cluster and remembers: evicted pods end, and what
// was only meant for one cycle is gone in the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/scheduler_config.h"
#include "model/cluster.h"
#include "session/session.h"

namespace krafla::testing {

class SchedulerOverTime {
 public:
  // Fails the running test when something is wrong with the texts.
  SchedulerOverTime(std::string cluster, std::string_view config);

  struct Outcome {
    std::vector<std::string> evictions;  // pods, in the order of the plan
    std::vector<std::string> binds;      // "pod node", sorted
    std::string next_timer;              // "never" when there is none
  };
  Outcome RunAt(std::string_view now);
  // Runs cycles from the last one on, each second or at least two hundred times, up to just before
  // `end`; fails the test when one of them decides anything.
  void ExpectNothingBefore(std::string_view end);

  std::string LastInstant() const;
  std::string PhaseOf(std::string_view job) const;
  // From now on the cluster is this one; what the scheduler remembers stays.
  void Replace(std::string cluster);

  Cluster cluster;
  CycleMemory memory;

 private:
  Outcome Run(Timestamp now);

  SchedulerConfig config_;
  Log log_;
  Timestamp last_;
};

}  // namespace krafla::testing
