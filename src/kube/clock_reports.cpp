#include "kube/clock_reports.h"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "base/go_duration.h"

namespace krafla {

namespace {

// What a clock is set by at once; less is the business of whatever keeps it right.
constexpr int64_t kStepNs = Timestamp::kNsPerSecond;

std::string AheadOrBehind(int64_t skew_s) {
  return fmt::format("{} s {}", std::abs(skew_s), skew_s > 0 ? "ahead of" : "behind");
}

}  // namespace

void ClockReports::Follow(SchedulingLoop& loop, bool leading) {
  const ClockReading now = options_.clocks();
  FollowSteps(loop, now);
  if (options_.skew == nullptr) return;
  const std::optional<int64_t> skew_s = options_.skew->TooLarge(now);
  loop.SetClockSkew(skew_s);
  Report(skew_s, leading);
}

void ClockReports::FollowSteps(SchedulingLoop& loop, const ClockReading& now) {
  const int64_t offset = now.wall_minus_boot_ns();
  const int64_t step = wall_minus_boot_ns_ ? offset - *wall_minus_boot_ns_ : 0;
  wall_minus_boot_ns_ = offset;
  if (std::abs(step) < kStepNs) return;
  loop.ClockWasSet(step);
  if (options_.log)
    options_.log(fmt::format("the scheduler's clock was set by_s={:.1f}",
                             static_cast<double>(step) / static_cast<double>(kStepNs)));
}

void ClockReports::Report(std::optional<int64_t> skew_s, bool leading) {
  const std::string limit =
      FormatShortDuration(std::chrono::nanoseconds(options_.skew->limit()).count());
  if (skew_s.has_value() != logged_.has_value() && options_.log)
    options_.log(skew_s ? fmt::format("clock skew against the API server is too large; drains and "
                                      "ends of cooldowns wait skew_s={} limit={}",
                                      *skew_s, limit)
                        : fmt::format("clock skew against the API server is over; drains and ends "
                                      "of cooldowns go on limit={}",
                                      limit));
  logged_ = skew_s;
  // Only a leader may write.
  if (!leading || skew_s.has_value() == event_written_) return;
  event_written_ = skew_s.has_value();
  if (skew_s) {
    events_.Record({options_.scheduler, true, "ClockSkew",
                    fmt::format("the scheduler's clock is {} the API server's: while they differ "
                                "by more than {}, no zone is drained and no cooldown ends",
                                AheadOrBehind(*skew_s), limit)});
  } else {
    events_.Record({options_.scheduler, false, "ClockSkewOver",
                    fmt::format("the scheduler's clock differs from the API server's by no more "
                                "than {} again: drains and ends of cooldowns go on",
                                limit)});
  }
}

}  // namespace krafla
