// The event log of a simulation: one JSON object per line, in order, with the same bytes for the
// same run. docs/output.md describes the keys.
#pragma once

#include <ostream>
#include <string>

#include "sim/local_time.h"
#include "sim/sim_event.h"

namespace krafla {

// One event as a line, the line feed not included. `start` is what "t" counts from.
std::string EventLine(const SimEvent& event, Timestamp start, LocalClock& clock);

// Lines are collected and handed to `out` in blocks; the last of them with Flush() or at the end of
// this object's life. Whether `out` took them is for its owner to see (out.fail()).
class EventLog : public SimObserver {
 public:
  // Does not own `out`.
  EventLog(std::ostream& out, const TimeZone& zone) : out_(out), clock_(zone) {}
  ~EventLog() override { Flush(); }
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void On(const SimEvent& event) override;
  void Flush();
  int64_t lines() const { return lines_; }

 private:
  std::ostream& out_;
  LocalClock clock_;
  Timestamp start_;  // of the first event
  std::string block_;
  int64_t lines_ = 0;
};

}  // namespace krafla
