// How good the nodes of each block can be, so that the best of all is found without looking at all:
// a number per block of nodes, and one per region of blocks.
//
// Nodes are by position in nodes_by_name.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/two_doubles.h"

namespace krafla {

class BlockMaxima {
 public:
  static constexpr uint32_t kBlock = 64;  // nodes per block, blocks per region
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  // Calls f with the position of each of a block's nodes, a bit per node.
  template <class F>
  static void ForEachNode(size_t block, uint64_t nodes, F&& f) {
    for (; nodes != 0; nodes &= nodes - 1)
      f(static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes)));
  }
  // The highest of all scores of a block.
  static double HighestOfAll(const double* scores, size_t block) {
    const double* first = scores + block * kBlock;
    // Four at a time: one need not wait for the one before.
    std::array<TwoDoubles, 4> most;
#pragma GCC unroll 4
    for (size_t i = 0; i < most.size(); ++i) most[i] = LoadTwo(first + 2 * i);
#pragma GCC unroll 7
    for (size_t at = 8; at < kBlock; at += 8)
#pragma GCC unroll 4
      for (size_t i = 0; i < most.size(); ++i)
        most[i] = HigherOf(most[i], LoadTwo(first + at + 2 * i));
    const TwoDoubles highest = HigherOf(HigherOf(most[0], most[1]), HigherOf(most[2], most[3]));
    return std::max(highest[0], highest[1]);
  }

  // There is nobody yet.
  void Reset(size_t blocks) {
    size_ = blocks;
    regions_.assign((blocks + kBlock - 1) / kBlock, kNone);
    blocks_.assign(regions_.size() * kBlock, kNone);
  }
  double Of(size_t block) const { return blocks_[block]; }
  // A node's score is one of those that count.
  void Raise(uint32_t position, double score) {
    const size_t block = position / kBlock;
    if (score < blocks_[block]) return;
    blocks_[block] = score;
    regions_[block / kBlock] = std::max(regions_[block / kBlock], score);
  }
  // The highest score of those of its nodes that count.
  void Set(size_t block, double best) {
    const double old = std::exchange(blocks_[block], best);
    double& region = regions_[block / kBlock];
    if (best >= region) {
      region = best;
    } else if (old == region) {
      region = HighestOfAll(blocks_.data(), block / kBlock);
    }
  }
  // The first block that has the highest of all; there is one with somebody in it unless it is
  // kNone.
  size_t First() const {
    const auto region = std::max_element(regions_.begin(), regions_.end());
    size_t block = static_cast<size_t>(region - regions_.begin()) * kBlock;
    while (blocks_[block] != *region) ++block;
    return block;
  }

  size_t size() const { return size_; }
  std::span<const double> blocks() const { return {blocks_.data(), size_}; }
  std::span<const double> regions() const { return regions_; }

 private:
  size_t size_ = 0;
  std::vector<double> blocks_;   // filled up to whole regions
  std::vector<double> regions_;  // the highest of their blocks
};

}  // namespace krafla
