#include "sim/bucket_series.h"

#include <algorithm>
#include <cmath>

namespace krafla {

namespace {

void JoinPairs(std::vector<float>& buckets) {
  for (size_t i = 0; i < buckets.size(); i += 2)
    buckets[i / 2] = buckets[i] + (i + 1 < buckets.size() ? buckets[i + 1] : 0);
  buckets.resize((buckets.size() + 1) / 2);
}

}  // namespace

double BucketSeries::WidthFor(double seconds, size_t most_buckets) {
  double width = kFirstWidth;
  while (seconds > width * static_cast<double>(most_buckets)) width *= 2;
  return width;
}

void BucketSeries::FillUntil(double seconds) {
  const double needed = WidthFor(seconds, most_buckets_);
  for (; width_ < needed; width_ *= 2) JoinPairs(buckets_);
  while (since_ < seconds) {
    const double bucket = std::floor(since_ / width_);
    const double until = std::min(seconds, (bucket + 1) * width_);
    if (value_ != 0) {
      const auto index = static_cast<size_t>(bucket);
      if (index >= buckets_.size()) buckets_.resize(index + 1, 0);
      buckets_[index] += static_cast<float>(value_ * (until - since_));
    }
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
  for (; copy.width_ < width; copy.width_ *= 2) JoinPairs(copy.buckets_);
  copy.buckets_.resize(static_cast<size_t>(std::ceil(end / width)), 0);
  for (size_t i = 0; i < copy.buckets_.size(); ++i) {
    const double length = std::min(width, end - static_cast<double>(i) * width);
    copy.buckets_[i] = static_cast<float>(copy.buckets_[i] / length);
  }
  return copy.buckets_;
}

}  // namespace krafla
