// Some amounts in rising order, and about where among them another one lies: a number tells, so
// that few have to be compared with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace krafla {

class RisingSteps {
 public:
  static constexpr size_t kMost = 64;

  RisingSteps() = default;
  explicit RisingSteps(std::vector<double> steps);

  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }
  double operator[](size_t at) const { return steps_[at]; }
  std::span<const double> all() const { return steps_; }

  // Those before the first one are lower than the amount, and those from the second one on are
  // higher.
  std::pair<size_t, size_t> Around(double amount) const {
    const size_t bucket = BucketOf(amount);
    return {before_[bucket], before_[bucket + 1]};
  }

 private:
  static constexpr size_t kBuckets = 128;

  // Never falls when the amount rises. Also of what is no number there is one: it is in the first.
  size_t BucketOf(double amount) const {
    constexpr double kLast = kBuckets - 1;
    double bucket = (amount - first_) * buckets_per_unit_;
    bucket = bucket > 0 ? bucket : 0;
    return static_cast<size_t>(bucket < kLast ? bucket : kLast);
  }

  std::vector<double> steps_;
  double first_ = 0;
  double buckets_per_unit_ = 0;
  std::array<uint8_t, kBuckets + 1> before_{};  // how many steps are in buckets before this one
};

}  // namespace krafla
