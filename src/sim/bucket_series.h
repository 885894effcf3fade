// A value over time, in at most so many buckets of equal width. When the run is longer than they
// reach, pairs are joined and the width doubles: memory does not depend on the run's length.
#pragma once

#include <cstddef>
#include <vector>

namespace krafla {

class BucketSeries {
 public:
  static constexpr double kFirstWidth = 15;  // seconds; a day is 720 buckets of 2 minutes

  explicit BucketSeries(size_t most_buckets) : most_buckets_(most_buckets) {}

  // From `seconds` after the start on. Not before the last call's.
  void Set(double value, double seconds);

  // The width that `seconds` need.
  static double WidthFor(double seconds, size_t most_buckets);
  // The averages of the buckets of that width up to `end`; the last may be shorter.
  std::vector<float> Values(double width, double end) const;

 private:
  void FillUntil(double seconds);

  size_t most_buckets_;
  double width_ = kFirstWidth;
  double value_ = 0;
  double since_ = 0;
  std::vector<float> buckets_;  // integrals; what is beyond the end is zero
};

}  // namespace krafla
