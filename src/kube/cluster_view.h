// What the pages of the HTTP API show of a cluster: made in a page process (kube/page_maker.h) by a
// trial cycle on a copy of the kept state, so that reasons and shares are those of now.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cluster_state/group_wait.h"
#include "config/scheduler_config.h"
#include "model/zone_window.h"
#include "record/replay_world.h"
#include "session/cycle_memory.h"

namespace krafla {

struct ViewRow {
  std::string ns;  // what the rows can be chosen by; empty: it has none
  std::string queue;
  std::string json;
};

struct ClusterView {
  std::vector<ViewRow> queues;  // each in the order in which it is shown
  std::vector<ViewRow> jobs;
  std::vector<ViewRow> zones;
  uint64_t version = 0;  // of the state
  Timestamp at;
};

// An eviction in the time of this process that was not refused.
struct PastLoss {
  std::string job;  // "namespace/name"
  Timestamp at;
  bool for_other = false;  // for a pod of another job
};

// Why pods ("namespace/name") that name no PodGroup wait for one.
using GroupWaits = std::map<std::string, GroupWait>;

// Runs a cycle on the world, which is of no use afterwards. `version` stays 0.
ClusterView MakeClusterView(ReplayWorld& world, const SchedulerConfig& config, CycleMemory memory,
                            std::span<const PastLoss> losses, const GroupWaits& group_waits,
                            const TimeZone& zone, Timestamp now);

}  // namespace krafla
