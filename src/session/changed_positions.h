// Positions of nodes that have changed, in order, for many tables that follow the list from time to
// time. A table that is far behind need not go through the list: what has changed in each piece of
// it is kept as a row of bits too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/piece_list.h"

namespace krafla {

class ChangedPositions {
 public:
  explicit ChangedPositions(size_t nodes)
      : blocks_((nodes + 63) / 64), piece_(std::max<size_t>(64, blocks_)) {}

  size_t size() const { return list_.size(); }
  void push_back(uint32_t position);
  void clear();

  // In order, from so many on.
  template <class F>
  void ForEachFrom(size_t from, F&& f) const {
    list_.From(from).ForEach(f);
  }
  // Adds them to a row of bits, by block. Costs little more than the row, however many they are.
  void AddFrom(size_t from, std::span<uint64_t> row) const;

 private:
  size_t blocks_;
  size_t piece_;  // as many as a row has words: then rows are twice as large as the list, no more
  PieceList<uint32_t, 1 << 12> list_;
  // By piece; there may be more of them than there are pieces, kept for their memory.
  std::vector<std::vector<uint64_t>> rows_;
};

}  // namespace krafla
