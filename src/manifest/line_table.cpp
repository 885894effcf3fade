#include "manifest/line_table.h"

#include <algorithm>

namespace krafla {

namespace {

constexpr size_t kBlock = size_t{32} << 10;

}  // namespace

Location LineTable::At(size_t offset) {
  offset = std::min(offset, text_.size());
  if (blocks_.empty()) Build();
  const size_t block = offset / kBlock;
  return Advance(blocks_[block], block * kBlock, offset);
}

void LineTable::Build() {
  Location at{1, 1};
  for (size_t begin = 0;; begin += kBlock) {
    blocks_.push_back(at);
    if (begin + kBlock > text_.size()) return;
    at = Advance(at, begin, begin + kBlock);
  }
}

Location LineTable::Advance(Location from, size_t begin, size_t end) const {
  // Unsigned, because a hostile text has more characters in a line than an int can count.
  auto line = static_cast<unsigned>(from.line);
  auto column = static_cast<unsigned>(from.column);
  for (size_t i = begin; i < end; ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else {
      column += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    }
  }
  return {static_cast<int>(line), static_cast<int>(column)};
}

}  // namespace krafla
