// An amount per node and kind, in columns by position in nodes_by_name: whether a request fits is
// asked of 64 nodes at a time, one bit each, and of a block whose best node is too small, or whose
// worst is large enough, by one comparison. A question about all nodes costs a nanosecond or less
// per node, so it may be asked for each of many classes of tasks that come up only once.
#pragma once

#include <cstdint>
#include <vector>

#include "model/resource.h"

namespace krafla {

class AmountColumns {
 public:
  static constexpr uint32_t kBlock = 64;

  // `amounts_of` gives a node's amounts by its position.
  template <class AmountsOf>
  void Make(size_t nodes, size_t kinds, AmountsOf&& amounts_of) {
    Clear(nodes, kinds);
    for (uint32_t p = 0; p < nodes; ++p) {
      const Resource& amounts = amounts_of(p);
      for (size_t kind = 0; kind < kinds; ++kind)
        columns_[kind].amounts[p] = amounts.Get(static_cast<int>(kind));
    }
    for (Column& column : columns_)
      for (size_t block = 0; block < blocks(); ++block) LookOver(column, block);
  }
  void Set(uint32_t position, const Resource& amounts);

  size_t nodes() const { return nodes_; }
  size_t kinds() const { return columns_.size(); }
  size_t blocks() const { return (nodes_ + kBlock - 1) / kBlock; }
  // The nodes of a block, a bit each.
  uint64_t NodesOf(size_t block) const {
    const size_t left = nodes_ - block * kBlock;
    return left >= kBlock ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  }
  // Those of a block that have as much of a kind, as LessEqualAmount compares.
  uint64_t Fits(int kind, double amount, size_t block) const {
    const Column& column = columns_[static_cast<size_t>(kind)];
    if (!IsEnough(amount, column.most[block])) return 0;
    if (IsEnough(amount, column.least[block])) return NodesOf(block);
    return Compare(&column.amounts[block * kBlock], amount);
  }
  // … of everything, as Resource::LessEqual compares, with missing kinds as zero; `slack` too
  // little in each kind is enough.
  uint64_t Fits(const Resource& request, size_t block, double slack = 0) const;
  // The same of one node.
  bool FitsAt(const Resource& request, uint32_t position, double slack = 0) const;

 private:
  struct Column {
    std::vector<double> amounts;  // by position, filled up to whole blocks with what nothing fits
    // By block: no node has more, or less. Looked over only after some changes: until then there
    // may be none that has as much, or as little.
    std::vector<double> most;
    std::vector<double> least;
    std::vector<uint8_t> changes;
  };

  void Clear(size_t nodes, size_t kinds);
  void Set(Column& column, uint32_t position, double amount);
  void LookOver(Column& column, size_t block) const;
  static uint64_t Compare(const double* amounts, double amount);
  // LessEqualAmount in one comparison.
  static bool IsEnough(double amount, double there_is) { return amount - there_is < kTolerance; }

  size_t nodes_ = 0;
  std::vector<Column> columns_;  // by kind
};

}  // namespace krafla
