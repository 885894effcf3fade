// Two words of bits at a time, which every processor we build for can do as fast as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace krafla {

struct TwoWords {
  using Bits = uint64_t __attribute__((vector_size(16)));
  static constexpr size_t kSize = 2;

  Bits bits;

  static TwoWords Load(const uint64_t* from) {
    TwoWords words;
    std::memcpy(&words.bits, from, sizeof(Bits));
    return words;
  }
  void Store(uint64_t* to) const { std::memcpy(to, &bits, sizeof(Bits)); }
  bool IsZero() const { return (bits[0] | bits[1]) == 0; }

  friend TwoWords operator&(TwoWords a, TwoWords b) { return {a.bits & b.bits}; }
  friend TwoWords operator|(TwoWords a, TwoWords b) { return {a.bits | b.bits}; }
  friend TwoWords operator^(TwoWords a, TwoWords b) { return {a.bits ^ b.bits}; }
  TwoWords AndNot(TwoWords other) const { return {bits & ~other.bits}; }
};

}  // namespace krafla
