// Nodes that have too little for a request, counted by the first kind they lack: a reason is looked
// up once for all of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/resource.h"
#include "session/amount_columns.h"

namespace krafla {

class Shortages {
 public:
  explicit Shortages(AmountColumns::Question question) : question_(std::move(question)) {}

  // Of some of a block's nodes, a bit each; blocks come in their order. Gives back those that have
  // enough.
  uint64_t Count(size_t block, uint64_t nodes) {
    return question_.FitsOrLacks(block, nodes, [&](int kind, uint64_t lack) {
      ByKind& of = by_kind_[static_cast<size_t>(kind)];
      if (of.nodes == 0)
        of.first = static_cast<uint32_t>(block * AmountColumns::kBlock) +
                   static_cast<uint32_t>(std::countr_zero(lack));
      of.nodes += std::popcount(lack);
    });
  }
  // Calls f(kind, the first node's position, how many) for each kind that some lack.
  template <class F>
  void ForEach(F&& f) const {
    for (size_t kind = 0; kind < by_kind_.size(); ++kind)
      if (const ByKind& of = by_kind_[kind]; of.nodes != 0)
        f(static_cast<int>(kind), of.first, of.nodes);
  }

 private:
  struct ByKind {
    uint32_t first = 0;
    int nodes = 0;
  };
  AmountColumns::Question question_;
  std::array<ByKind, ResourceKinds::kMax> by_kind_;
};

}  // namespace krafla
