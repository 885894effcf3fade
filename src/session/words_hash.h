// Hashes keys that are lists of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace krafla {

struct WordsHash {
  size_t operator()(const std::vector<uint64_t>& words) const {
    uint64_t hash = words.size();
    for (const uint64_t word : words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

}  // namespace krafla
