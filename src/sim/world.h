// The simulated cluster as it really is: nodes, jobs and pods, and where each stands in its life.
// The scheduler knows only what it is told (LiveCluster); everybody who changes something here has
// it told at once, or, while the scheduler's session is open, as soon as that has ended.
//
// What happens next is not decided here: see kubelet.h, job_controller.h, fault_injector.h.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/strong_id.h"
#include "cluster_state/live_cluster.h"
#include "cluster_state/priority_index.h"
#include "config/compatibility.h"
#include "model/revocable_access.h"
#include "sim/draws.h"
#include "sim/sim_event.h"
#include "sim/templates.h"

namespace krafla {

using SimNodeId = StrongId<struct SimNodeTag>;
using SimJobId = StrongId<struct SimJobTag>;
using SimPodId = StrongId<struct SimPodTag>;

struct SimNode {
  NodeFacts facts;
  bool present = false;
  int32_t cordons = 0;  // faults that hold it cordoned now
  std::vector<SimPodId> pods;
};

enum class PodState : uint8_t {
  kAbsent,  // there is no such object; its job's controller may make one
  kPending,
  kBound,
  kRunning,
  kTerminating,
  kSucceeded,
  kFailed,
};
inline constexpr size_t kPodStateCount = 7;

struct SimPod {
  SimJobId job;
  uint32_t role = 0;  // of the job's template
  StrId name;
  StrId uid;
  LabelSetId labels;
  int32_t index = 0;  // among the pods of its role
  int32_t priority = 0;
  PodState state = PodState::kAbsent;
  bool offers_itself = false;  // leaves a zone that closes
  SimNodeId node;
  uint32_t life = 0;     // how many of its name came before it
  uint32_t token = 0;    // grows with each change of state: timers of another one are void
  uint32_t tries = 0;    // to bind or evict it that have failed
  int32_t refusals = 0;  // those since one was granted
  uint32_t hold = 0;     // not 0: nothing is told of it, see Hold
  Timestamp created;
  Timestamp scheduled;
  Timestamp started;
  int64_t work_left_ns = kForeverNs;  // when it started, or will start
  // The node it was last said to wait for, and when.
  StrId pipelined_to;
  Timestamp pipelined_at;
};

struct SimJob {
  const JobTemplate* made_of = nullptr;  // null: the slot is free
  RunTime run_time;
  bool keeps_work = false;
  StrId ns;
  StrId name;
  StrId uid;
  StrId queue;
  int32_t priority = 0;
  Timestamp created;
  std::vector<SimPodId> pods;
  int32_t succeeded = 0;
  // What was last told about why it waits, and when somebody last looked.
  uint64_t waiting_for = 0;
  Timestamp waiting_seen;
};

class World {
 public:
  World(LiveCluster& live, Templates& templates, const Compatibility& compatibility);

  LiveCluster& live() { return live_; }
  std::string_view Text(StrId id) const { return live_.strings().Text(id); }

  // ---- nodes
  SimNodeId AddNode(NodeFacts facts);  // present, and told
  void SetPresent(SimNodeId node, bool present);
  void SetCordons(SimNodeId node, int32_t cordons);
  SimNodeId FindNode(StrId name) const;
  const Table<SimNodeId, SimNode>& nodes() const { return nodes_; }
  StrId ZoneOf(SimNodeId node) const;

  // ---- classes
  void SetPriorityClasses(std::vector<PriorityClassFacts> classes);
  const PriorityIndex& priorities() const { return priorities_; }

  // ---- jobs
  // The PodGroup is told; the pods are there but absent.
  SimJobId AddJob(const JobTemplate& made_of, StrId name, const RunTime& run_time, bool keeps_work,
                  Timestamp now);
  // The PodGroup and all pods go, and are told to be gone.
  void RemoveJob(SimJobId job);
  SimJobId FindJob(StrId ns, StrId name) const;
  SimJob& job(SimJobId id) { return jobs_[id]; }
  const SimJob& job(SimJobId id) const { return jobs_[id]; }

  // ---- pods
  SimPodId FindPod(StrId ns, StrId name) const;
  SimPod& pod(SimPodId id) { return pods_[id]; }
  const SimPod& pod(SimPodId id) const { return pods_[id]; }
  size_t pod_slots() const { return pods_.size(); }
  const PodTemplate& TemplateOf(const SimPod& pod) const {
    return jobs_[pod.job].made_of->roles[pod.role];
  }
  std::string PodKey(SimPodId id) const;
  std::string JobKey(SimJobId id) const;
  const Resource& RequestOf(const SimPod& pod) const;

  // The change is told; `node` counts for kBound alone and stays until the pod has no place.
  void SetState(SimPodId id, PodState state, SimNodeId node = {});
  // Has the scheduler told how the pod really stands.
  void Tell(SimPodId id);
  // What the scheduler assumes of a pod whose bind or eviction was refused stays its view until
  // EndHold, or until the pod ends in whatever way. The number tells this hold from later ones.
  uint32_t Hold(SimPodId id);
  void EndHold(SimPodId id, uint32_t hold);
  // While the scheduler's session is open nothing is told; afterwards all of it, in order.
  void HoldTells() { tells_held_ = true; }
  void ReleaseTells();

  int64_t Count(PodState state) const { return counts_[static_cast<size_t>(state)]; }
  // Pods with a place in the zone that leave when it closes.
  int64_t GuestsOf(StrId zone) const;
  // What pods of a queue have that are bound or run.
  const Resource& AllocatedTo(StrId queue) const;
  // Queues in which a pod got or lost its place since the last call, each once.
  std::vector<StrId> TakeTouchedQueues();

  AmountMap Amounts(const Resource& resource) const;

  // Kinds of resources may have got other numbers when the tables were last built.
  void FollowKinds();

 private:
  PodFacts FactsOf(const SimPod& pod) const;
  LabelSetId LabelsOf(const PodTemplate& made_of, StrId job, int32_t index);
  SimPodId AddPod(SimJobId job, uint32_t role, int32_t index);
  void TakePlace(SimPodId id, SimNodeId node);
  void LeavePlace(SimPodId id);
  int32_t PriorityOf(PodFacts facts) const;
  void Account(const SimPod& pod, int sign);
  void TellNow(SimPodId id);
  void TellNode(SimNodeId id);

  LiveCluster& live_;
  Templates& templates_;
  const AccessRules access_;
  const StrId job_name_label_;
  const StrId task_index_label_;
  const StrId default_queue_;
  std::vector<std::string> kinds_;  // as numbered in the amounts that are kept

  Table<SimNodeId, SimNode> nodes_;
  std::unordered_map<StrId, SimNodeId> node_ids_;
  std::vector<PriorityClassFacts> priority_classes_;
  PriorityIndex priorities_;
  Table<SimJobId, SimJob> jobs_;
  Table<SimPodId, SimPod> pods_;
  std::vector<SimJobId> free_jobs_;
  std::vector<SimPodId> free_pods_;
  std::unordered_map<uint64_t, SimJobId> job_ids_;  // by namespace and name
  std::unordered_map<uint64_t, SimPodId> pod_ids_;
  uint64_t uids_given_ = 0;
  uint32_t holds_given_ = 0;

  int64_t counts_[kPodStateCount] = {};
  std::unordered_map<StrId, int64_t> guests_;  // by zone
  std::unordered_map<StrId, Resource> allocated_;
  std::vector<StrId> touched_queues_;

  bool tells_held_ = false;
  std::vector<SimPodId> held_tells_;
};

// An instant as the API server writes it: whole seconds.
inline Timestamp ApiTime(Timestamp now) {
  return Timestamp::FromUnixSeconds(now.UnixSeconds());
}

// As far as instants go: a wait of centuries ends at the last of them, not in the past.
inline Timestamp After(Timestamp at, int64_t ns) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(at.ns, ns, &sum)) return Timestamp{sum};
  return Timestamp{ns > 0 ? std::numeric_limits<int64_t>::max()
                          : std::numeric_limits<int64_t>::min() + 1};
}

}  // namespace krafla
