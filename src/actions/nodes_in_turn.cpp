#include "actions/nodes_in_turn.h"

#include <algorithm>
#include <utility>

#include "base/words_of_bits.h"

namespace krafla {

namespace {

// Best first, of equal ones the first position.
bool ComesBefore(double score_a, uint32_t a, double score_b, uint32_t b) {
  return score_a != score_b ? score_a > score_b : a < b;
}

}  // namespace

void NodesInTurn::Start(const NodeRanking& ranking) {
  ranking_ = ranking;
  rest_.Start(ranking, among_);
  first_of_rest_ = kEnd;
  kept_.clear();
  again_.clear();
}

bool NodesInTurn::IsBefore(uint32_t a, uint32_t b) const {
  return ComesBefore((*ranking_.scores)[a], a, (*ranking_.scores)[b], b);
}

uint32_t NodesInTurn::Next() {
  if (first_of_rest_ == kEnd) {
    first_of_rest_ = rest_.Next();
    if (first_of_rest_ != kEnd) SetBit(among_, first_of_rest_, false);
  }
  if (!again_.empty() && (first_of_rest_ == kEnd || IsBefore(again_.back(), first_of_rest_))) {
    const uint32_t position = again_.back();
    again_.pop_back();
    return position;
  }
  return std::exchange(first_of_rest_, kEnd);
}

void NodesInTurn::GoOn(std::vector<uint32_t>& again) {
  again.insert(again.end(), kept_.begin(), kept_.end());
  again.insert(again.end(), again_.begin(), again_.end());
  kept_.clear();
  again_.clear();
  // Once each. They may be hundreds, for each task of a gang: they are not sorted here.
  named_.resize(among_.size());
  std::erase_if(again, [&](uint32_t p) {
    if (HasBit(named_, p)) return true;
    SetBit(named_, p, true);
    return false;
  });
  for (const uint32_t p : again) {
    SetBit(named_, p, false);
    if (p == first_of_rest_) first_of_rest_ = kEnd;
    if (!HasBit(among_, p)) continue;
    SetBit(among_, p, false);
    rest_.Remove(p);
  }
}

void NodesInTurn::ComeAgain(std::span<const uint32_t> positions, BestFirst::Keep keep) {
  if (keep) {
    if (first_of_rest_ != kEnd && keep(first_of_rest_ / 64, BitOf(first_of_rest_)) == 0)
      first_of_rest_ = kEnd;
    rest_.Filter(std::move(keep));
  }
  to_sort_.clear();
  for (const uint32_t p : positions) to_sort_.emplace_back((*ranking_.scores)[p], p);
  std::sort(to_sort_.begin(), to_sort_.end(), [](const auto& a, const auto& b) {
    return ComesBefore(b.first, b.second, a.first, a.second);
  });
  again_.clear();
  for (const auto& [score, p] : to_sort_) again_.push_back(p);
}

}  // namespace krafla
