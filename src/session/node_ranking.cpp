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
  heads_.clear();
  for (uint32_t block = 0; block < among.size(); ++block)
    if (const uint64_t nodes = among[block] & ranking.allowed[block]; nodes != 0)
      heads_.push_back(
          {{ranking.block_best[block], block * NodeRanking::kBlock}, block, false, nodes});
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
