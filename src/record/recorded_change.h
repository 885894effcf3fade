// What the scheduler was told and what it decided, one step after the other, as plain values:
// enough to bring another cluster of the same kind to the same state, and to run the same cycles on
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/timestamp.h"
#include "cluster_state/facts.h"
#include "cluster_state/group_wait.h"
#include "model/cluster.h"
#include "session/cycle_memory.h"

namespace krafla {

// How an object counts although it does not say so: what was decided and is not yet seen.
struct AssumedMark {
  enum class What : uint8_t {
    kNone,
    kBinding,      // a pod, to a node
    kReleasing,    // a pod
    kReserved,     // a volume, to a claim
    kSelected,     // a claim, to the node its volume is to be made on
    kAwaitsGroup,  // a pod, for its PodGroup; `to` is the word of why (WordOf)
    kUnchanged,    // of RecordedChange::What::kMark: only the phase is new
  };
  What what = What::kNone;
  std::string to;  // the node; of kReserved the claim, "namespace/name/uid"

  bool operator==(const AssumedMark&) const = default;
};

struct RecordedBind {
  std::string pod;  // "namespace/name"
  std::string node;
  std::string action;
};

struct RecordedEviction {
  std::string pod;
  std::string uid;
  std::string node;
  std::string action;
  std::string for_pod;     // empty: for nobody
  std::string job;         // the victim's; empty: it has none
  std::string queue;       // the victim's
  bool for_other = false;  // for a pod of another job
  std::string reason;
  std::string allowed_by;  // "priority, gang"
  std::string message;     // "evicted by preempt for …"
};

struct RecordedPhase {
  std::string group;
  JobPhase before = JobPhase::kPending;
  JobPhase after = JobPhase::kPending;
};

// One cycle: its instant, what it decided in the order of deciding, and how long it took.
struct RecordedCycle {
  uint64_t number = 0;
  Timestamp at;
  std::vector<RecordedPhase> phases;
  std::vector<RecordedBind> binds;
  std::vector<RecordedEviction> evictions;

  double wall_ms = 0;
  std::vector<std::pair<std::string, double>> steps_ms;
  int64_t waiting_pods = 0;
};

// One line for each decision: what a replay has to reproduce byte for byte.
std::vector<std::string> DecisionLines(const RecordedCycle& cycle);

struct RecordedChange {
  enum class What : uint8_t {
    kPut,     // an object is there, and like this
    kGone,    // it is not
    kMark,    // as kPut, but only the mark or the phase is new
    kMemory,  // the memory was changed by somebody else than a cycle
    kConfig,  // another configuration is in force
    kCycle,
  };
  What what = What::kPut;
  std::string_view kind;  // "Pod"; of kPut, kGone and kMark, lives as long as the program
  std::string key;        // "namespace/name" or "name"
  std::string object;     // JSON; of kConfig the text
  bool reduced = false;   // the object is cut down already (manifest/reduced_object.h)
  AssumedMark mark;
  // Of a PodGroup: its phase in force, when the object does not say so. Of a pod that is a group of
  // its own: that group's phase.
  std::optional<JobPhase> phase;
  // Of kMemory; of kCycle the memory after it, null when it is as before.
  std::shared_ptr<const CycleMemory> memory;
  std::unique_ptr<RecordedCycle> cycle;
};

// The kinds of objects there are in a record, by their names; nothing for others. The text it
// returns lives as long as the program.
std::optional<std::string_view> RecordedKind(std::string_view name);

// "namespace/name" of the pod whose group "namespace/pod:name" is; nothing for other groups.
std::optional<std::string> PodOfGroupOfOne(std::string_view group_key);

}  // namespace krafla
