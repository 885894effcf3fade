// Everything of a scenario that has to be read before a run: the cluster at the start, and what
// jobs and manifests become. Reading all of it first means that what is wrong is said at once.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/live_cluster.h"
#include "manifest/read_cluster.h"
#include "sim/fact_collector.h"
#include "sim/scenario.h"
#include "sim/templates.h"

namespace krafla {

struct Workload {
  // Objects in the order of reading, with the templates of their jobs.
  struct Manifest {
    std::unique_ptr<FactCollector> facts;
    std::vector<const JobTemplate*> jobs;
  };
  Manifest at_start;
  std::vector<const JobTemplate*> submissions;  // by index of the scenario's
  std::vector<const JobTemplate*> arrivals;
  std::vector<Manifest> manifests;
  std::set<std::string> missing_queues;  // that jobs of manifests name
};

// Meaningful only when `diagnostics` has no errors.
Workload ReadWorkload(const Scenario& scenario, LiveCluster& live, Templates& templates,
                      const ReadClusterOptions& options, Diagnostics& diagnostics);

}  // namespace krafla
