// What is asked of all nodes at once when bounds narrow a search down (VictimBounds::NarrowAll),
// for one tier: rows of bits that follow from many others, each made in a single pass.
//
// Rows have a bit per node and the same number of words.
#pragma once

#include <cstdint>
#include <span>

#include "session/rows_of_bits.h"

namespace krafla {

struct BoundRows {
  RowOfBits known;    // whether there is room; as `fitting` says
  RowOfBits fitting;  // there is
  RowOfBits stale;    // sums have to be made anew
  // Of a voter who knows levels exactly; empty where there is none.
  RowOfBits levels_known;
  RowOfBits may_have;   // the others have less than is needed
  RowOfBits have_more;  // surely
  RowOfBits fits_idle;  // nobody has to go
};

// Of some nodes, those of which something has to be found out; and of these, those whose candidates
// will be looked at. Levels matter where there is room.
void FindUnknown(const BoundRows& tier, RowOfBits nodes, std::span<uint64_t> unknown,
                 std::span<uint64_t> to_look_up);

// Of some nodes, those that have room and on which somebody may be named, or nobody has to be; and
// of these, those of which only the number tells whether somebody is.
void FindNamed(const BoundRows& tier, RowOfBits nodes, std::span<uint64_t> named,
               std::span<uint64_t> to_compare);

}  // namespace krafla
