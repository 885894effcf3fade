// The cluster in tables: what exists, and how much of everything is used by whom. Built by
// ClusterBuilder, changed only by a session's statements (through the undo log) and, between
// sessions, by new facts.
//
// Ids say nothing about order. Wherever an order decides something, one of the lists here gives it:
// jobs by namespace/name, a job's tasks by UID, a node's tasks by namespace/name, nodes and queues
// by name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "base/timestamp.h"
#include "model/ids.h"
#include "model/pod_spec.h"
#include "model/resource.h"
#include "model/task.h"
#include "model/volumes.h"

namespace krafla {

// Tasks that no predicate and no scorer can tell apart.
struct TaskClass {
  PodSpecId spec;
  LabelSetId labels;  // only the labels some selector of the cluster looks at
  StrId ns;
  Resource request;  // the spec's, plus its CSI volumes
  bool best_effort = false;
};

enum class JobPhase : uint8_t { kPending, kInqueue, kRunning, kUnknown, kCompleted };
std::string_view ToString(JobPhase phase);

struct JobCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  bool from_this_session = false;
};

// The tasks of one role within a job.
struct JobRole {
  StrId name;
  int32_t min_member = 0;  // minTaskMember; 0 when the role is not named there
  bool in_min_task_member = false;
  std::array<int32_t, kTaskStatusCount> count{};
  int32_t pending_best_effort = 0;
};

struct DisruptionBudget {
  // As written; empty when absent. Which of the two counts when both are there is D3.
  std::string min_available;
  std::string max_unavailable;
};

// The first line of the cache, up to `count`, is what is looked at of every candidate's job.
struct alignas(64) Job {
  QueueId queue;
  int32_t priority = 0;
  int32_t min_available = 0;
  int32_t pending_best_effort = 0;
  JobPhase phase = JobPhase::kPending;
  bool preemptable = false;             // the PodGroup says volcano.sh/preemptable: true
  bool annotation_preemptable = false;  // … by annotation
  bool has_network_topology = false;
  bool needs_network_topology = false;  // a hard one, its own or a sub-group's: not supported
  bool has_sub_group_policy = false;
  std::array<int32_t, kTaskStatusCount> count{};
  // Up to `allocated` is what every cycle looks at, of every job.
  int32_t min_role_total = 0;     // sum of minTaskMember
  int32_t releasing_on_node = 0;  // terminating tasks that were scheduled
  // Grows with every change of a task's status in a session, also with one that is taken back: as
  // long as it stays the same, so does everything that is counted and added up here.
  uint32_t changes = 0;
  std::vector<TaskId> tasks;  // by UID
  std::vector<JobRole> roles;
  alignas(64) Resource allocated;  // of tasks in an allocated status

  Timestamp created;
  StrId ns;
  StrId name;
  StrId uid = kEmptyStr;
  StrId priority_class = kEmptyStr;
  std::vector<JobCondition> conditions;
  std::optional<Resource> min_resources;
  Resource total_request;
  ZoneAccess zones;
  DisruptionBudget budget;
  int64_t waiting_time_ns = -1;  // sla-waiting-time, -1 when not given
  int64_t cooldown_ns = -1;      // of its pods that have none of their own, -1 when not given

  int32_t Count(TaskStatus s) const { return count[static_cast<size_t>(s)]; }
  int32_t Ready() const {
    return Count(TaskStatus::kBound) + Count(TaskStatus::kBinding) + Count(TaskStatus::kRunning) +
           Count(TaskStatus::kAllocated) + Count(TaskStatus::kSucceeded);
  }
  int32_t Waiting() const { return Count(TaskStatus::kPipelined); }
  int32_t AllocatedCount() const {
    return Count(TaskStatus::kBound) + Count(TaskStatus::kBinding) + Count(TaskStatus::kRunning) +
           Count(TaskStatus::kAllocated);
  }
  int32_t ScheduledCount() const {
    return Count(TaskStatus::kRunning) + Count(TaskStatus::kBound) + Count(TaskStatus::kFailed) +
           Count(TaskStatus::kSucceeded);
  }
  int32_t Valid() const {
    return AllocatedCount() + Count(TaskStatus::kSucceeded) + Count(TaskStatus::kPipelined) +
           Count(TaskStatus::kPending);
  }
  bool IsReady() const { return Ready() + pending_best_effort >= min_available; }
  bool IsPipelined() const { return Waiting() + Ready() + pending_best_effort >= min_available; }
  bool IsStarving() const { return Waiting() + Ready() < min_available; }
  bool IsPending() const { return phase == JobPhase::kPending; }
};

enum class QueueState : uint8_t { kOpen, kClosed, kClosing, kUnknown };
std::string_view ToString(QueueState state);

struct Queue {
  StrId name;
  StrId parent = kEmptyStr;
  std::string hierarchy;          // annotation volcano.sh/hierarchy
  std::string hierarchy_weights;  // annotation volcano.sh/hierarchy-weights
  int32_t weight = 1;
  int32_t priority = 0;
  bool reclaimable = true;
  QueueState state = QueueState::kOpen;
  std::optional<Resource> capability;
  std::optional<Resource> guarantee;
  std::optional<Resource> deserved;
  int64_t cooldown_ns = -1;  // of its jobs that have none of their own, -1 when not given
  Timestamp created;
};

struct NodeImage {
  StrId name;
  int64_t size_bytes = 0;
  int32_t nodes_with_it = 0;
};

struct Node {
  StrId name;
  StrId zone = kEmptyStr;  // volcano.sh/revocable-zone
  LabelSet labels;
  std::vector<Taint> taints;
  bool unschedulable = false;
  int64_t max_pods = 0;
  std::vector<NodeImage> images;  // by name id
  // Kubernetes' view of allocatable, for scores (cpu, memory; other kinds as in `allocatable`).
  double scored_cpu = 0;
  double scored_memory = 0;
  std::vector<TaskId> tasks;  // by namespace/name
};

struct PodDisruptionBudget {
  StrId ns;
  StrId name;
  LabelSelector selector;
  int32_t disruptions_allowed = 0;
  int32_t current_healthy = -1;       // when that was said; -1: not said
  std::vector<StrId> disrupted_pods;  // names
};

struct Namespace {
  StrId name;
  LabelSet labels;
};

struct Cluster {
  StringPool strings;
  ResourceKinds kinds;

  Table<LabelSetId, LabelSet> label_sets;
  Table<PodSpecId, PodSpec> specs;
  Table<ClassId, TaskClass> classes;
  Table<TaskId, Task> tasks;
  uint32_t tasks_by_name = 0;  // the first so many are numbered as names sort; fewer once some go
  Table<JobId, Job> jobs;
  Table<QueueId, Queue> queues;
  Table<NodeId, Node> nodes;

  // Amounts per node, apart from Node so that a scan over all nodes touches only what it reads.
  Table<NodeId, Resource> allocatable;
  Table<NodeId, Resource> idle;
  Table<NodeId, Resource> used;
  Table<NodeId, Resource> releasing;
  Table<NodeId, Resource> pipelined;
  Resource total;  // of allocatable

  std::vector<JobId> jobs_by_name;
  std::vector<NodeId> nodes_by_name;
  std::vector<QueueId> queues_by_name;

  Volumes volumes;
  std::vector<PodDisruptionBudget> budgets;  // by namespace/name
  std::vector<Namespace> namespaces;

  std::string_view Text(StrId id) const { return strings.Text(id); }
  std::string TaskKey(TaskId id) const;  // "namespace/name"
  std::string JobKey(JobId id) const;
  std::string_view NodeName(NodeId id) const { return Text(nodes[id].name); }
  std::string_view QueueName(QueueId id) const { return Text(queues[id].name); }
  const Resource& Request(TaskId id) const { return classes[tasks[id].cls].request; }
  const TaskClass& ClassOf(TaskId id) const { return classes[tasks[id].cls]; }
  const PodSpec& SpecOf(TaskId id) const { return specs[tasks[id].spec]; }
  Resource FutureIdle(NodeId id) const {
    Resource future = idle[id];
    future.Add(releasing[id]);
    future.Sub(pipelined[id]);
    return future;
  }
  QueueId FindQueue(std::string_view name) const;
  NodeId FindNode(StrId name) const;
  // By namespace and name, as bytes.
  bool TaskNameLess(TaskId a, TaskId b) const;
  bool JobNameLess(JobId a, JobId b) const;
};

}  // namespace krafla
