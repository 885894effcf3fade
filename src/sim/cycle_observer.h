// What a cycle shows beside its decisions: phases of jobs, who waits and why, who waits for room on
// which node, what queues have, what holds up a drain. Told only when it changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explain/why_waiting.h"
#include "scheduler/scheduling_loop.h"
#include "sim/event_queue.h"
#include "sim/event_teller.h"
#include "sim/world.h"
#include "sim/zone_watch.h"

namespace krafla {

class CycleObserver {
 public:
  CycleObserver(World& world, EventQueue& queue, EventTeller& events, ZoneWatch& zones,
                const Timestamp& now)
      : world_(world), queue_(queue), events_(events), zones_(zones), now_(now) {}

  void OnPhases(const Session& session, const std::vector<JobPhaseChange>& phases);
  // After the decisions of a cycle that was due.
  void OnCycle(Session& session);
  // A timer: the share of a queue may be told again.
  void OnShareDue(uint32_t queue);

 private:
  struct Share {
    StrId queue;
    Resource allocated;  // as last told
    Resource deserved;
    Resource deserved_now;
    bool told = false;
    bool due_planned = false;
    Timestamp at;
  };

  void LookAtJobs(Session& session);
  void LookAtPipelined(const Session& session, const Job& job);
  void LookAtWaiting(const Session& session, JobId id, SimJob& job, std::optional<WhyWaiting>& why);
  void LookAtShares(const Session& session);
  void LookAtShare(uint32_t index);
  struct HeldZone {
    StrId zone;
    int64_t pods = 0;
    std::string text;
  };
  void LookAtHeldDrains(Session& session);
  HeldZone LookAtUnmovedZone(const Session& session, StrId zone) const;
  static uint64_t WaitingFor(const Session& session, JobId id);

  World& world_;
  EventQueue& queue_;
  EventTeller& events_;
  ZoneWatch& zones_;
  const Timestamp& now_;
  std::vector<Share> shares_;  // in order of first appearance
  std::unordered_map<StrId, uint32_t> share_of_;
  Resource cluster_total_;
  // By zone: what was last told, and of which closing.
  std::unordered_map<StrId, std::pair<Timestamp, std::string>> held_;
};

}  // namespace krafla
