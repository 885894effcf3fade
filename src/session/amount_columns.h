// An amount per node and kind, in columns by position in nodes_by_name: whether a request fits is
// asked of 64 nodes at a time, one bit each.
//
// 1. For some amounts of each kind (amount_steps.h) a bit per node says whether it has as much.
// 2. A request lies between two of them: nodes that do not have the lower one are too small, those
//    that have the upper one are large enough, for 64 nodes two words of memory per kind.
// 3. Amounts are compared only for nodes between the two, in a kind that no other rules out.
//
// A question about all nodes costs a few instructions per 64 nodes, so it may be asked for each of
// many classes of tasks that come up only once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fetch.h"
#include "model/resource.h"
#include "session/amount_steps.h"
#include "session/rising_steps.h"

namespace krafla {

class AmountColumns {
 public:
  static constexpr uint32_t kBlock = 64;
  static constexpr size_t kBytesPerNode = sizeof(double) + 1 + AmountSteps::kMost / 8;  // and kind

  // `amounts_of` gives a node's amounts by its position: a Resource, or what has a Get like it.
  template <class AmountsOf>
  void Make(size_t nodes, const AmountSteps& steps, AmountsOf&& amounts_of) {
    Begin(nodes, steps);
    for (size_t block = 0; block < blocks(); ++block) {
      const auto end = static_cast<uint32_t>(std::min(nodes, (block + 1) * kBlock));
      for (auto p = static_cast<uint32_t>(block * kBlock); p < end; ++p) {
        const auto& amounts = amounts_of(p);
        for (size_t kind = 0; kind < columns_.size(); ++kind)
          columns_[kind].amounts[p] = amounts.Get(static_cast<int>(kind));
      }
      for (Column& column : columns_) SetRowsOfMany(column, block, NodesOf(block));
    }
  }
  // Nodes are without any amounts until they are set.
  void Begin(size_t nodes, const AmountSteps& steps);
  template <class Amounts>
  void Set(uint32_t position, const Amounts& amounts) {
    for (size_t kind = 0; kind < columns_.size(); ++kind)
      Set(position, kind, amounts.Get(static_cast<int>(kind)));
  }
  // Of one kind.
  void Set(uint32_t position, size_t kind, double amount) {
    Column& column = columns_[kind];
    if (amount == column.amounts[position]) return;
    column.amounts[position] = amount;
    if (!column.steps.empty()) SetRows(column, position);
  }

  // Of some of a block's nodes, a bit each; `amounts` by node and kind.
  void SetMany(size_t block, uint64_t nodes, std::span<const double> amounts);
  double At(uint32_t position, size_t kind) const { return columns_[kind].amounts[position]; }
  // A node's amounts will be set.
  KRAFLA_FETCHES void FetchAt(uint32_t position) const {
    for (const Column& column : columns_) {
      Fetch(&column.amounts[position]);
      if (!column.steps.empty()) Fetch(&column.reached[position]);
    }
  }

  size_t nodes() const { return nodes_; }
  size_t kinds() const { return columns_.size(); }
  size_t blocks() const { return (nodes_ + kBlock - 1) / kBlock; }
  // The nodes of a block, a bit each.
  uint64_t NodesOf(size_t block) const {
    const size_t left = nodes_ - block * kBlock;
    return left >= kBlock ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  }

  void AllNodes(std::span<uint64_t> row) const {
    std::fill(row.begin(), row.end(), ~uint64_t{0});
    if (!row.empty()) row.back() = NodesOf(row.size() - 1);
  }

  // One request, put to all nodes: those fit that have as much of everything, as
  // Resource::LessEqual compares, with missing kinds as zero. Amounts may change meanwhile; it is
  // asked of them as they are.
  class Question {
   public:
    // Those of a block that fit, or those of them that are in `among`.
    uint64_t Fits(size_t block, uint64_t among = ~uint64_t{0}) const {
      uint64_t maybe = among;
      uint64_t surely = among;
      for (const Part& part : parts()) {
        maybe &= part.maybe[block];
        surely &= part.surely[block];
      }
      return maybe == surely ? surely : surely | CompareAll(block, maybe & ~surely);
    }
    // All blocks at once.
    void FitsAll(std::span<uint64_t> blocks) const;
    // In which kinds somebody may lack something: cpu and memory first.
    size_t kinds() const { return parts_.size(); }
    int Kind(size_t at) const { return parts_[at].kind; }
    // Moves those of some nodes that lack one of these kinds to `lacking`; a bit each, by block.
    void TakeLacking(size_t at, std::span<uint64_t> nodes, std::span<uint64_t> lacking) const;

   private:
    friend class AmountColumns;
    struct Part {
      const uint64_t* maybe;   // by block: others do not have enough
      const uint64_t* surely;  // by block: these have enough
      const double* amounts;
      double wanted;
      int kind;
    };
    const std::vector<Part>& parts() const { return parts_; }
    static uint64_t FitsPart(const Part& part, size_t block, uint64_t nodes);
    uint64_t CompareAll(size_t block, uint64_t nodes) const;

    std::vector<Part> parts_;  // cpu and memory are always named
    size_t blocks_ = 0;
  };
  // `slack` too little in each kind is enough.
  Question Ask(const Resource& request, double slack = 0) const;
  // The same of one node.
  bool FitsAt(const Resource& request, uint32_t position, double slack = 0) const;

 private:
  struct Column {
    std::vector<double> amounts;  // by position, filled up to whole blocks with what nothing fits
    RisingSteps steps;
    std::vector<uint8_t> reached;  // by position: how many steps
    // A bit per node and row, a row for each step: whether the node has as much. The row before is
    // all nodes, the last one none.
    std::vector<uint64_t> rows;
  };

  void SetRows(Column& column, uint32_t position) const;
  void SetRowsOfMany(Column& column, size_t block, uint64_t nodes) const;
  static size_t StepsReached(const Column& column, double amount);
  static uint64_t Compare(const double* amounts, double amount);
  // LessEqualAmount in one comparison.
  static bool IsEnough(double amount, double there_is) { return amount - there_is < kTolerance; }

  size_t nodes_ = 0;
  std::vector<Column> columns_;  // by kind
};

}  // namespace krafla
