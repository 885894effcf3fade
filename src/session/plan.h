// What a cycle decided, in the order in which it was decided.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/ids.h"

namespace krafla {

// Why somebody was evicted; docs/output.md explains each word.
enum class EvictionReason : uint8_t {
  kPriority,    // preempt: for a job of higher priority in the same queue
  kFairShare,   // preempt: allowed by shares, not by priority
  kWithinJob,   // preempt: for a more important task of the same job
  kReclaim,     // reclaim: its queue had more than it deserves
  kZoneClosed,  // its node's revocable zone is closed
  kBudget,      // shuffle, Volcano's way: a PodDisruptionBudget would allow it
};
std::string_view ToString(EvictionReason reason);

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
  EvictionReason reason = EvictionReason::kPriority;
  uint64_t permitted_by =
      0;  // bit i: plugin i of Session::plugin_names() agreed in the tier that decided
};

struct Plan {
  std::vector<Bind> binds;
  std::vector<Eviction> evictions;
};

}  // namespace krafla
