// Two numbers side by side in one register, which every processor we build for has.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstring>

namespace krafla {

using TwoDoubles = double __attribute__((vector_size(16)));

inline TwoDoubles LoadTwo(const double* from) {
  TwoDoubles two;
  std::memcpy(&two, from, sizeof(two));
  return two;
}

// Of each pair; none of them is NaN.
inline TwoDoubles LowerOf(TwoDoubles a, TwoDoubles b) {
#ifdef __SSE2__
  return _mm_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}
inline TwoDoubles HigherOf(TwoDoubles a, TwoDoubles b) {
#ifdef __SSE2__
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}

}  // namespace krafla
