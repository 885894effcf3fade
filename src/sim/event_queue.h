// What is going to happen in a simulation, soonest first. Happenings of one instant keep the order
// in which they were planned.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "base/timestamp.h"

namespace krafla {

enum class TimerKind : uint8_t {
  kSubmission,    // of Scenario::submissions
  kArrival,       // of Scenario::arrivals; token: which one
  kManifest,      // of Scenario::manifest_submissions
  kPodStarts,     // pod, token
  kPodEnds,       // pod, token
  kPodGone,       // pod, token
  kPodRecreated,  // pod, token
  kHoldEnds,      // pod; token: which hold
  kFaultBegins,   // of Scenario::faults
  kFaultEnds,
  kZonesChange,  // token: only the last one planned counts
  kShareDue,     // queue
};

struct Timer {
  Timestamp at;
  uint64_t sequence = 0;
  TimerKind kind = TimerKind::kSubmission;
  uint32_t subject = 0;
  uint32_t token = 0;  // one that is no longer that of the subject makes the timer void
};

class EventQueue {
 public:
  void Plan(Timestamp at, TimerKind kind, uint32_t subject, uint32_t token = 0) {
    timers_.push({at, ++sequence_, kind, subject, token});
  }
  bool empty() const { return timers_.empty(); }
  const Timer& next() const { return timers_.top(); }
  Timer Take() {
    const Timer timer = timers_.top();
    timers_.pop();
    return timer;
  }

 private:
  struct Later {
    bool operator()(const Timer& a, const Timer& b) const {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };
  std::priority_queue<Timer, std::vector<Timer>, Later> timers_;
  uint64_t sequence_ = 0;
};

}  // namespace krafla
