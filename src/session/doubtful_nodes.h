// Which nodes the pods that are on nodes may speak against: the others need not be asked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "session/rows_of_bits.h"
#include "session/session.h"

namespace krafla {

class DoubtfulNodes {
 public:
  // Of some nodes, bits by position in nodes_by_name, those that the part of a predicate that is
  // not fixed may refuse. The task is prepared. Good until the next call.
  std::span<uint64_t> Find(const Session& session, TaskId task, RowOfBits nodes);

 private:
  std::vector<uint64_t> doubtful_;
  std::vector<uint64_t> of_hook_;
};

}  // namespace krafla
