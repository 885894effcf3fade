// Makes events of what happens in the world and hands them to the observers. One event is filled
// over and over: most of them are made and read without a single allocation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/sim_event.h"
#include "sim/world.h"

namespace krafla {

class EventTeller {
 public:
  EventTeller(const World& world, const Timestamp& now) : world_(world), now_(now) {}

  void AddObserver(SimObserver* observer) { observers_.push_back(observer); }

  // An empty event of this instant, to be filled; Send gives it to the observers.
  SimEvent& Begin(SimEventKind kind);
  // … about a pod: its name, its job's and its queue's, and where it is or was.
  SimEvent& BeginPod(SimEventKind kind, SimPodId pod);
  SimEvent& BeginJob(SimEventKind kind, SimJobId job);
  SimEvent& BeginNode(SimEventKind kind, SimNodeId node);
  void Send();

  void TellPod(SimEventKind kind, SimPodId pod, std::string_view text = {});
  void TellText(SimEventKind kind, std::string_view text);

  uint64_t count() const { return count_; }

 private:
  void SetPlace(SimNodeId node);

  const World& world_;
  const Timestamp& now_;
  std::vector<SimObserver*> observers_;
  SimEvent event_;
  uint64_t count_ = 0;
};

}  // namespace krafla
