#include "session/changed_positions.h"

#include "base/words_of_bits.h"
#include "session/rows_of_bits.h"

namespace krafla {

void ChangedPositions::push_back(uint32_t position) {
  const size_t piece = list_.size() / piece_;
  if (list_.size() % piece_ == 0) {
    if (piece == rows_.size()) rows_.emplace_back();
    rows_[piece].assign(blocks_, 0);
  }
  SetBit(rows_[piece], position, true);
  list_.push_back(position);
}

void ChangedPositions::clear() {
  list_.clear();
}

void ChangedPositions::AddFrom(size_t from, std::span<uint64_t> row) const {
  if (from >= list_.size()) return;
  // The end of the first piece, one by one, and then whole ones.
  size_t piece = from / piece_;
  const size_t end = std::min(list_.size(), (piece + 1) * piece_);
  if (from % piece_ != 0) {
    for (size_t at = from; at < end; ++at) SetBit(row, list_[at], true);
    ++piece;
  }
  for (; piece * piece_ < list_.size(); ++piece) AddThese(row, rows_[piece]);
}

}  // namespace krafla
