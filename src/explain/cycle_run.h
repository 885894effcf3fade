// One cycle that is run to be looked at: on a copy of the cluster, with its own configuration,
// instant and memory, all of which may be changed before it runs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "explain/cluster_copy.h"
#include "explain/cycle_probe.h"
#include "session/session.h"

namespace krafla {

// What a cycle is run on. Plain; the cluster is owned elsewhere.
struct CycleInputs {
  Cluster& cluster;  // its texts are lent while a run lives
  const SchedulerConfig& config;
  Timestamp now;
  TimeZone zone;
  const CycleMemory& memory;
  // Whoever tries many cycles stops when it says so, and tells; null: there is time.
  const std::function<bool()>* out_of_time = nullptr;

  bool OutOfTime() const { return out_of_time != nullptr && (*out_of_time)(); }
};

class CycleRun {
 public:
  explicit CycleRun(const CycleInputs& inputs);

  Cluster& cluster() { return borrowed_.cluster; }
  SchedulerConfig config;
  SessionOptions when;
  CycleMemory memory;

  // Opens the session and runs all actions. `probe` may be null.
  Session& Run(CycleProbe* probe = nullptr);

 private:
  BorrowedCluster borrowed_;
  std::string muted_;
  Log log_;
  std::unique_ptr<Session> session_;
};

}  // namespace krafla
