// What a cycle decided, in the order in which it was decided.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/piece_list.h"
#include "model/ids.h"

namespace krafla {

// By which rule somebody was evicted. What is told of it depends on who decided, too:
// session/eviction_reason.h.
enum class EvictionReason : uint8_t {
  kPreempt,     // preempt: for another job of the same queue
  kWithinJob,   // preempt: for a more important task of the same job
  kReclaim,     // reclaim: its queue had more than it deserves
  kZoneClosed,  // its node's revocable zone is closed
  kBudget,      // shuffle, Volcano's way: a PodDisruptionBudget would allow it
};

struct Bind {
  TaskId task;
  NodeId node;
  std::string_view action;
};

struct Eviction {
  TaskId task;
  NodeId node;
  std::string_view action;  // the configured action that ran
  TaskId for_task;          // invalid: for nobody (zone closing)
  EvictionReason reason = EvictionReason::kPreempt;
  uint64_t permitted_by =
      0;  // bit i: plugin i of Session::plugin_names() agreed in the tier that decided
};

struct Plan {
  using Binds = PieceList<Bind, 1 << 11>;
  using Evictions = PieceList<Eviction, 1 << 10>;
  Binds binds;
  Evictions evictions;
};

}  // namespace krafla
