// A scheduler on the mirror of a made-up API server, with chance for what becomes of its decisions,
// whose every step is told to somebody: for tests of what is made of those steps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/check_drill.h"
#include "kube/cluster_mirror.h"
#include "manifest/parcel_decoder.h"
#include "property/random_cluster.h"
#include "record/record_cycle.h"
#include "record/record_line.h"
#include "record/scheduler_tap.h"
#include "scheduler/scheduling_loop.h"

namespace krafla::testing {

using ChangeListener = std::function<void(RecordedChange change)>;

class RecordedLife final : public DecisionSink {
 public:
  RecordedLife(const RandomCluster& random, uint64_t seed, ChangeListener listener);

  // From now on internal checks fail for these objects.
  void Break(CheckDrill drill);
  size_t quarantined() const { return mirror_.quarantine().Held().size(); }
  // The first of all changes is the configuration; then come objects, cycles and what follows from
  // them.
  void Run(int cycles);

  RecordHead Head() const;
  LiveCluster& live() { return mirror_.live(); }
  const SchedulerConfig& config() const { return loop_->config(); }
  CycleMemory& memory() { return loop_->memory(); }
  Timestamp now() const { return now_; }
  const std::vector<std::string>& decisions() const { return decisions_; }
  // How often pods without PodGroup became singletons after a delay.
  int releases() const { return releases_; }
  bool controllers_seen() const { return mirror_.controllers_seen(); }

  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override;

 private:
  struct Thing {
    WatchedKind kind;
    std::string json;
  };
  void Put(const std::string& name, const Thing& thing, bool reread = false);
  void Gone(const std::string& name);
  void Bound(const RecordedBind& bind);
  void Evicted(const RecordedEviction& eviction);
  void Churn();
  void Drain();

  Dice dice_;
  ChangeListener listener_;
  ChangeFeed feed_;
  SchedulerTap tap_{feed_};
  std::string config_text_;
  std::string profile_;
  CheckDrill drill_;
  ClusterMirror mirror_;
  Log log_;
  std::string muted_;
  TimeZone zone_;
  Timestamp now_;
  std::optional<SchedulingLoop> loop_;
  std::map<std::string, Thing> there_;    // "Pod a/b"
  std::map<std::string, Thing> waiting_;  // not yet made
  ApiTextParser parser_;
  std::map<WatchedKind, std::unique_ptr<ParcelDecoder>> decoders_;
  uint64_t version_ = 0;
  RecordedCycle last_;
  std::vector<std::string> decisions_;
  int releases_ = 0;
};

}  // namespace krafla::testing
