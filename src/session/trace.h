// The decision trace: who said what, in codes of sixteen bytes. On unless nobody will read it,
// bounded; words are made of it only when somebody asks (explain, events, the text of a plan).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/piece_list.h"
#include "model/ids.h"

namespace krafla {

enum class TraceKind : uint8_t {
  kAction,      // a: index of the configured action
  kJobSkipped,  // a: job, code: SkipCode; for some codes b: task, c: reason
  kTryTask,     // a: task that looks for room, b: node
  kVotes,       // plugin answered: a: candidates, b: victims left; code: tier
  kVeto,        // plugin spares a: task; code: VetoCode
  kShort,       // a: task, b: node: no place there; code: ShortCode, c: candidates
  kEvict,       // a: victim, b: for task
  kPipeline,    // a: task, b: node
  kAllocate,    // a: task, b: node
  kCommit,      // a: job
  kDiscard,     // a: job
};

enum class SkipCode : uint16_t {
  kPendingPhase,
  kInvalid,
  kNotStarving,
  kNetworkTopology,
  kNoTasks,
  kQueueOverused,
  kNotAllocatable,
  kNeverPreempts,
  kNoNode,
  kNotPipelined,
  kEvictionLimit,
  kSurplusWaits,  // pods beyond its minimum, for those of a burst
  kNominated,  // c: NominationCode
};

// Why a pod that is nominated to a node may not preempt.
enum class NominationCode : uint32_t {
  kNodeIsGone,
  kNodePasses,      // the predicates of that node pass
  kVictimIsEnding,  // a pod there is still terminating because of the preemption
};

// What was missing on a node that somebody was to be evicted from.
enum class ShortCode : uint16_t {
  kCandidates,  // room, even if all candidates went
  kVictims,     // room, with those that the plugins let go
  kQueueShare,  // the queue's share, with all of them gone
  kPredicate,   // a predicate refuses still
};

enum class VetoCode : uint16_t {
  kLowerPriorityOnly,  // the victim's priority is not lower
  kGangAtMinimum,
  kShareTooSmall,  // drf
  kQueueDeserves,  // proportion: its queue has not more than it deserves
  kCritical,       // conformance
  kCooldown,
  kBudget,  // tdm's or a PodDisruptionBudget
  kOnRevocableNode,
  kNotPreemptable,
  kEvictedTooOften,  // cdp: its job, within the eviction period
  kClockSkew,        // tdm, cdp: the clock is not trusted (CycleMemory::clock_skew_s)
};

struct TraceEvent {
  TraceKind kind;
  uint8_t plugin = 0;
  uint16_t code = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};
static_assert(sizeof(TraceEvent) == 16);

class Trace {
 public:
  static constexpr size_t kLimit = 1 << 18;  // 4 MiB
  using Events = PieceList<TraceEvent, 1 << 12>;

  // For a cycle that is run only to be explained.
  void SetLimit(size_t limit) { limit_ = limit; }
  void Add(TraceEvent event) {
    if (events_.size() < limit_) {
      events_.push_back(event);
    } else {
      ++dropped_;
    }
  }
  void Clear() {
    events_.clear();
    dropped_ = 0;
  }
  const Events& events() const { return events_; }
  uint64_t dropped() const { return dropped_; }

 private:
  Events events_;
  size_t limit_ = kLimit;
  uint64_t dropped_ = 0;
};

}  // namespace krafla
