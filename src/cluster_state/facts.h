// Single objects as they were read, before they are put together: names are interned, but
// references to other objects are still names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "model/cluster.h"
#include "model/group_memory.h"

namespace krafla {

// Where an object comes from. One that somebody wrote stands before one that was made from a
// Volcano Job.
enum class Origin : uint8_t { kWritten, kExpanded };

// A pod that names no PodGroup is a group of its own for a live scheduler, of this name. No object
// of Kubernetes can have such a name.
inline constexpr std::string_view kGroupOfOnePrefix = "pod:";

// What is known of a pod beside its task.
struct PodDetails {
  StrId group = kEmptyStr;         // name of its PodGroup, empty when it names none
  StrId queue = kEmptyStr;         // of a pod without PodGroup: the queue it names, empty: none
  bool ours = false;               // its schedulerName is one of ours
  bool admitted = true;            // has passed an API server: its priority is what it says
  bool has_priority = false;       // spec.priority is there
  bool has_policy = false;         // spec.preemptionPolicy is there
  bool has_task_priority = false;  // the annotation that sets Task::priority is there
};

struct PodFacts : PodDetails {
  Task task;  // job, node, cls and role_index are not yet known
};

struct PodGroupFacts {
  Job job;                  // queue, priority, tasks and all counts are not yet known
  StrId queue = kEmptyStr;  // empty: the default queue
  std::vector<std::pair<StrId, int32_t>> min_task_member;
  GroupMemory memory;  // of earlier evictions, as its annotations tell
};

struct QueueFacts {
  Queue queue;
  // For messages about how queues hang together.
  std::string file;
  Location location;
};

struct PriorityClassFacts {
  StrId name;
  int32_t value = 0;
  bool global_default = false;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kLowerPriority;
};

struct NodeFacts {
  Node node;  // images as on this node; tasks and counts are not yet known
  Resource allocatable;
};

}  // namespace krafla
