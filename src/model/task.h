// A task: one pod, as the scheduler sees it.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/string_pool.h"
#include "base/timestamp.h"
#include "model/ids.h"
#include "model/pod_spec.h"

namespace krafla {

enum class TaskStatus : uint8_t {
  kPending,
  kAllocated,  // in-session: has a node, not yet told to anybody
  kPipelined,  // in-session: waits on a node for resources that are being released
  kBinding,    // told to bind
  kBound,      // has a node, not yet running
  kRunning,
  kReleasing,  // terminating, or evicted in this session
  kSucceeded,
  kFailed,
  kUnknown,
};
inline constexpr size_t kTaskStatusCount = 10;

std::string_view ToString(TaskStatus status);

// Holds resources of its node.
constexpr bool IsAllocatedStatus(TaskStatus s) {
  return s == TaskStatus::kAllocated || s == TaskStatus::kBinding || s == TaskStatus::kBound ||
         s == TaskStatus::kRunning;
}
constexpr bool IsPreemptableStatus(TaskStatus s) {
  return s == TaskStatus::kBound || s == TaskStatus::kRunning;
}
constexpr bool IsScheduledStatus(TaskStatus s) {
  return s == TaskStatus::kRunning || s == TaskStatus::kBound || s == TaskStatus::kFailed ||
         s == TaskStatus::kSucceeded;
}
constexpr bool IsTerminated(TaskStatus s) {
  return s == TaskStatus::kSucceeded || s == TaskStatus::kFailed;
}

// Which revocable zones a pod may use, as its annotation says.
struct ZoneAccess {
  bool annotated = false;   // the zone annotation is there
  bool all = false;         // "*"
  StrId names = kEmptyStr;  // when not "*": the zones it names, sorted, each once, with commas
  friend bool operator==(const ZoneAccess&, const ZoneAccess&) = default;
};

// Two lines of the cache: what cycles look at, and the rest. Plain bytes, so that a table of them
// is copied and grows as such.
struct alignas(64) Task {
  JobId job;    // invalid: belongs to no PodGroup that can be scheduled
  NodeId node;  // where it is, or is to be in this session
  ClassId cls;
  PodSpecId spec;
  int32_t priority = 1;      // of the task within its job (annotation, else spec.priority, else 1)
  int32_t pod_priority = 0;  // spec.priority, else 0
  int32_t name_index = -1;   // the number at the end of the name, -1 when there is none
  uint16_t role_index = 0;   // into Job::roles
  TaskStatus status = TaskStatus::kPending;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kLowerPriority;
  bool preemptable = true;  // may be a victim of preempt and reclaim
  bool says_preemptable =
      false;  // said so itself; a pod that says nothing is preemptable but not drained
  bool annotation_preemptable = false;  // said so by annotation; in Volcano that implies every zone
  bool best_effort = false;
  bool gated = false;            // must not be placed: has scheduling gates, or needs claims
  bool only_queue_gate = false;  // the only gate is Volcano's own
  bool pod_running = false;      // status.phase is Running (a terminating pod keeps it)
  bool terminating_by_preemption = false;
  bool eviction_occurred = false;  // it was pipelined behind an eviction
  bool unready = false;            // it runs, and its condition Ready is there and not True
  bool needs_claims = false;       // has no node, and needs ResourceClaims: not supported, so gated
  ZoneAccess zones;
  StrId priority_class = kEmptyStr;
  Timestamp scheduled_at;  // when PodScheduled became True, absent when it is not

  int64_t cooldown_ns = -1;  // -1: no valid cooldown
  int64_t run_time_ns = -1;  // how long it says it will run, -1: it does not say
  Timestamp created;
  Timestamp started;  // status.startTime, absent when not started
  StrId ns;
  StrId name;
  StrId uid;
  StrId role = kEmptyStr;       // volcano.sh/task-spec
  StrId node_name = kEmptyStr;  // spec.nodeName, also when that node is unknown
  StrId nominated_node = kEmptyStr;
  LabelSetId labels;
};
static_assert(sizeof(Task) == 128 && std::is_trivially_copyable_v<Task>);

}  // namespace krafla
