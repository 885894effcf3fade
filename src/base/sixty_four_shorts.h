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
#include <span>

namespace krafla {

// Builds that verify go through the numbers one by one, so that tests run both.
#ifdef KRAFLA_SHORTS_IN_REGISTERS

inline __m128i LoadEightShorts(const int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
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

inline uint64_t ShortsThatAre(const int16_t* numbers, uint64_t some, int16_t number) {
  uint64_t found = 0;
  for (; some != 0; some &= some - 1)
    if (numbers[std::countr_zero(some)] == number) found |= some & -some;
  return found;
}

#endif
#undef KRAFLA_SHORTS_IN_REGISTERS

// The same numbers as shorts; false: some are not whole numbers that one holds.
bool ToShorts(std::span<const double> numbers, int16_t* shorts);

// For each of some blocks of sixty-four, the highest of some of its numbers, a bit each, by block;
// of every block there is one.
void HighestShortsOf(const int16_t* numbers, std::span<const uint32_t> blocks,
                     std::span<const uint64_t> some, std::span<int16_t> highest);

}  // namespace krafla
