// Events about the scheduler itself (configuration, rollback of the cluster). Only the leader may
// write: a replica that follows keeps the newest of each topic and records it when it begins to
// lead, so that no event is refused or counted as dropped. Used by kube/serve.cpp.
//
// Owned by the scheduling thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kube/event_recorder.h"

namespace krafla {

class LeaderEvents {
 public:
  LeaderEvents(EventRecorder& events, std::function<bool()> leads)
      : events_(events), leads_(std::move(leads)) {}

  // `topic`: of two events of one topic only the later one still says something.
  void Record(const std::string& topic, EventText event) {
    if (leads_()) {
      events_.Record(std::move(event));
    } else {
      kept_.insert_or_assign(topic, std::move(event));
    }
  }
  // Leadership may have begun.
  void Flush() {
    if (kept_.empty() || !leads_()) return;
    for (auto& [topic, event] : std::exchange(kept_, {})) events_.Record(event);
  }

 private:
  EventRecorder& events_;
  std::function<bool()> leads_;
  std::map<std::string, EventText> kept_;  // by topic
};

}  // namespace krafla
