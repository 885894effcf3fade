// Scores of nodes for tests, set all at once or one after the other.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "session/score_column.h"

namespace krafla::testing {

inline ScoreColumn ColumnOf(const std::vector<double>& scores) {
  std::vector<uint32_t> positions(scores.size());
  std::iota(positions.begin(), positions.end(), 0U);
  ScoreColumn column(scores.size());
  column.Set(positions, scores, {});
  return column;
}

// Of a column in which every node has one already.
inline void SetScore(ScoreColumn& column, uint32_t position, double score) {
  std::vector<uint64_t> all((column.size() + 63) / 64, ~uint64_t{0});
  if (column.size() % 64 != 0) all.back() = (uint64_t{1} << column.size() % 64) - 1;
  column.Set({&position, 1}, {&score, 1}, all);
}

}  // namespace krafla::testing
