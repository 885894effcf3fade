// Scores of nodes that depend on the class and the node alone, for all classes of tasks that have
// the same ones, and how good nodes can be: whoever wants the best node need not look at all.
//
// A score is known until its node changes. Owned by NodeSearch; by position in nodes_by_name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/words_of_bits.h"
#include "model/ids.h"
#include "session/block_maxima.h"
#include "session/changed_positions.h"
#include "session/score_column.h"

namespace krafla {

class SharedScores {
 public:
  explicit SharedScores(size_t nodes);

  // Follows a list of nodes that have changed; comes before questions.
  void CatchUp(const ChangedPositions& changed);
  void Set(uint32_t position, double score) { Set({&position, 1}, {&score, 1}); }
  // Of several nodes; best if those of a block follow each other.
  void Set(std::span<const uint32_t> positions, std::span<const double> scores);
  bool Knows(uint32_t position) const {
    return (known_[position / BlockMaxima::kBlock] & BitOf(position)) != 0;
  }
  double At(uint32_t position) const { return scores_[position]; }

  // A bit per node.
  std::span<const uint64_t> known() const { return known_; }
  // Good only where they are known.
  const ScoreColumn& scores() const { return scores_; }
  // No score that is known is higher.
  const BlockMaxima& best() const { return best_; }
  // Makes them the highest that are known; of blocks that have nodes in `among`, a bit each.
  void Tighten(std::span<const uint64_t> among);
  // How often everything has been forgotten: until then only nodes that change are.
  uint32_t times_begun() const { return times_begun_; }

  static constexpr size_t kBytesPerNode = sizeof(double);  // at most

 private:
  void Begin();
  void ForgetAll(std::span<const uint64_t> changed);

  size_t nodes_;
  ScoreColumn scores_;
  std::vector<uint64_t> known_;
  bool any_known_ = false;
  uint32_t times_begun_ = 0;
  BlockMaxima best_;
  // By block: which of its nodes has its best, of several one; so a node that changes need not be
  // looked up in a table that is mostly not in the cache.
  std::vector<uint8_t> holders_;
  std::vector<uint64_t> loose_;  // a bit per block: that node has changed since
  size_t synced_ = 0;            // how much of the list has been followed
};

}  // namespace krafla
