#include "session/shared_scores.h"

#include "base/words_of_bits.h"

namespace krafla {

SharedScores::SharedScores(size_t nodes)
    : nodes_(nodes),
      scores_(std::make_unique_for_overwrite<double[]>(nodes)),
      known_((nodes + BlockMaxima::kBlock - 1) / BlockMaxima::kBlock) {
  Begin();
}

void SharedScores::Begin() {
  known_.assign(known_.size(), 0);
  best_.Reset(known_.size());
  loose_.assign(best_.regions().size(), 0);
  any_known_ = false;
}

// Mostly nobody knows about what has changed. How good the rest of a block is need not be found out
// now: often the next question brings back what was lost.
void SharedScores::CatchUp(std::span<const uint32_t> changed) {
  if (any_known_ && changed.size() - synced_ > nodes_) Begin();
  if (any_known_) {
    for (const uint32_t p : changed.subspan(synced_)) {
      if (!Knows(p)) continue;
      const uint32_t block = p / BlockMaxima::kBlock;
      known_[block] &= ~BlockMaxima::BitOf(p);
      if (best_.IsHeldBy(p)) loose_[block / BlockMaxima::kBlock] |= BlockMaxima::BitOf(block);
    }
  }
  synced_ = changed.size();
}

void SharedScores::Tighten() {
  ForEachWordNotZero(
      loose_.size(), [&](size_t region) { return loose_[region]; },
      [&](size_t region, uint64_t blocks) {
        loose_[region] = 0;
        BlockMaxima::ForEachNode(region, blocks, [&](uint32_t block) {
          best_.FindAnew(block, scores_.get(), known_[block]);
        });
        return true;
      });
}

}  // namespace krafla
