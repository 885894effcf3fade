// Which nodes have refused whom, and what they said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/ids.h"
#include "session/refusal.h"
#include "session/rows_of_bits.h"

namespace krafla {

// Nodes that refused pods of one role of a job, by position in nodes_by_name (Volcano's predicate
// error cache).
class RefusalMemory {
 public:
  struct Nodes {
    std::vector<uint64_t> left;  // a bit for each that has not refused
    // Of the others, for each of the few things that are said, a bit for who said it.
    struct Said {
      Refusal refusal;
      std::vector<uint64_t> nodes;
    };
    std::vector<Said> said;

    bool Refused(uint32_t position) const {
      return (left[position / 64] >> position % 64 & 1) == 0;
    }
    void Add(uint32_t position, Refusal refusal) {
      Add(position / 64, uint64_t{1} << position % 64, refusal);
    }
    // Some of 64 nodes, none of which has refused before.
    void Add(size_t block, uint64_t nodes, Refusal refusal);
    // Some of all nodes, likewise.
    void Add(RowOfBits nodes, Refusal refusal);

   private:
    std::vector<uint64_t>& Saying(Refusal refusal);
  };
  // Null when nothing was refused yet.
  Nodes* Find(JobId job, uint16_t role);
  Nodes& FindOrMake(JobId job, uint16_t role, size_t nodes);

 private:
  std::unordered_map<uint64_t, Nodes> by_role_;
};

}  // namespace krafla
