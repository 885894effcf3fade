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
  heads_.clear();
}

BestFirst::Leaders BestFirst::FindLeaders() const {
  Leaders leaders;
  double first = 0;
  double second = 0;
  // Blocks come in their order: of equal ones the first stays.
  const auto matters = [&](double score) { return leaders.second == kEnd || score > second; };
  const auto count = static_cast<uint32_t>(among_.size());
  for (uint32_t region = 0; region < ranking_.region_best.size(); ++region) {
    if (!matters(ranking_.region_best[region])) continue;
    const uint32_t begin = region * NodeRanking::kBlock;
    for (uint32_t block = begin; block < std::min(begin + NodeRanking::kBlock, count); ++block) {
      const double score = ranking_.block_best[block];
      if (!matters(score) || NodesOf(block) == 0) continue;
      if (leaders.first == kEnd || score > first) {
        leaders.second = leaders.first;
        second = first;
        leaders.first = block;
        first = score;
      } else {
        leaders.second = block;
        second = score;
      }
    }
  }
  return leaders;
}

void BestFirst::MakeHeap(const Head& head) {
  has_heap_ = true;
  const Head looked_at = head;
  heads_.clear();
  for (uint32_t block = 0; block < among_.size(); ++block) {
    if (block == looked_at.block) {
      if (looked_at.left != 0) heads_.push_back(looked_at);
    } else if (const uint64_t nodes = NodesOf(block); nodes != 0) {
      heads_.push_back({BoundOf(block), block, false, nodes});
    }
  }
  std::make_heap(heads_.begin(), heads_.end(),
                 [](const Head& a, const Head& b) { return Before(b.best, a.best); });
}

BestFirst::Item BestFirst::BestOf(uint32_t block, uint64_t nodes) const {
  Item best{-std::numeric_limits<double>::infinity(), kEnd};
  for (; nodes != 0; nodes &= nodes - 1) {
    const uint32_t p = block * NodeRanking::kBlock + static_cast<uint32_t>(std::countr_zero(nodes));
    if (best.position == kEnd || ranking_.scores[p] > best.score) best = {ranking_.scores[p], p};
  }
  return best;
}

void BestFirst::SinkFirst() {
  const Head sinking = heads_.front();
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heads_.size()) break;
    if (child + 1 < heads_.size() && Before(heads_[child + 1].best, heads_[child].best)) ++child;
    if (!Before(heads_[child].best, sinking.best)) break;
    heads_[at] = heads_[child];
    at = child;
  }
  heads_[at] = sinking;
}

void BestFirst::DropFirst() {
  heads_.front() = heads_.back();
  heads_.pop_back();
  if (!heads_.empty()) SinkFirst();
}

uint32_t BestFirst::Next() {
  if (!has_heap_ && heads_.empty()) {
    // The best node of the block with the highest maximum, when no other can have a better one.
    const Leaders leaders = FindLeaders();
    if (leaders.first == kEnd) return kEnd;
    Head head{{}, leaders.first, true, NodesOf(leaders.first)};
    head.best = BestOf(head.block, head.left);
    const bool leads = leaders.second == kEnd || Before(head.best, BoundOf(leaders.second));
    if (!leads || IsLeftOut(head.best.position)) {
      MakeHeap(head);
    } else {
      const uint32_t position = head.best.position;
      head.left &= ~(uint64_t{1} << position % NodeRanking::kBlock);
      head.known = false;
      heads_.assign(1, head);
      return position;
    }
  }
  if (!has_heap_) MakeHeap(Head(heads_.front()));
  while (!heads_.empty()) {
    Head& head = heads_.front();
    if (!head.known) {
      head.known = true;
      head.best = BestOf(head.block, head.left);
      SinkFirst();
      continue;
    }
    // What is left there is no better; how good it is shows when its turn comes.
    const uint32_t position = head.best.position++;
    head.left &= ~(uint64_t{1} << position % NodeRanking::kBlock);
    head.known = false;
    if (head.left == 0) {
      DropFirst();
    } else {
      SinkFirst();
    }
    if (!IsLeftOut(position)) return position;
  }
  return kEnd;
}

}  // namespace krafla
