#include "session/shared_scores.h"

#include <algorithm>
#include <utility>

namespace krafla {

SharedScores::SharedScores(size_t nodes)
    : nodes_(nodes), known_((nodes + BlockMaxima::kBlock - 1) / BlockMaxima::kBlock) {
  scores_ = std::make_unique_for_overwrite<double[]>(known_.size() * BlockMaxima::kBlock);
  Begin();
}

void SharedScores::Begin() {
  known_.assign(known_.size(), 0);
  best_.Reset(known_.size());
  loose_.assign(best_.regions().size(), 0);
  any_known_ = false;
  ++times_begun_;
}

// Mostly nobody knows about what has changed. How good the rest of a block is need not be found out
// now: often the next question brings back what was lost.
void SharedScores::CatchUp(std::span<const uint32_t> changed) {
  if (any_known_ && changed.size() - synced_ > nodes_) Begin();
  if (any_known_) {
    for (const uint32_t p : changed.subspan(synced_)) {
      if (!Knows(p)) continue;
      const uint32_t block = p / BlockMaxima::kBlock;
      known_[block] &= ~BitOf(p);
      const double score = std::exchange(scores_[p], BlockMaxima::kNone);
      if (score == best_.Of(block)) loose_[block / BlockMaxima::kBlock] |= BitOf(block);
    }
  }
  synced_ = changed.size();
}

void SharedScores::Set(std::span<const uint32_t> positions, std::span<const double> scores) {
  constexpr uint32_t kBlock = BlockMaxima::kBlock;
  for (size_t i = 0; i < positions.size();) {
    const uint32_t block = positions[i] / kBlock;
    if (known_[block] == 0) std::fill_n(&scores_[block * kBlock], kBlock, BlockMaxima::kNone);
    uint64_t known = known_[block];
    double highest = BlockMaxima::kNone;
    for (; i < positions.size() && positions[i] / kBlock == block; ++i) {
      known |= BitOf(positions[i]);
      scores_[positions[i]] = scores[i];
      highest = std::max(highest, scores[i]);
    }
    known_[block] = known;
    if (highest < best_.Of(block)) continue;
    best_.Raise(block * kBlock, highest);
    SetBit(loose_, block, false);
  }
  any_known_ |= !positions.empty();
}

void SharedScores::Tighten(std::span<const uint64_t> among) {
  ForEachWordNotZero(
      loose_.size(), [&](size_t region) { return loose_[region]; },
      [&](size_t region, uint64_t blocks) {
        BlockMaxima::ForEachNode(region, blocks, [&](uint32_t block) {
          if (among[block] == 0) return;
          // Of a block of which nothing is known, nothing may ever have been written.
          best_.Set(block, known_[block] != 0 ? BlockMaxima::HighestOfAll(scores_.get(), block)
                                              : BlockMaxima::kNone);
          SetBit(loose_, block, false);
        });
        return true;
      });
}

}  // namespace krafla
