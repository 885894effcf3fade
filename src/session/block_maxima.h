// How good the nodes of each block can be, so that the best of all is found without looking at all:
// a number per block of nodes, and one per region of blocks.
//
// Nodes are by position in nodes_by_name.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

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
  // The highest score of a block's nodes.
  static double HighestOf(const double* scores, size_t block, uint64_t nodes) {
    double highest = kNone;
    ForEachNode(block, nodes, [&](uint32_t p) { highest = std::max(highest, scores[p]); });
    return highest;
  }

  // There is nobody yet.
  void Reset(size_t blocks) {
    blocks_.assign(blocks, kNone);
    regions_.assign((blocks + kBlock - 1) / kBlock, kNone);
    holders_.assign(blocks, 0);
  }
  double Of(size_t block) const { return blocks_[block]; }
  // Whether it is this node's score that is its block's best; of several one.
  bool IsHeldBy(uint32_t position) const {
    return holders_[position / kBlock] == position % kBlock && blocks_[position / kBlock] != kNone;
  }
  // A node's score is one of those that count.
  void Raise(uint32_t position, double score) {
    const size_t block = position / kBlock;
    if (score < blocks_[block]) return;
    blocks_[block] = score;
    holders_[block] = position % kBlock;
    regions_[block / kBlock] = std::max(regions_[block / kBlock], score);
  }
  // The block's best is the highest of the scores of these of its nodes.
  void FindAnew(size_t block, const double* scores, uint64_t nodes) {
    const double old = blocks_[block];
    double best = kNone;
    uint32_t holder = 0;
    // Without branches: which score is better than those before is anybody's guess.
    ForEachNode(block, nodes, [&](uint32_t p) {
      const double score = scores[p];
      holder = score > best ? p : holder;
      best = score > best ? score : best;
    });
    holders_[block] = holder % kBlock;
    blocks_[block] = best;
    double& region = regions_[block / kBlock];
    if (best >= region) {
      region = best;
    } else if (old == region) {
      region = HighestInRegion(block / kBlock);
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

  size_t size() const { return blocks_.size(); }
  std::span<const double> blocks() const { return blocks_; }
  std::span<const double> regions() const { return regions_; }

 private:
  double HighestInRegion(size_t region) const {
    const auto begin = blocks_.begin() + static_cast<ptrdiff_t>(region * kBlock);
    return *std::max_element(begin, begin + std::min<ptrdiff_t>(kBlock, blocks_.end() - begin));
  }

  std::vector<double> blocks_;
  std::vector<double> regions_;   // the highest of their blocks
  std::vector<uint8_t> holders_;  // by block: whose score its best is, if there is anybody
};

}  // namespace krafla
