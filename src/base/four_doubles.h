// Four numbers side by side: in a function that is compiled for wide registers (KRAFLA_WIDE) an
// operation is one instruction, else it is two.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/four_words.h"
#include "base/two_doubles.h"

namespace krafla {

using FourDoubles = double __attribute__((vector_size(32)));
using FourInts = int32_t __attribute__((vector_size(16)));
// Of a comparison: all bits of a number, or none.
using FourAnswers = int64_t __attribute__((vector_size(32)));

KRAFLA_IN_PLACE FourDoubles FourTimes(double number) {
  return FourDoubles{number, number, number, number};
}
KRAFLA_IN_PLACE FourDoubles LoadFour(const double* from) {
  FourDoubles four;
  std::memcpy(&four, from, sizeof(four));
  return four;
}
KRAFLA_IN_PLACE void StoreFour(const FourDoubles& four, double* to) {
  std::memcpy(to, &four, sizeof(four));
}

// Of each pair; none of them is NaN.
KRAFLA_IN_PLACE FourDoubles LowerOfFour(const FourDoubles& a, const FourDoubles& b) {
  return a < b ? a : b;
}
// Without their signs.
KRAFLA_IN_PLACE FourDoubles AbsoluteOfFour(const FourDoubles& a) {
  constexpr int64_t kAllButSign = INT64_MAX;
  return (FourDoubles)((FourAnswers)a & kAllButSign);
}
// Without what is behind the point: of numbers that an int holds.
KRAFLA_IN_PLACE FourInts WholeOfFour(const FourDoubles& a) {
  return __builtin_convertvector(a, FourInts);
}
KRAFLA_IN_PLACE FourDoubles ToDoubles(const FourInts& a) {
  return __builtin_convertvector(a, FourDoubles);
}
KRAFLA_IN_PLACE bool AllYes(const FourAnswers& a) {
  return (a[0] & a[1] & a[2] & a[3]) != 0;
}

// Four pairs as the first ones of all and the second ones of all.
struct FourPairs {
  FourDoubles first;
  FourDoubles second;

  template <class PairAt>
  KRAFLA_IN_PLACE static FourPairs Load(PairAt&& pair_at) {
    const FourDoubles even =
        __builtin_shufflevector(LoadTwo(pair_at(0)), LoadTwo(pair_at(2)), 0, 1, 2, 3);
    const FourDoubles odd =
        __builtin_shufflevector(LoadTwo(pair_at(1)), LoadTwo(pair_at(3)), 0, 1, 2, 3);
    return {.first = __builtin_shufflevector(even, odd, 0, 4, 2, 6),
            .second = __builtin_shufflevector(even, odd, 1, 5, 3, 7)};
  }
};

}  // namespace krafla
