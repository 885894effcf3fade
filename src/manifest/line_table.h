// Lines and columns of byte offsets, for messages about large texts. The table is made when the
// first message needs it; each later question reads at most one block of the text.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace krafla {

class LineTable {
 public:
  // `text` must outlive the table.
  explicit LineTable(std::string_view text) : text_(text) {}

  // Columns count characters (of UTF-8), not bytes.
  Location At(size_t offset);

 private:
  void Build();
  // `from` moved over text_[begin, end).
  Location Advance(Location from, size_t begin, size_t end) const;

  std::string_view text_;
  std::vector<Location> blocks_;  // where each block of text_ begins
};

}  // namespace krafla
