// The highest level of the candidates on each node, for a plugin that knows levels exactly
// (VictimLevels::exact_level), in rows of bits: which nodes have as much as a task needs is asked
// of all of them at the price of a word or two per 64 nodes.
//
// Rows stand for levels half an octave apart. Who is not in the last row up to what a task needs
// has less, who is in the next one has more. Those in between are few; the number tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace krafla {

class HighestLevels {
 public:
  // By position; nothing is known.
  void Begin(size_t nodes);
  void Forget(uint32_t position);
  // A bit per node of a block.
  uint64_t Unknown(size_t block) const { return ~known_[block]; }
  std::span<const uint64_t> known() const { return known_; }
  void Set(uint32_t position, double level);

  double At(uint32_t position) const { return level_[position]; }
  // By block, a bit per node: of those that are known, the others have less.
  std::span<const uint64_t> MayHave(double needed) const {
    return std::span(rows_).subspan(Row(needed) * blocks_, blocks_);
  }
  // … and these have more. Those in between have less or as much.
  std::span<const uint64_t> HaveMore(double needed) const {
    return std::span(rows_).subspan((Row(needed) + 1) * blocks_, blocks_);
  }

 private:
  // From all nodes to those with a level of 1 or more.
  static constexpr size_t kRows = 64;
  static size_t Row(double level);

  size_t blocks_ = 0;
  std::vector<uint64_t> known_;
  std::vector<double> level_;   // by position
  std::vector<uint8_t> row_;    // by position: the last one it is in
  std::vector<uint64_t> rows_;  // by row and block; and one in which nobody is
};

}  // namespace krafla
