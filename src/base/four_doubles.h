// Four numbers side by side: in a function that is compiled for wide registers (KRAFLA_WIDE) an
// operation is one instruction, else it is two.
//
// A vector is inside of a struct, which functions may take and give back also where the processor
// is not known to have registers of that size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/four_words.h"
#include "base/two_doubles.h"

namespace krafla {

// Of a comparison: all bits of a number, or none.
struct FourAnswers {
  using Bits = int64_t __attribute__((vector_size(32)));

  Bits bits = {-1, -1, -1, -1};

  KRAFLA_IN_PLACE friend FourAnswers operator&(const FourAnswers& a, const FourAnswers& b) {
    return {a.bits & b.bits};
  }
  KRAFLA_IN_PLACE bool AllYes() const { return (bits[0] & bits[1] & bits[2] & bits[3]) != 0; }
};

struct FourInts {
  using Ints = int32_t __attribute__((vector_size(16)));

  Ints ints;

  KRAFLA_IN_PLACE friend FourInts operator+(const FourInts& a, const FourInts& b) {
    return {a.ints + b.ints};
  }
  KRAFLA_IN_PLACE friend FourInts operator-(const FourInts& a, const FourInts& b) {
    return {a.ints - b.ints};
  }
  // Of numbers that are not below zero, without what is behind the point.
  KRAFLA_IN_PLACE FourInts Halved() const { return {ints >> 1}; }
  KRAFLA_IN_PLACE std::array<int16_t, 4> ToShorts() const {
    using Shorts = int16_t __attribute__((vector_size(8)));
    const Shorts narrow = __builtin_convertvector(ints, Shorts);
    std::array<int16_t, 4> shorts;
    std::memcpy(&shorts, &narrow, sizeof(narrow));
    return shorts;
  }
};
KRAFLA_IN_PLACE FourInts FourTimes(int32_t number) {
  return {FourInts::Ints{number, number, number, number}};
}

struct FourDoubles {
  using Numbers = double __attribute__((vector_size(32)));
  static constexpr size_t kSize = 4;

  Numbers numbers;

  KRAFLA_IN_PLACE static FourDoubles Load(const double* from) {
    FourDoubles four;
    std::memcpy(&four.numbers, from, sizeof(Numbers));
    return four;
  }
  KRAFLA_IN_PLACE static FourDoubles Of(const FourInts& ints) {
    return {__builtin_convertvector(ints.ints, Numbers)};
  }
  KRAFLA_IN_PLACE void Store(double* to) const { std::memcpy(to, &numbers, sizeof(Numbers)); }

  KRAFLA_IN_PLACE friend FourDoubles operator+(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers + b.numbers};
  }
  KRAFLA_IN_PLACE friend FourDoubles operator-(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers - b.numbers};
  }
  KRAFLA_IN_PLACE friend FourDoubles operator*(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers * b.numbers};
  }
  KRAFLA_IN_PLACE friend FourDoubles operator/(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers / b.numbers};
  }
  KRAFLA_IN_PLACE friend FourAnswers operator==(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers == b.numbers};
  }
  KRAFLA_IN_PLACE friend FourAnswers operator<(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers < b.numbers};
  }
  KRAFLA_IN_PLACE friend FourAnswers operator<=(const FourDoubles& a, const FourDoubles& b) {
    return {a.numbers <= b.numbers};
  }

  // Without their signs.
  KRAFLA_IN_PLACE FourDoubles Absolute() const {
    constexpr int64_t kAllButSign = INT64_MAX;
    return {(Numbers)((FourAnswers::Bits)numbers & kAllButSign)};
  }
  // Without what is behind the point: of numbers that an int holds.
  KRAFLA_IN_PLACE FourInts Whole() const {
    return {__builtin_convertvector(numbers, FourInts::Ints)};
  }
};
KRAFLA_IN_PLACE FourDoubles FourTimes(double number) {
  return {FourDoubles::Numbers{number, number, number, number}};
}
// Of each pair; the second where one is not a number.
KRAFLA_IN_PLACE FourDoubles LowerOf(const FourDoubles& a, const FourDoubles& b) {
  return {a.numbers < b.numbers ? a.numbers : b.numbers};
}
KRAFLA_IN_PLACE FourDoubles HigherOf(const FourDoubles& a, const FourDoubles& b) {
  return {a.numbers > b.numbers ? a.numbers : b.numbers};
}

// Four pairs as the first ones of all and the second ones of all.
struct FourPairs {
  FourDoubles first;
  FourDoubles second;

  template <class PairAt>
  KRAFLA_IN_PLACE static FourPairs Load(PairAt&& pair_at) {
    const TwoDoubles pairs[] = {LoadTwo(pair_at(0)), LoadTwo(pair_at(1)), LoadTwo(pair_at(2)),
                                LoadTwo(pair_at(3))};
    const FourDoubles even{__builtin_shufflevector(pairs[0], pairs[2], 0, 1, 2, 3)};
    const FourDoubles odd{__builtin_shufflevector(pairs[1], pairs[3], 0, 1, 2, 3)};
    return {.first = {__builtin_shufflevector(even.numbers, odd.numbers, 0, 4, 2, 6)},
            .second = {__builtin_shufflevector(even.numbers, odd.numbers, 1, 5, 3, 7)}};
  }
};

}  // namespace krafla
