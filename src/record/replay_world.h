// A cluster brought to a recorded state, change by change: what the live scheduler had, without a
// live cluster. For a replay, and for whoever explains what a running scheduler does.
//
// One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "config/scheduler_config.h"
#include "manifest/object_decoder.h"
#include "record/kept_state.h"
#include "record/overlay_sink.h"

namespace krafla {

// How objects are taken: the same for the scheduler and for whoever comes after it.
struct WorldOptions {
  BuildOptions build;  // as far as the configuration does not say it, see BuildOptionsFor
  std::vector<std::string> scheduler_names = {"volcano"};
  NodeLabels node_labels;
};

// What the configuration in force says about how objects are taken, and the rest as in `fixed`.
BuildOptions BuildOptionsFor(BuildOptions fixed, const SchedulerConfig& config);

class ReplayWorld {
 public:
  // Puts somebody who looks at facts in front of where they go.
  using Front = std::function<std::unique_ptr<FactSink>(FactSink& behind)>;

  explicit ReplayWorld(const WorldOptions& options, const Front& front = {});
  ~ReplayWorld();

  // The configuration that is in force from now on.
  void SetConfig(const SchedulerConfig& config) {
    live_.SetBuildOptions(BuildOptionsFor(options_.build, config));
  }
  // kPut and kGone; others are not about objects.
  void Apply(const RecordedChange& change);
  void Put(std::string_view kind, const std::string& key, std::string_view object,
           const AssumedMark& mark, std::optional<JobPhase> phase);
  void Fill(const std::vector<KeptState::Entry>& entries);

  // Names of what is gone are given up when there are too many; not with somebody in front, who may
  // have kept some. Whoever holds ids of the live cluster's strings calls it between two uses.
  void CompactWhenCrowded();

  LiveCluster& live() { return live_; }
  // What could not be read; the recorder had read all of it.
  const Diagnostics& problems() const { return problems_; }

 private:
  class Sink;
  void MakeDecoder();

  const WorldOptions options_;
  LiveCluster live_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<FactSink> front_;  // null: nobody
  Diagnostics problems_;
  ClusterFacts facts_;
  std::unique_ptr<ObjectDecoder> decoder_;
  std::string padded_;
};

}  // namespace krafla
