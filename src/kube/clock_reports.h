// Follows the scheduler's clock for the scheduling loop: tells it when the clock was set and when
// it differs too much from the API server's, and says so as log lines and events.
//
// Owned by LiveScheduler, on the scheduling thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "kube/clock_skew.h"
#include "kube/event_recorder.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

class ClockReports {
 public:
  struct Options {
    ClockSkew* skew = nullptr;  // null: not measured
    ReadClocksFn clocks = &ReadClocks;
    ObjectRef scheduler;  // what events about the scheduler are about: its Lease
    std::function<void(const std::string& line)> log;
  };

  ClockReports(EventRecorder& events, Options options)
      : events_(events), options_(std::move(options)) {}

  // Before a cycle may run, and at least every few seconds.
  void Follow(SchedulingLoop& loop, bool leading);

 private:
  void FollowSteps(SchedulingLoop& loop, const ClockReading& now);
  void Report(std::optional<int64_t> skew_s, bool leading);

  EventRecorder& events_;
  const Options options_;
  std::optional<int64_t> wall_minus_boot_ns_;  // when it was last looked at
  std::optional<int64_t> logged_;              // the skew that the log tells of
  bool event_written_ = false;                 // that it is too large
};

}  // namespace krafla
