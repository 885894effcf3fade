#include "session/shared_scores.h"

#include <algorithm>

#include "base/fetch.h"

namespace krafla {

SharedScores::SharedScores(size_t nodes)
    : nodes_(nodes),
      scores_(nodes),
      known_((nodes + BlockMaxima::kBlock - 1) / BlockMaxima::kBlock),
      holders_(known_.size(), 0) {
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
void SharedScores::CatchUp(const ChangedPositions& changed) {
  const size_t news = changed.size() - synced_;
  // When nearly every node has changed.
  constexpr size_t kTimesAll = 2;
  if (any_known_ && news > kTimesAll * nodes_) Begin();
  if (any_known_ && news >= known_.size()) {
    static thread_local std::vector<uint64_t> row;  // kept for its memory
    row.assign(known_.size(), 0);
    changed.AddFrom(synced_, row);
    ForgetAll(row);
  } else if (any_known_) {
    constexpr size_t kWordsPerLine = 8;
    if (news > known_.size() / kWordsPerLine)
      for (size_t block = 0; block < known_.size(); block += kWordsPerLine) Fetch(&known_[block]);
    changed.ForEachFrom(synced_, [&](uint32_t p) {
      // Whether it is known cannot be foreseen, but that it is hardly ever the best can.
      const uint32_t block = p / BlockMaxima::kBlock;
      const uint64_t known = known_[block];
      known_[block] = known & ~BitOf(p);
      if (holders_[block] == p % BlockMaxima::kBlock && (known & BitOf(p)) != 0) [[unlikely]]
        SetBit(loose_, block, true);
    });
  }
  synced_ = changed.size();
}

// Of nodes given as bits.
void SharedScores::ForgetAll(std::span<const uint64_t> changed) {
  for (size_t region = 0; region < loose_.size(); ++region) {
    const size_t first = region * BlockMaxima::kBlock;
    const size_t end = std::min(known_.size(), first + BlockMaxima::kBlock);
    uint64_t loose = 0;
    for (size_t block = first; block < end; ++block) {
      const uint64_t lost = known_[block] & changed[block];
      known_[block] ^= lost;
      loose |= (lost >> holders_[block] & 1) << (block - first);
    }
    loose_[region] |= loose;
  }
}

void SharedScores::Set(std::span<const uint32_t> positions, std::span<const double> scores) {
  constexpr uint32_t kBlock = BlockMaxima::kBlock;
  scores_.Set(positions, scores, known_);
  for (size_t i = 0; i < positions.size();) {
    const uint32_t block = positions[i] / kBlock;
    uint64_t known = known_[block];
    double highest = BlockMaxima::kNone;
    uint32_t holder = 0;
    for (; i < positions.size() && positions[i] / kBlock == block; ++i) {
      const double score = scores[i];
      known |= BitOf(positions[i]);
      holder = score > highest ? positions[i] : holder;
      highest = score > highest ? score : highest;
    }
    known_[block] = known;
    if (highest < best_.Of(block)) continue;
    best_.Raise(holder, highest);
    holders_[block] = static_cast<uint8_t>(holder % kBlock);
    SetBit(loose_, block, false);
  }
  any_known_ |= !positions.empty();
}

void SharedScores::Tighten(std::span<const uint64_t> among) {
  // Kept for their memory.
  static thread_local std::vector<uint32_t> blocks;
  static thread_local std::vector<double> highest;
  blocks.clear();
  ForEachWordNotZero(
      loose_.size(), [&](size_t region) { return loose_[region]; },
      [&](size_t region, uint64_t loose) {
        BlockMaxima::ForEachNode(region, loose, [&](uint32_t block) {
          if (among[block] != 0) blocks.push_back(block);
        });
        return true;
      });
  scores_.HighestOfEach(blocks, known_, highest);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const uint32_t block = blocks[i];
    best_.Set(block, highest[i]);
    if (known_[block] != 0)
      holders_[block] = static_cast<uint8_t>(
          scores_.FirstThatHas(block, known_[block], highest[i]) % BlockMaxima::kBlock);
    SetBit(loose_, block, false);
  }
}

}  // namespace krafla
