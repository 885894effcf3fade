#include "session/rising_steps.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"

namespace krafla {

RisingSteps::RisingSteps(std::vector<double> steps) : steps_(std::move(steps)) {
  KRAFLA_CHECK(steps_.size() <= kMost, std::to_string(steps_.size()));
  if (steps_.empty()) return;
  first_ = steps_.front();
  // With a single step, or some that are further apart than a number can say, all are in one.
  const double each = static_cast<double>(kBuckets - 1) / (steps_.back() - first_);
  if (std::isfinite(each)) buckets_per_unit_ = each;
  for (const double step : steps_) ++before_[BucketOf(step) + 1];
  for (size_t bucket = 0; bucket < kBuckets; ++bucket)
    before_[bucket + 1] = static_cast<uint8_t>(before_[bucket + 1] + before_[bucket]);
}

}  // namespace krafla
