#include "session/shared_scores.h"

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
      if (best_.IsHeldBy(p)) loose_[block / BlockMaxima::kBlock] |= BitOf(block);
    }
  }
  synced_ = changed.size();
}

void SharedScores::Tighten(std::span<const uint64_t> among) {
  ForEachWordNotZero(
      loose_.size(), [&](size_t region) { return loose_[region]; },
      [&](size_t region, uint64_t blocks) {
        BlockMaxima::ForEachNode(region, blocks, [&](uint32_t block) {
          if (among[block] == 0) return;
          best_.FindAnew(block, scores_.get(), known_[block]);
          SetBit(loose_, block, false);
        });
        return true;
      });
}

}  // namespace krafla
