// Sixty-four short numbers at a time, of which none is below zero: as many as a word has bits.
#pragma once

#if defined(__SSE2__) && !defined(KRAFLA_VERIFY)
#define KRAFLA_SHORTS_IN_REGISTERS
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace krafla {

// Builds that verify go through the numbers one by one, so that tests run both.
#ifdef KRAFLA_SHORTS_IN_REGISTERS

inline __m128i LoadEightShorts(const int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// The highest of some of them, a bit each; there is one.
inline int16_t HighestShort(const int16_t* numbers, uint64_t some) {
  const __m128i bits = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);
  // What is left out counts as zero, than which nothing is lower.
  __m128i highest = _mm_setzero_si128();
  for (int at = 0; at < 64; at += 8) {
    const __m128i eight = _mm_set1_epi16(static_cast<int16_t>(some >> at & 0xff));
    const __m128i is_meant = _mm_cmpeq_epi16(_mm_and_si128(eight, bits), bits);
    highest = _mm_max_epi16(highest, _mm_and_si128(LoadEightShorts(numbers + at), is_meant));
  }
  highest = _mm_max_epi16(highest, _mm_srli_si128(highest, 8));
  highest = _mm_max_epi16(highest, _mm_srli_si128(highest, 4));
  highest = _mm_max_epi16(highest, _mm_srli_si128(highest, 2));
  return static_cast<int16_t>(_mm_extract_epi16(highest, 0));
}

// Which of some of them are this number, a bit each.
inline uint64_t ShortsThatAre(const int16_t* numbers, uint64_t some, int16_t number) {
  const __m128i wanted = _mm_set1_epi16(number);
  uint64_t found = 0;
  for (int at = 0; at < 64; at += 16) {
    const __m128i first = _mm_cmpeq_epi16(LoadEightShorts(numbers + at), wanted);
    const __m128i next = _mm_cmpeq_epi16(LoadEightShorts(numbers + at + 8), wanted);
    const int both = _mm_movemask_epi8(_mm_packs_epi16(first, next));
    found |= static_cast<uint64_t>(static_cast<uint32_t>(both)) << at;
  }
  return found & some;
}

#else

inline int16_t HighestShort(const int16_t* numbers, uint64_t some) {
  int16_t highest = 0;
  for (; some != 0; some &= some - 1) highest = std::max(highest, numbers[std::countr_zero(some)]);
  return highest;
}

inline uint64_t ShortsThatAre(const int16_t* numbers, uint64_t some, int16_t number) {
  uint64_t found = 0;
  for (; some != 0; some &= some - 1)
    if (numbers[std::countr_zero(some)] == number) found |= some & -some;
  return found;
}

#endif
#undef KRAFLA_SHORTS_IN_REGISTERS

}  // namespace krafla
