// How far the scheduler's clock is ahead of the API server's, from the Date headers of answers, and
// whether that is too much to act upon.
//
// A Date has whole seconds, and its answer was on the way for a while: each one gives bounds. They
// are kept as the server's time against BootClock, so that a clock that is set here shows at once.
// Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "kube/clocks.h"

namespace krafla {

class ClockSkew {
 public:
  // `limit` 0: a skew is measured, and holds nothing.
  explicit ClockSkew(std::chrono::milliseconds limit) : limit_(limit) {}

  // An answer with this Date, to a request that was sent and answered at these moments.
  void Note(int64_t date_unix_s, BootClock::time_point sent, const ClockReading& answered);

  // Seconds, positive when our clock is ahead: the middle of what is possible. None: nothing was
  // answered yet.
  std::optional<double> Seconds(const ClockReading& now) const;
  // The same in whole seconds while the skew is too large, for certain, or was within the last
  // kCalm: several API servers may have different clocks. Small changes are not followed.
  std::optional<int64_t> TooLarge(const ClockReading& now);

  std::chrono::milliseconds limit() const { return limit_; }

  static constexpr std::chrono::seconds kCalm{30};

 private:
  void Judge(const ClockReading& now);

  const std::chrono::milliseconds limit_;
  mutable std::mutex mutex_;
  bool known_ = false;
  // Bounds of the server's time minus BootClock's, in ns.
  int64_t least_ns_ = 0;
  int64_t most_ns_ = 0;
  std::optional<int64_t> too_large_s_;
  BootClock::time_point last_too_large_;
};

}  // namespace krafla
