#include "sim/bucket_series.h"

#include <algorithm>
#include <cmath>

namespace krafla {

namespace {

void JoinPairs(std::vector<float>& buckets, BucketSeries::Of of) {
  for (size_t i = 0; i < buckets.size(); i += 2) {
    const float next = i + 1 < buckets.size() ? buckets[i + 1] : 0;
    buckets[i / 2] = of == BucketSeries::Of::kMean ? buckets[i] + next : std::max(buckets[i], next);
  }
  buckets.resize((buckets.size() + 1) / 2);
}

}  // namespace

double BucketSeries::WidthFor(double seconds, size_t most_buckets) {
  double width = kFirstWidth;
  while (seconds > width * static_cast<double>(most_buckets)) width *= 2;
  return width;
}

void BucketSeries::Put(size_t bucket, double value, double seconds) {
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1, 0);
  float& at = buckets_[bucket];
  at = static_cast<float>(of_ == Of::kMean ? at + value * seconds
                                           : std::max(static_cast<double>(at), value));
}

void BucketSeries::FillUntil(double seconds) {
  const double needed = WidthFor(seconds, most_buckets_);
  for (; width_ < needed; width_ *= 2) JoinPairs(buckets_, of_);
  while (since_ < seconds) {
    const double bucket = std::floor(since_ / width_);
    const double until = std::min(seconds, (bucket + 1) * width_);
    if (value_ != 0) Put(static_cast<size_t>(bucket), value_, until - since_);
    since_ = until;
  }
}

void BucketSeries::Set(double value, double seconds) {
  if (value == value_) return;
  FillUntil(seconds);
  value_ = value;
}

std::vector<float> BucketSeries::Values(double width, double end) const {
  BucketSeries copy = *this;
  copy.FillUntil(end);
  for (; copy.width_ < width; copy.width_ *= 2) JoinPairs(copy.buckets_, of_);
  copy.buckets_.resize(static_cast<size_t>(std::ceil(end / width)), 0);
  if (of_ == Of::kMean)
    for (size_t i = 0; i < copy.buckets_.size(); ++i) {
      const double length = std::min(width, end - static_cast<double>(i) * width);
      copy.buckets_[i] = static_cast<float>(copy.buckets_[i] / length);
    }
  return copy.buckets_;
}

}  // namespace krafla
