// Instants as people in the scenario's time zone read them, and lengths of time.
#pragma once

#include <string>

#include "base/timestamp.h"
#include "model/zone_window.h"

namespace krafla {

// Remembers the offset of the last question, because the next one is nearly always about the same
// day.
class LocalClock {
 public:
  explicit LocalClock(TimeZone zone) : zone_(std::move(zone)) {}

  const TimeZone& zone() const { return zone_; }
  int OffsetAt(Timestamp time);

  // "2026-03-16T12:00:00+08:00", with decimals only where there are any.
  std::string Rfc3339(Timestamp time);
  // "Mon 16 Mar 12:00:05"
  std::string Short(Timestamp time);

 private:
  TimeZone zone_;
  int64_t known_from_ = 0;  // Unix seconds, [from, until)
  int64_t known_until_ = 0;
  int offset_seconds_ = 0;
  Timestamp last_time_;  // of Rfc3339; many things happen at the same time
  std::string last_text_;
};

// "45s", "3m12s", "2h05m", "3d04h": the two largest units. Below a second: "0.25s".
std::string DurationText(double seconds);

inline double SecondsBetween(Timestamp from, Timestamp to) {
  return static_cast<double>(ElapsedNs(from, to)) / static_cast<double>(Timestamp::kNsPerSecond);
}

}  // namespace krafla
