// Why nodes refuse a task, counted: "2 Insufficient cpu, 1 node(s) had untolerated taint".
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "session/fit_errors.h"
#include "session/refusal.h"
#include "session/rows_of_bits.h"

namespace krafla {

// How many nodes gave each reason, in the order of the first node that did.
class ReasonCounts {
 public:
  explicit ReasonCounts(size_t nodes) { error_.nodes = static_cast<int>(nodes); }

  // `count` nodes, the first of them at `position`.
  void Add(ReasonCode reason, uint32_t position, int count) {
    if (reason == 0) return;
    if (reason != last_) {
      last_ = reason;
      const auto it = std::find_if(error_.reasons.begin(), error_.reasons.end(),
                                   [&](const auto& r) { return r.first == reason; });
      slot_ = static_cast<size_t>(it - error_.reasons.begin());
      if (it == error_.reasons.end()) {
        error_.reasons.emplace_back(reason, 0);
        first_.push_back(position);
      }
    }
    error_.reasons[slot_].second += count;
    first_[slot_] = std::min(first_[slot_], position);
  }
  void Add(Refusal refusal, uint32_t position) {
    Add(refusal, position / kWord, uint64_t{1} << position % kWord);
  }
  // Some nodes of a block.
  void Add(Refusal refusal, size_t block, uint64_t nodes) {
    if (nodes == 0) return;
    const uint32_t first =
        static_cast<uint32_t>(block * kWord) + static_cast<uint32_t>(std::countr_zero(nodes));
    Add(refusal.reason, first, std::popcount(nodes));
    if (refusal.unresolvable()) NoteUnresolvable(block, nodes);
  }
  // Some of all nodes, a bit each.
  void AddRow(Refusal refusal, RowOfBits nodes) {
    const size_t count = CountBits(nodes);
    if (count == 0) return;
    const auto first = std::find_if(nodes.begin(), nodes.end(), [](uint64_t w) { return w != 0; });
    Add(refusal.reason,
        static_cast<uint32_t>((first - nodes.begin()) * kWord) +
            static_cast<uint32_t>(std::countr_zero(*first)),
        static_cast<int>(count));
    if (!refusal.unresolvable()) return;
    for (size_t block = 0; block < nodes.size(); ++block) NoteUnresolvable(block, nodes[block]);
  }
  FitError Take() {
    std::vector<size_t> order(first_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t l, size_t r) { return first_[l] < first_[r]; });
    std::vector<std::pair<ReasonCode, int>> reasons;
    for (const size_t i : order) reasons.push_back(error_.reasons[i]);
    error_.reasons = std::move(reasons);
    if (!unresolvable_.empty())
      error_.unresolvable = std::make_shared<const std::vector<bool>>(std::move(unresolvable_));
    return std::move(error_);
  }

 private:
  static constexpr size_t kWord = 64;

  void NoteUnresolvable(size_t block, uint64_t nodes) {
    if (unresolvable_.empty()) unresolvable_.resize(static_cast<size_t>(error_.nodes), false);
    for (; nodes != 0; nodes &= nodes - 1)
      unresolvable_[block * kWord + static_cast<size_t>(std::countr_zero(nodes))] = true;
  }

  FitError error_;
  std::vector<uint32_t> first_;  // by reason
  std::vector<bool> unresolvable_;
  ReasonCode last_ = 0;
  size_t slot_ = 0;  // of the last reason: neighbours tend to say the same
};

}  // namespace krafla
