// Does to the simulated cluster what the scenario says: nodes vanish and come back, are cordoned,
// pods crash, kubelets and the API become slow or refuse, the scheduler's clock is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/active_faults.h"
#include "sim/event_queue.h"
#include "sim/event_teller.h"
#include "sim/kubelet.h"
#include "sim/world.h"

namespace krafla {

// "node n-3 is lost for 10m0s", for the event log.
std::string Describe(const Fault& fault);

class FaultInjector {
 public:
  FaultInjector(const std::vector<Fault>& faults, World& world, EventQueue& queue,
                EventTeller& events, Kubelet& kubelet, ActiveFaults& active, const Draws& draws)
      : faults_(faults),
        world_(world),
        queue_(queue),
        events_(events),
        kubelet_(kubelet),
        active_(active),
        draws_(draws),
        held_(faults.size()) {}

  void PlanAll();
  // Timers. True: the scheduler's clock has changed.
  bool Begin(uint32_t fault);
  bool End(uint32_t fault);

 private:
  std::vector<SimNodeId> NodesThatMatch(const Fault& fault) const;
  void Lose(uint32_t fault);
  void Cordon(uint32_t fault, int32_t change);
  void CrashPods(uint32_t fault);

  const std::vector<Fault>& faults_;
  World& world_;
  EventQueue& queue_;
  EventTeller& events_;
  Kubelet& kubelet_;
  ActiveFaults& active_;
  const Draws& draws_;
  std::vector<std::vector<SimNodeId>> held_;  // by fault: nodes it has taken or cordoned
};

}  // namespace krafla
