// A score per node, by position in nodes_by_name. There is such a column for every kind of pod, and
// with many nodes all of them together are larger than any cache: so a score takes two bytes as
// long as all of them are whole numbers that two bytes hold, as they mostly are, or else eight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/fetch.h"
#include "base/sixty_four_shorts.h"

namespace krafla {

class ScoreColumn {
 public:
  static constexpr uint32_t kBlock = 64;  // nodes, a bit each in one word
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  // Memory is there once something is set, and touched where it is.
  explicit ScoreColumn(size_t nodes) : nodes_(nodes) {}

  size_t size() const { return nodes_; }
  double operator[](size_t position) const {
    return wide_ == nullptr ? static_cast<double>(narrow_[position]) : wide_[position];
  }
  // `set_before`: the nodes of which a score is still wanted, a bit each; others may be forgotten.
  void Set(std::span<const uint32_t> positions, std::span<const double> scores,
           std::span<const uint64_t> set_before) {
    if (wide_ == nullptr) {
      // Whole blocks: they are looked at in one piece, whoever is meant.
      if (narrow_ == nullptr)
        narrow_ =
            std::make_unique_for_overwrite<int16_t[]>((nodes_ + kBlock - 1) / kBlock * kBlock);
      if (SetNarrow(positions, scores)) return;
      Widen(set_before);
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      KRAFLA_CHECK(std::isfinite(scores[i]), "only a batch score may say that it cannot tell");
      wide_[positions[i]] = scores[i];
    }
  }

  // Below any score, as a number to compare with those that a T holds.
  template <class T>
  static constexpr auto BelowAll() {
    if constexpr (std::is_same_v<T, int16_t>) {
      return int32_t{-1};
    } else {
      return kNone;
    }
  }
  // Calls f with a pointer to the first; gives back what it does. Whatever f does for each of many
  // need not ask how wide they are.
  template <class F>
  auto Visit(F&& f) const {
    return wide_ == nullptr ? f(static_cast<const int16_t*>(narrow_.get()))
                            : f(static_cast<const double*>(wide_.get()));
  }
  // A block's scores will be looked at. Of wide ones the first line tells the processor.
  KRAFLA_FETCHES void FetchBlock(size_t block) const {
    if (wide_ != nullptr) {
      Fetch(&wide_[block * kBlock]);
    } else if (narrow_ != nullptr) {
      Fetch(&narrow_[block * kBlock]);
      Fetch(&narrow_[block * kBlock + kBlock / 2]);
    }
  }

  // The highest score of some of a block's nodes; kNone: there are none. Mostly they are few.
  double HighestOf(size_t block, uint64_t nodes) const {
    if (nodes == 0) return kNone;
    return Visit([&]<class T>(const T* scores) -> double {
      auto highest = BelowAll<T>();
      for (; nodes != 0; nodes &= nodes - 1)
        highest = std::max<decltype(highest)>(
            highest, scores[block * kBlock + static_cast<size_t>(std::countr_zero(nodes))]);
      return highest;
    });
  }
  // The same of several blocks; `nodes` are by block.
  void HighestOfEach(std::span<const uint32_t> blocks, std::span<const uint64_t> nodes,
                     std::vector<double>& highest) const {
    highest.clear();
    if (narrow_ == nullptr || wide_ != nullptr) {
      for (const uint32_t block : blocks) highest.push_back(HighestOf(block, nodes[block]));
      return;
    }
    std::array<int16_t, kBlock> found;
    while (!blocks.empty()) {
      const auto some = blocks.first(std::min<size_t>(blocks.size(), found.size()));
      HighestShortsOf(narrow_.get(), some, nodes, found);
      for (size_t i = 0; i < some.size(); ++i)
        highest.push_back(nodes[some[i]] != 0 ? static_cast<double>(found[i]) : kNone);
      blocks = blocks.subspan(some.size());
    }
  }
  // Which of them is the first that has this score; one has.
  uint32_t FirstThatHas(size_t block, uint64_t nodes, double score) const {
    return Visit([&]<class T>(const T* scores) {
      const T* first = scores + block * kBlock;
      if constexpr (std::is_same_v<T, int16_t>) {
        const auto narrow = static_cast<int16_t>(Clamped(score));
        nodes = static_cast<double>(narrow) == score ? ShortsThatAre(first, nodes, narrow) : 0;
      } else {
        while (nodes != 0 && first[std::countr_zero(nodes)] != score) nodes &= nodes - 1;
      }
      KRAFLA_CHECK(nodes != 0, "the best of a block is in it");
      return static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes));
    });
  }

 private:
  // False: they are not all narrow, and some may not have been set.
  bool SetNarrow(std::span<const uint32_t> positions, std::span<const double> scores) {
    std::array<int16_t, kBlock> some;
    for (size_t at = 0; at < positions.size(); at += kBlock) {
      const size_t count = std::min<size_t>(kBlock, positions.size() - at);
      if (!ToShorts(scores.subspan(at, count), some.data())) return false;
      for (size_t i = 0; i < count; ++i) narrow_[positions[at + i]] = some[i];
    }
    return true;
  }
  // What a narrow score can be: comparisons that are one instruction each, also of what is not a
  // number.
  static double Clamped(double score) {
    constexpr double kMost = std::numeric_limits<int16_t>::max();
    score = score > 0 ? score : 0;
    return score < kMost ? score : kMost;
  }
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
  std::unique_ptr<int16_t[]> narrow_;
  std::unique_ptr<double[]> wide_;  // null: they are narrow
};

}  // namespace krafla
