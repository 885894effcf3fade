// What the pages of the HTTP API show of a cluster: made of a copy of the kept state by running a
// cycle on it that nobody hears of, so that reasons and shares are those of now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/scheduler_config.h"
#include "model/zone_window.h"
#include "record/replay_world.h"
#include "record/state_keeper.h"

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

ClusterView MakeClusterView(const StateKeeper::Snapshot& state, const WorldOptions& options,
                            const SchedulerConfig& config, const TimeZone& zone, Timestamp now);

}  // namespace krafla
