// All kubelets of the simulated cluster: what is bound starts, runs and ends; what is evicted
// terminates; what is on a node that vanishes is lost.
#pragma once

#include <string_view>

#include "sim/active_faults.h"
#include "sim/draws.h"
#include "sim/event_queue.h"
#include "sim/event_teller.h"
#include "sim/job_controller.h"
#include "sim/world.h"

namespace krafla {

class Kubelet {
 public:
  Kubelet(World& world, EventQueue& queue, EventTeller& events, const Draws& draws,
          const ActiveFaults& faults, JobController& controller, const Timestamp& now,
          const KubeletShape& shape)
      : world_(world),
        queue_(queue),
        events_(events),
        draws_(draws),
        faults_(faults),
        controller_(controller),
        now_(now),
        shape_(shape) {}

  // The pod has been bound; it will start.
  void Bind(SimPodId pod, SimNodeId node);
  // The pod has been told to go; it will be gone.
  void Evict(SimPodId pod);
  // What it has done since it started, whether that is kept or not.
  int64_t WorkDoneNs(SimPodId pod) const;

  // Timers.
  void Start(SimPodId pod);
  void End(SimPodId pod);
  void Gone(SimPodId pod);

  // Brings a pod that was just made into the state in which its manifest shows it.
  void Adopt(SimPodId pod);

  void Crash(SimPodId pod, std::string_view why);
  void LoseNode(SimNodeId node);

 private:
  void PlanEnd(SimPodId pod);

  World& world_;
  EventQueue& queue_;
  EventTeller& events_;
  const Draws& draws_;
  const ActiveFaults& faults_;
  JobController& controller_;
  const Timestamp& now_;
  const KubeletShape shape_;
};

}  // namespace krafla
