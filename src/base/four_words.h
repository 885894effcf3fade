// Four words of bits at a time. Where a function is compiled for processors that have registers of
// that size (KRAFLA_WIDE), an operation is one instruction; for others it is two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace krafla {

// Compiled twice: for every processor of the kind, and for those of the last ten years. Which of
// both is called is decided when the program is loaded, as glibc can. The results are the same.
//
// Builds that verify have the first only, so that tests run both. The thread sanitizer is not there
// yet when the decision is taken.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KRAFLA_SANITIZES_THREADS
#endif
#elif defined(__SANITIZE_THREAD__)
#define KRAFLA_SANITIZES_THREADS
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(KRAFLA_SANITIZES_THREADS) && \
    !defined(KRAFLA_VERIFY)
#define KRAFLA_WIDE [[gnu::target_clones("avx2", "default")]]
#else
#define KRAFLA_WIDE
#endif

// Inlined by force, also lambdas: a function of its own would take its arguments in other registers
// than one of the two expects.
#define KRAFLA_IN_PLACE [[gnu::always_inline]] inline
#define KRAFLA_LAMBDA_IN_PLACE __attribute__((always_inline))

struct FourWords {
  using Bits = uint64_t __attribute__((vector_size(32)));
  static constexpr size_t kSize = 4;

  Bits bits;

  KRAFLA_IN_PLACE static FourWords Load(const uint64_t* from) {
    FourWords words;
    std::memcpy(&words.bits, from, sizeof(Bits));
    return words;
  }
  KRAFLA_IN_PLACE void Store(uint64_t* to) const { std::memcpy(to, &bits, sizeof(Bits)); }
  KRAFLA_IN_PLACE bool IsZero() const { return (bits[0] | bits[1] | bits[2] | bits[3]) == 0; }

  KRAFLA_IN_PLACE friend FourWords operator&(const FourWords& a, const FourWords& b) {
    return {a.bits & b.bits};
  }
  KRAFLA_IN_PLACE friend FourWords operator|(const FourWords& a, const FourWords& b) {
    return {a.bits | b.bits};
  }
  KRAFLA_IN_PLACE friend FourWords operator^(const FourWords& a, const FourWords& b) {
    return {a.bits ^ b.bits};
  }
  KRAFLA_IN_PLACE friend FourWords operator~(const FourWords& a) { return {~a.bits}; }
};

}  // namespace krafla
