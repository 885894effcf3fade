// What an operator has to know about evictions as a whole: jobs that evict each other in turn,
// storms of evictions, the eviction limits, and reloads that are announced because of them. As log
// lines, events and metrics.
//
// Owned by LiveScheduler, on the scheduling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kube/cluster_mirror.h"
#include "kube/event_recorder.h"
#include "kube/serve_metrics.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

class EvictionReports {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    ObjectRef scheduler;  // what events about the scheduler are about: its Lease
    std::function<void(const std::string& line)> log;
    // How many evictions wait and for what, when that changes; empty: none waits.
    std::function<void(const std::string& note)> on_waiting = {};
  };

  EvictionReports(const ClusterMirror& mirror, EventRecorder& events, ServeMetrics& metrics,
                  Options options)
      : mirror_(mirror), events_(events), metrics_(metrics), options_(std::move(options)) {}

  // After each cycle, and where none ran.
  void Follow(SchedulingLoop& loop, Clock::time_point now);

  uint64_t loops() const { return loops_; }

 private:
  void ReportLoops(SchedulingLoop& loop);
  void ReportAnnouncement(SchedulingLoop& loop);
  void ReportLimit(const SchedulingLoop& loop, Clock::time_point now);
  void ReportNever(const SchedulingLoop::HeldBack& held, Clock::time_point now);
  void NoteWaiting(const SchedulingLoop::HeldBack& held);

  const ClusterMirror& mirror_;
  EventRecorder& events_;
  ServeMetrics& metrics_;
  const Options options_;
  uint64_t loops_ = 0;
  uint64_t cycles_ = 0;  // that were looked at
  int32_t held_back_ = 0;
  std::string note_;
  std::map<std::string, Clock::time_point> never_;  // when each was last so
  // Evictions wait. A limit that is reached, free and reached again is one matter.
  bool waits_ = false;
  std::optional<Clock::time_point> free_since_;
};

}  // namespace krafla
