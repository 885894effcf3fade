// What happens in a simulation, one value per happening. The event log, the summary, the report,
// the comparison and the expectations are all made of these and of nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/timestamp.h"

namespace krafla {

enum class SimEventKind : uint8_t {
  kRunBegins,  // text: the scenario's name; count: the seed
  kRunEnds,
  kNodeAdded,     // node, zone, amounts: allocatable; also when a lost node comes back
  kNodeLost,      // node, zone
  kNodeCordoned,  // node; count: 1 cordoned, 0 no longer
  kZoneOpened,    // zone
  kZoneClosed,    // zone
  kDrainHeld,     // zone: a closed zone still has pods that should go; count: how many; text: why
  kZoneDrained,   // zone: nobody who should go is left after its closing; count: seconds it took
  kJobSubmitted,  // job, queue, priority; count: pods; minimum: minAvailable; budget_floor
  kJobPhase,      // job, text: Pending, Inqueue, Running, Unknown, Completed
  kJobWaiting,    // job, text: why, as a user would read it; logged when the words
                  // of the reason change, at most once a minute
  kJobCompleted,  // job
  kPodCreated,    // pod, job, queue, priority, amounts: requests; count: 1 when it replaces one
  kPodBound,      // pod, job, queue, node, zone, action
  kPodPipelined,  // pod, job, node: waits there for room; logged when the node
                  // changes, at most once a minute
  kPodStarted,    // pod, job, queue, node, zone
  kPodSucceeded,  // pod, job, queue, node, zone
  kPodFailed,     // pod, job, queue, node, zone, text: why (crash, node lost)
  kPodEvicted,    // pod, job, queue, node, zone, action, reason, for_pod, for_job, permitted_by,
                  // priority, count: seconds of work that are lost, text: the explanation
  kPodGone,       // pod, job, queue, node, zone: it no longer holds its place
  kBindFailed,    // pod, job, node, text: why
  kEvictFailed,   // pod, job, node, text: why
  kQueueShare,    // queue, amounts: allocated, deserved; share: allocated of the whole cluster in
                  // the kind where that is most; logged when it changes, at most once a minute
  kEvictionLoop,  // text: jobs that evict each other in turn, with how often
  kFault,         // text: what is done to the cluster
};
inline constexpr size_t kSimEventKindCount = 26;
std::string_view ToString(SimEventKind kind);  // "pod-bound"

// Amounts by kind of resource, as numbers in Kubernetes' base units (cores, bytes, pieces).
using AmountMap = std::map<std::string, double>;

struct SimEvent {
  SimEventKind kind = SimEventKind::kRunBegins;
  Timestamp at;
  std::string pod;  // namespace/name
  std::string job;  // namespace/name
  std::string queue;
  std::string node;
  std::string zone;
  std::string action;
  std::string reason;   // ToString(ToldReason)
  std::string for_pod;  // who takes the place
  std::string for_job;
  std::vector<std::string> permitted_by;  // plugins
  std::string text;
  int32_t priority = 0;
  int32_t minimum = 0;
  int64_t count = 0;
  double share = 0;
  AmountMap amounts;
  AmountMap deserved;
  // Fewest pods that the job's disruption budget leaves it; -1: it has none, or it is not known.
  int32_t budget_floor = -1;
};

// Told of everything, in order.
class SimObserver {
 public:
  virtual ~SimObserver() = default;
  virtual void On(const SimEvent& event) = 0;
};

}  // namespace krafla
