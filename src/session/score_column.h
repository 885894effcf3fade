// A score per node, by position in nodes_by_name. There is such a column for every kind of pod, and
// with many nodes all of them together are larger than any cache: so a score takes four bytes as
// long as all of them are numbers that four bytes hold exactly, as whole ones are, or else eight.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "base/check.h"

namespace krafla {

class ScoreColumn {
 public:
  static constexpr uint32_t kBlock = 64;  // nodes, a bit each in one word
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  // Memory is there once something is set, and touched where it is.
  explicit ScoreColumn(size_t nodes) : nodes_(nodes) {}

  size_t size() const { return nodes_; }
  double operator[](size_t position) const {
    return wide_ == nullptr ? double{narrow_[position]} : wide_[position];
  }
  // `set_before`: the nodes of which a score is still wanted, a bit each; others may be forgotten.
  void Set(std::span<const uint32_t> positions, std::span<const double> scores,
           std::span<const uint64_t> set_before) {
    if (wide_ == nullptr) {
      if (narrow_ == nullptr) narrow_ = std::make_unique_for_overwrite<float[]>(nodes_);
      bool exact = true;
      for (size_t i = 0; i < positions.size(); ++i) {
        const auto narrow = static_cast<float>(scores[i]);
        narrow_[positions[i]] = narrow;
        exact &= double{narrow} == scores[i];
      }
      if (exact) return;
      Widen(set_before);
    }
    for (size_t i = 0; i < positions.size(); ++i) wide_[positions[i]] = scores[i];
  }

  // Calls f with a pointer to the first; gives back what it does. Whatever f does for each of many
  // need not ask how wide they are.
  template <class F>
  auto Visit(F&& f) const {
    return wide_ == nullptr ? f(static_cast<const float*>(narrow_.get()))
                            : f(static_cast<const double*>(wide_.get()));
  }

  // The highest score of some of a block's nodes; kNone: there are none.
  double HighestOf(size_t block, uint64_t nodes) const {
    return Visit([&](const auto* scores) -> double {
      auto highest = -std::numeric_limits<std::remove_cvref_t<decltype(*scores)>>::infinity();
      for (; nodes != 0; nodes &= nodes - 1)
        highest = std::max(highest,
                           scores[block * kBlock + static_cast<size_t>(std::countr_zero(nodes))]);
      return highest;
    });
  }
  // Which of them is the first that has this score; one has.
  uint32_t FirstThatHas(size_t block, uint64_t nodes, double score) const {
    return Visit([&](const auto* scores) {
      for (;; nodes &= nodes - 1) {
        KRAFLA_CHECK(nodes != 0, "the best of a block is in it");
        const size_t p = block * kBlock + static_cast<size_t>(std::countr_zero(nodes));
        if (double{scores[p]} == score) return static_cast<uint32_t>(p);
      }
    });
  }

 private:
  // Mostly the first scores tell, and nothing has to be copied.
  void Widen(std::span<const uint64_t> set_before) {
    wide_ = std::make_unique_for_overwrite<double[]>(nodes_);
    for (size_t block = 0; block < set_before.size(); ++block)
      for (uint64_t nodes = set_before[block]; nodes != 0; nodes &= nodes - 1) {
        const size_t p = block * kBlock + static_cast<size_t>(std::countr_zero(nodes));
        wide_[p] = narrow_[p];
      }
    narrow_.reset();
  }

  size_t nodes_;
  std::unique_ptr<float[]> narrow_;
  std::unique_ptr<double[]> wide_;  // null: they are narrow
};

}  // namespace krafla
