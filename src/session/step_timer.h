// How long a step of a cycle takes, for --stats; and that it begins, for SessionOptions::on_step.
#pragma once

#include <ctime>
#include <string>
#include <utility>

#include "session/session.h"

namespace krafla {

inline double ClockMs(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

// Measures one step of the cycle into Session::step_times.
class StepTimer {
 public:
  StepTimer(Session& session, std::string name)
      : session_(session),
        name_(std::move(name)),
        cpu_(ClockMs(CLOCK_PROCESS_CPUTIME_ID)),
        wall_(ClockMs(CLOCK_MONOTONIC)) {
    if (session_.on_step) session_.on_step(name_);
  }
  ~StepTimer() {
    session_.step_times.push_back({std::move(name_), ClockMs(CLOCK_PROCESS_CPUTIME_ID) - cpu_,
                                   ClockMs(CLOCK_MONOTONIC) - wall_});
  }

 private:
  Session& session_;
  std::string name_;
  double cpu_;
  double wall_;
};

}  // namespace krafla
