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
  has_leaders_ = false;
  leaders_.clear();
  heads_.clear();
}

void BestFirst::FindLeaders() {
  has_leaders_ = true;
  others_ = {0, kEnd};
  const auto is_behind = [&](const Item& bound) {
    if (leaders_.size() < kLeaders || Before(bound, leaders_.back())) return false;
    if (others_.position == kEnd || Before(bound, others_)) others_ = bound;
    return true;
  };
  const auto count = static_cast<uint32_t>(among_.size());
  for (uint32_t region = 0; region < ranking_.region_best.size(); ++region) {
    const uint32_t begin = region * NodeRanking::kBlock;
    if (is_behind({ranking_.region_best[region], begin * NodeRanking::kBlock})) continue;
    for (uint32_t block = begin; block < std::min(begin + NodeRanking::kBlock, count); ++block) {
      if (NodesOf(block) == 0) continue;
      const Item bound = BoundOf(block);
      if (is_behind(bound)) continue;
      if (leaders_.size() == kLeaders) {
        others_ = leaders_.back();  // it came before all others
        leaders_.pop_back();
      }
      auto at = leaders_.end();
      while (at != leaders_.begin() && Before(bound, *(at - 1))) --at;
      leaders_.insert(at, bound);
    }
  }
  // In order, they are a heap.
  for (const Item& bound : leaders_) {
    const uint32_t block = bound.position / NodeRanking::kBlock;
    heads_.push_back({bound, block, NodesOf(block)});
  }
}

void BestFirst::AddOthers() {
  others_.position = kEnd;
  for (uint32_t block = 0; block < among_.size(); ++block) {
    const uint64_t nodes = NodesOf(block);
    const auto is_leader = [&](const Item& leader) {
      return leader.position == block * NodeRanking::kBlock;
    };
    if (nodes != 0 && std::none_of(leaders_.begin(), leaders_.end(), is_leader))
      heads_.push_back({BoundOf(block), block, nodes});
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
  if (!has_leaders_) FindLeaders();
  for (;;) {
    if (others_.position != kEnd && (heads_.empty() || !Before(heads_.front().best, others_)))
      AddOthers();
    if (heads_.empty()) return kEnd;
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
}

}  // namespace krafla
