#include "actions/highest_levels.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace krafla {

namespace {

constexpr uint32_t kBlock = 64;

}  // namespace

void HighestLevels::Begin(size_t nodes) {
  blocks_ = (nodes + kBlock - 1) / kBlock;
  known_.assign(blocks_, 0);
  if (level_.size() == nodes) return;  // in which rows nodes are is known
  level_.assign(nodes, 0);
  row_.assign(nodes, 0);
  rows_.assign((kRows + 1) * blocks_, 0);
  std::fill_n(rows_.begin(), blocks_, ~uint64_t{0});
}

void HighestLevels::Forget(uint32_t position) {
  known_[position / kBlock] &= ~(uint64_t{1} << position % kBlock);
}

// The exponent of a number and the highest bit behind it rise with the number.
size_t HighestLevels::Row(double level) {
  constexpr int kShift = std::numeric_limits<double>::digits - 1 - 1;
  constexpr uint64_t kLast = std::bit_cast<uint64_t>(1.0) >> kShift;
  if (!(level > 0)) return 0;
  const uint64_t half = std::bit_cast<uint64_t>(level) >> kShift;
  if (half >= kLast) return kRows - 1;
  return kLast - half < kRows ? kRows - 1 - (kLast - half) : 0;
}

void HighestLevels::Set(uint32_t position, double level) {
  const uint64_t bit = uint64_t{1} << position % kBlock;
  known_[position / kBlock] |= bit;
  level_[position] = level;
  const size_t before = row_[position];
  const size_t after = Row(level);
  row_[position] = static_cast<uint8_t>(after);
  uint64_t* rows = &rows_[position / kBlock];
  for (size_t r = before + 1; r <= after; ++r) rows[r * blocks_] |= bit;
  for (size_t r = after + 1; r <= before; ++r) rows[r * blocks_] &= ~bit;
}

}  // namespace krafla
