#include "session/node_ranking.h"

#include <algorithm>
#include <bit>

namespace krafla {

size_t NodeRanking::Count() const {
  size_t count = 0;
  for (const uint64_t word : allowed) count += static_cast<size_t>(std::popcount(word));
  if (left_out == nullptr) return count;
  for (uint32_t p = 0; p < left_out->size(); ++p)
    if ((*left_out)[p] && ((allowed[p / kBlock] >> (p % kBlock)) & 1) != 0) --count;
  return count;
}

void BestFirst::Start(const NodeRanking& ranking, std::span<const uint64_t> among) {
  ranking_ = ranking;
  among_ = among;
  heads_.clear();
  items_.clear();
  for (uint32_t block = 0; block < among.size(); ++block)
    if ((among[block] & ranking.allowed[block]) != 0)
      heads_.push_back({{ranking.block_best[block], block * NodeRanking::kBlock}, block, kEnd, 0});
  std::make_heap(heads_.begin(), heads_.end(), Later);
}

// False when nothing is left of the block.
bool BestFirst::SortBlock(Head& head) {
  head.next = static_cast<uint32_t>(items_.size());
  uint64_t bits = among_[head.block] & ranking_.allowed[head.block];
  for (; bits != 0; bits &= bits - 1) {
    const uint32_t p =
        head.block * NodeRanking::kBlock + static_cast<uint32_t>(std::countr_zero(bits));
    if (ranking_.left_out == nullptr || !(*ranking_.left_out)[p])
      items_.push_back({ranking_.scores[p], p});
  }
  head.end = static_cast<uint32_t>(items_.size());
  if (head.next == head.end) return false;
  std::sort(items_.begin() + head.next, items_.end(), Before);
  head.best = items_[head.next];
  return true;
}

uint32_t BestFirst::Next() {
  while (!heads_.empty()) {
    std::pop_heap(heads_.begin(), heads_.end(), Later);
    Head& head = heads_.back();
    if (head.next == kEnd) {
      if (SortBlock(head)) {
        std::push_heap(heads_.begin(), heads_.end(), Later);
      } else {
        heads_.pop_back();
      }
      continue;
    }
    const uint32_t position = head.best.position;
    if (++head.next == head.end) {
      heads_.pop_back();
    } else {
      head.best = items_[head.next];
      std::push_heap(heads_.begin(), heads_.end(), Later);
    }
    return position;
  }
  return kEnd;
}

}  // namespace krafla
