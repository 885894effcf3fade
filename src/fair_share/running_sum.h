// A sum of amounts whose addends come and go one by one, and that is nevertheless, bit for bit,
// what adding them all up would give. That holds for whole amounts, none negative, that add up to
// less than 2^53: these are exact in any order. Where something else has been among them, exact()
// says so, and the sum has to be made the long way.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/resource.h"

namespace krafla {

class RunningSum {
 public:
  void Add(const Resource& amount) { Count(amount, +1); }
  void Remove(const Resource& amount) { Count(amount, -1); }

  bool exact() const {
    if (odd_ != 0) return false;
    for (const Kind& kind : kinds_)
      if (kind.sum >= kLimit) return false;
    return true;
  }

  Resource Sum() const {
    Resource sum;
    for (size_t kind = 0; kind < kinds_.size(); ++kind)
      if (kinds_[kind].addends > 0) sum.Set(static_cast<int>(kind), kinds_[kind].sum);
    return sum;
  }

 private:
  static constexpr double kLimit = 0x1p53;
  struct Kind {
    double sum = 0;
    int64_t addends = 0;  // that name it
  };

  void Count(const Resource& amount, int64_t step) {
    for (uint64_t rest = amount.mask(); rest != 0; rest &= rest - 1) {
      const int kind = std::countr_zero(rest);
      const size_t at = static_cast<size_t>(kind);
      if (at >= kinds_.size()) kinds_.resize(at + 1);
      const double value = amount.Get(kind);
      if (value < 0 || value >= kLimit || value != std::floor(value)) {
        odd_ += step;
      } else {
        kinds_[at].sum += static_cast<double>(step) * value;
      }
      kinds_[at].addends += step;
    }
  }

  std::vector<Kind> kinds_;
  int64_t odd_ = 0;  // addends' amounts that are not whole
};

}  // namespace krafla
