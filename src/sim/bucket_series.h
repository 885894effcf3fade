// A value over time, in at most so many buckets of equal width. When the run is longer than they
// reach, pairs are joined and the width doubles: memory does not depend on the run's length.
#pragma once

#include <cstddef>
#include <vector>

namespace krafla {

class BucketSeries {
 public:
  enum class Of { kMean, kLargest };
  static constexpr double kFirstWidth = 15;  // seconds; a day is 720 buckets of 2 minutes

  BucketSeries(Of of, size_t most_buckets) : of_(of), most_buckets_(most_buckets) {}

  // From `seconds` after the start on. Not before the last call's.
  void Set(double value, double seconds);

  // The width that `seconds` need.
  static double WidthFor(double seconds, size_t most_buckets);
  // One number for each bucket of that width up to `end`; the last may be shorter.
  std::vector<float> Values(double width, double end) const;

 private:
  void FillUntil(double seconds);
  void Put(size_t bucket, double value, double seconds);

  Of of_;
  size_t most_buckets_;
  double width_ = kFirstWidth;
  double value_ = 0;
  double since_ = 0;
  std::vector<float> buckets_;  // kMean: integrals; kLargest: maxima
};

}  // namespace krafla
