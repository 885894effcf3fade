// Looks for room for one pod by evicting others, as preempt and reclaim do, on every node, and
// keeps what each question answered. Nothing is decided: what is tried is taken back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/candidates.h"
#include "explain/cycle_probe.h"
#include "session/session.h"

namespace krafla {

// How far a node came; the order is that of the questions.
enum class RoomStage : uint8_t {
  kRefused,       // a predicate says no, and evictions would not change that
  kNoCandidates,  // nobody there may be evicted for the pod
  kTooSmall,      // not enough room even if all candidates went
  kSpared,        // not with those that the plugins let go
  kQueueShare,    // the pod's queue has no share left for it, with all of them gone
  kStillRefused,  // a predicate still says no, with all of them gone
  kFits,
};

// Why a pod stays, on the node where it is.
struct SparedPod {
  TaskId pod;
  std::string plugin;
  std::string why;  // "gang: research/batch has 3 ready, minimum 3"
};

struct NodeRoom {
  NodeId node;
  RoomStage stage = RoomStage::kRefused;
  std::string refusal;         // kRefused, kStillRefused
  bool evicting_helps = true;  // whether a refusal is of the kind that evictions may lift
  bool has_room = false;       // the pod would fit into what is idle, were it not refused
  CandidateCensus census;
  std::vector<TaskId> victims;  // whom the plugins let go
  std::vector<SparedPod> spared;
  int short_of = -1;  // the kind there is too little of, -1: none
  double missing = 0;
  double missing_ratio = 0;  // of the request
};

struct PluginTally {
  std::string plugin;
  size_t tier = 0;
  bool guard = false;
  uint32_t asked = 0;
  uint32_t let_go = 0;
};

struct RoomLook {
  EvictingAction action = EvictingAction::kPreempt;
  TaskId task;
  std::string not_eligible;          // why the pod may not evict anybody; empty: it may
  bool no_share = false;             // reclaim: its queue has no right to more
  std::string refused_everywhere;    // refused before any node is looked at
  std::vector<NodeRoom> nodes;       // by name
  std::vector<PluginTally> tallies;  // in the order of the configuration
  Resource queue_allocated;
  Resource queue_deserved;
  bool queue_known = false;

  // The furthest any node came.
  RoomStage Furthest() const;
  // Of the nodes that came so far the one that misses least, the first by name of equals; null: no
  // node came so far.
  const NodeRoom* NearestAt(RoomStage stage) const;
  size_t CountAt(RoomStage stage) const;
};

// To be called at the moment the pod's turn comes. `probe` listens to the session.
RoomLook SearchRoom(Session& session, CycleProbe& probe, EvictingAction action, TaskId task);

}  // namespace krafla
