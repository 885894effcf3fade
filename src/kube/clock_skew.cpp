#include "kube/clock_skew.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace krafla {

namespace {

constexpr int64_t kSecond = Timestamp::kNsPerSecond;
constexpr int64_t kSameSkewS = 5;  // smaller changes are not worth another word

}  // namespace

void ClockSkew::Note(int64_t date_unix_s, BootClock::time_point sent,
                     const ClockReading& answered) {
  const int64_t date_ns = date_unix_s * kSecond;
  // The header was written after the request was sent and before it was answered.
  const int64_t least = date_ns - answered.boot.time_since_epoch().count();
  const int64_t most = date_ns + kSecond - sent.time_since_epoch().count();
  const std::scoped_lock lock(mutex_);
  // Several answers together know more than the seconds of one. A clock that was set there, or
  // another server, contradicts the earlier ones.
  const bool agrees = known_ && std::max(least_ns_, least) <= std::min(most_ns_, most);
  least_ns_ = agrees ? std::max(least_ns_, least) : least;
  most_ns_ = agrees ? std::min(most_ns_, most) : most;
  known_ = true;
  Judge(answered);
}

std::optional<double> ClockSkew::Seconds(const ClockReading& now) const {
  const std::scoped_lock lock(mutex_);
  if (!known_) return std::nullopt;
  const double middle = (static_cast<double>(least_ns_) + static_cast<double>(most_ns_)) / 2;
  return (static_cast<double>(now.wall_minus_boot_ns()) - middle) / static_cast<double>(kSecond);
}

void ClockSkew::Judge(const ClockReading& now) {
  if (!known_ || limit_.count() == 0) return;
  const int64_t limit_ns = std::chrono::nanoseconds(limit_).count();
  const int64_t least = now.wall_minus_boot_ns() - most_ns_;
  const int64_t most = now.wall_minus_boot_ns() - least_ns_;
  if (least > limit_ns || most < -limit_ns) {
    last_too_large_ = now.boot;
    const int64_t skew_s = std::llround((static_cast<double>(least) + static_cast<double>(most)) /
                                        2 / static_cast<double>(kSecond));
    if (!too_large_s_ || std::abs(skew_s - *too_large_s_) >= kSameSkewS) too_large_s_ = skew_s;
  } else if (now.boot - last_too_large_ >= kCalm) {
    too_large_s_.reset();
  }
}

std::optional<int64_t> ClockSkew::TooLarge(const ClockReading& now) {
  const std::scoped_lock lock(mutex_);
  Judge(now);
  return too_large_s_;
}

}  // namespace krafla
