// Events of a made-up run, without the engine: a cluster with plain nodes and two zones that open
// and close, three queues that fight, evictions of every action. For tests of what is made of
// events.
#pragma once

#include <cstdint>
#include <functional>

#include "model/zone_window.h"
#include "sim/sim_event.h"

namespace krafla::testing {

struct SampleRunOptions {
  int plain_nodes = 6;
  int rz1_nodes = 8;
  int rz2_nodes = 4;
  int days = 1;
  double jobs_per_hour = 4;
  int pods_per_job = 6;
  int max_minutes = 240;  // of a pod's run
  uint64_t seed = 1;
  bool prefers_zones = false;  // places on zones first: another policy, for comparisons
};

// 2026-03-16 00:00 in Asia/Shanghai, a Monday.
Timestamp SampleStart();
TimeZone SampleZone();

void SampleRun(const SampleRunOptions& options, SimObserver& observer);

// Tells several.
class Observers : public SimObserver {
 public:
  explicit Observers(std::vector<SimObserver*> observers) : observers_(std::move(observers)) {}
  void On(const SimEvent& event) override {
    for (SimObserver* observer : observers_) observer->On(event);
  }

 private:
  std::vector<SimObserver*> observers_;
};

}  // namespace krafla::testing
