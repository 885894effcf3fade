#include "actions/nodes_in_turn.h"

#include <algorithm>
#include <iterator>
#include <utility>

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
  waiting_.clear();
  to_pass_.clear();
  passed_.clear();
  keep_ = nullptr;
}

bool NodesInTurn::IsBefore(uint32_t a, uint32_t b) const {
  return ComesBefore((*ranking_.scores)[a], a, (*ranking_.scores)[b], b);
}

uint32_t NodesInTurn::Next() {
  for (;;) {
    if (first_of_rest_ == kEnd) {
      first_of_rest_ = rest_.Next();
      if (first_of_rest_ != kEnd) SetBit(among_, first_of_rest_, false);
    }
    uint32_t first = first_of_rest_;
    std::vector<uint32_t>* from = nullptr;  // the rest
    for (std::vector<uint32_t>* list : {&again_, &waiting_}) {
      if (list->empty() || (first != kEnd && !IsBefore(list->back(), first))) continue;
      first = list->back();
      from = list;
    }
    if (first == kEnd) return kEnd;
    if (from != nullptr) {
      from->pop_back();
    } else {
      first_of_rest_ = kEnd;
    }
    if (IsPassedOver(first)) {
      passed_.push_back(first);
    } else if (from != &waiting_ || !keep_ || keep_(first / 64, BitOf(first)) != 0) {
      return first;
    }
  }
}

void NodesInTurn::GoOn(std::vector<uint32_t>& again) {
  again.insert(again.end(), kept_.begin(), kept_.end());
  kept_.clear();
  // Once each. They may be hundreds, for each task of a gang: they are not sorted here.
  named_.resize(among_.size());
  std::erase_if(again, [&](uint32_t p) {
    if (HasBit(named_, p)) return true;
    SetBit(named_, p, true);
    return false;
  });
  Wait();
  for (const uint32_t p : again) {
    SetBit(named_, p, false);
    if (p == first_of_rest_) first_of_rest_ = kEnd;
    if (!HasBit(among_, p)) continue;
    SetBit(among_, p, false);
    rest_.Remove(p);
  }
}

// Whoever was to come again and has not, or was passed over, and is not named: nothing has changed
// there, and they are in order still.
void NodesInTurn::Wait() {
  for (std::vector<uint32_t>* list : {&again_, &waiting_, &passed_})
    std::erase_if(*list, [&](uint32_t p) { return HasBit(named_, p); });
  if (!again_.empty()) {
    merged_.clear();
    std::merge(again_.begin(), again_.end(), waiting_.begin(), waiting_.end(),
               std::back_inserter(merged_), [&](uint32_t a, uint32_t b) { return IsBefore(b, a); });
    waiting_.swap(merged_);
    again_.clear();
  }
  waiting_.insert(waiting_.end(), passed_.rbegin(), passed_.rend());
  passed_.clear();
  to_pass_.clear();
}

void NodesInTurn::ComeAgain(std::span<const uint32_t> positions, BestFirst::Keep keep) {
  if (keep) {
    if (first_of_rest_ != kEnd && keep(first_of_rest_ / 64, BitOf(first_of_rest_)) == 0)
      first_of_rest_ = kEnd;
    rest_.Filter(keep);
  }
  keep_ = std::move(keep);
  to_sort_.clear();
  for (const uint32_t p : positions) to_sort_.emplace_back((*ranking_.scores)[p], p);
  std::sort(to_sort_.begin(), to_sort_.end(), [](const auto& a, const auto& b) {
    return ComesBefore(b.first, b.second, a.first, a.second);
  });
  again_.clear();
  for (const auto& [score, p] : to_sort_) again_.push_back(p);
}

}  // namespace krafla
