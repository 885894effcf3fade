// Nodes that have too little for a request, counted by the first kind they lack: a reason is looked
// up once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "session/amount_columns.h"
#include "session/rows_of_bits.h"

namespace krafla {

class Shortages {
 public:
  // Takes those off some nodes, a bit each, that have too little, and calls f(kind, nodes) with
  // those that lack a kind and none before it, if there are any.
  template <class F>
  void Take(const AmountColumns::Question& question, std::span<uint64_t> nodes, F&& f) {
    lacking_.resize(nodes.size());
    for (size_t at = 0; at < question.kinds(); ++at) {
      question.TakeLacking(at, nodes, lacking_);
      if (AnyBit(lacking_)) f(question.Kind(at), RowOfBits(lacking_));
    }
  }

 private:
  std::vector<uint64_t> lacking_;  // of one call, kept for its memory
};

}  // namespace krafla
