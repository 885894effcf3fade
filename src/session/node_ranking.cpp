#include "session/node_ranking.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace krafla {

size_t NodeRanking::Count() const {
  size_t count = 0;
  for (const uint64_t word : allowed) count += static_cast<size_t>(std::popcount(word));
  if (left_out == nullptr) return count;
  for (uint32_t p = 0; p < left_out->size(); ++p)
    if ((*left_out)[p] && ((allowed[p / kBlock] >> (p % kBlock)) & 1) != 0) --count;
  return count;
}

bool NodeRanking::AnyAllowed() const {
  for (uint32_t p = 0; p < scores.size(); ++p) {
    if (p % kBlock == 0 && allowed[p / kBlock] == 0)
      p += kBlock - 1;
    else if (IsAllowed(p))
      return true;
  }
  return false;
}

void BestFirst::Start(const NodeRanking& ranking, std::span<const uint64_t> among) {
  ranking_ = ranking;
  among_ = among;
  has_heap_ = false;
  first_ = kEnd;
}

// The best node of the block with the highest maximum, when no other block can have a better one;
// kEnd when that cannot be told so easily.
uint32_t BestFirst::FindFirst() const {
  constexpr Item kNothing{-std::numeric_limits<double>::infinity(), kEnd};
  Item best = kNothing;
  Item second = kNothing;
  const auto count = static_cast<uint32_t>(among_.size());
  for (uint32_t region = 0; region < ranking_.region_best.size(); ++region) {
    // Blocks come in their order: of equal ones the first stays.
    if (second.position != kEnd && ranking_.region_best[region] <= second.score) continue;
    const uint32_t first = region * NodeRanking::kBlock;
    for (uint32_t block = first; block < std::min(first + NodeRanking::kBlock, count); ++block) {
      const double score = ranking_.block_best[block];
      if (second.position != kEnd && score <= second.score) continue;
      if ((among_[block] & ranking_.allowed[block]) == 0) continue;
      if (best.position == kEnd || score > best.score) {
        second = best;
        best = {score, block};
      } else {
        second = {score, block};
      }
    }
  }
  if (best.position == kEnd) return kEnd;
  const uint32_t block = best.position;
  Head head{{}, block, false, among_[block] & ranking_.allowed[block]};
  FindBest(head);
  if (second.position != kEnd &&
      !Before(head.best, {second.score, second.position * NodeRanking::kBlock}))
    return kEnd;
  const bool left_out = ranking_.left_out != nullptr && (*ranking_.left_out)[head.best.position];
  return left_out ? kEnd : head.best.position;
}

void BestFirst::MakeHeap() {
  has_heap_ = true;
  heads_.clear();
  for (uint32_t block = 0; block < among_.size(); ++block) {
    uint64_t nodes = among_[block] & ranking_.allowed[block];
    if (first_ != kEnd && first_ / NodeRanking::kBlock == block)
      nodes &= ~(uint64_t{1} << (first_ % NodeRanking::kBlock));
    if (nodes != 0)
      heads_.push_back(
          {{ranking_.block_best[block], block * NodeRanking::kBlock}, block, false, nodes});
  }
  std::make_heap(heads_.begin(), heads_.end(), Later);
}

void BestFirst::FindBest(Head& head) const {
  const uint32_t first = head.block * NodeRanking::kBlock;
  head.best.position = kEnd;
  for (uint64_t bits = head.left; bits != 0; bits &= bits - 1) {
    const uint32_t p = first + static_cast<uint32_t>(std::countr_zero(bits));
    if (head.best.position == kEnd || ranking_.scores[p] > head.best.score)
      head.best = {ranking_.scores[p], p};
  }
}

uint32_t BestFirst::Next() {
  if (!has_heap_ && first_ == kEnd) {
    first_ = FindFirst();
    if (first_ != kEnd) return first_;
  }
  if (!has_heap_) MakeHeap();
  while (!heads_.empty()) {
    std::pop_heap(heads_.begin(), heads_.end(), Later);
    Head& head = heads_.back();
    uint32_t position = kEnd;
    if (head.known) {
      position = head.best.position;
      head.left &= ~(uint64_t{1} << (position % NodeRanking::kBlock));
      // What is left is no better; how good it is shows when its turn comes.
      head.known = false;
      ++head.best.position;
      if (ranking_.left_out != nullptr && (*ranking_.left_out)[position]) position = kEnd;
    } else {
      FindBest(head);
      head.known = true;
    }
    if (head.left == 0) {
      heads_.pop_back();
    } else {
      std::push_heap(heads_.begin(), heads_.end(), Later);
    }
    if (position != kEnd) return position;
  }
  return kEnd;
}

}  // namespace krafla
