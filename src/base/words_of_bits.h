// Going through long rows of bits of which nearly all are zero, or nearly all words say nothing
// new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace krafla {

// An element's bit in its word.
inline uint64_t BitOf(size_t at) {
  return uint64_t{1} << at % 64;
}

inline bool HasBit(std::span<const uint64_t> words, size_t at) {
  return (words[at / 64] & BitOf(at)) != 0;
}

inline void SetBit(std::span<uint64_t> words, size_t at, bool value) {
  const uint64_t bit = BitOf(at);
  words[at / 64] = value ? words[at / 64] | bit : words[at / 64] & ~bit;
}

// Calls f(index, word) for each of `count` words that is not zero, in their order, until f says
// false. word(i) has to be cheap and the same whenever it is asked: eight are looked at together,
// so that a row of zeros costs one branch for eight words.
template <class Word, class F>
void ForEachWordNotZero(size_t count, Word&& word, F&& f) {
  constexpr size_t kStep = 8;
  size_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const auto any = [&]<size_t... k>(std::index_sequence<k...>) {
      return (word(i + k) | ...);
    }(std::make_index_sequence<kStep>());
    if (any == 0) continue;
    for (size_t k = i; k < i + kStep; ++k)
      if (const uint64_t bits = word(k); bits != 0 && !f(k, bits)) return;
  }
  for (; i < count; ++i)
    if (const uint64_t bits = word(i); bits != 0 && !f(i, bits)) return;
}

}  // namespace krafla
