// The newest word about an object that waits, as events: at most one per object in a while, and the
// last one says what is true. What was overtaken in between is never said.
//
// Owned by the scheduling thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kube/api_client.h"
#include "kube/event_recorder.h"

namespace krafla {

class CalmEvents {
 public:
  CalmEvents(ApiClient& client, EventRecorder& events, std::chrono::milliseconds calm)
      : client_(client), events_(events), calm_(calm) {}

  // Said now, or when the while since the last one is over and it is still so. The same as the last
  // one is not said again.
  void Say(EventText event);
  // The object does not wait any more, or is gone.
  void Forget(std::string_view kind, std::string_view key);

 private:
  struct Entry {
    EventText newest;
    EventText said;
    std::optional<SteadyTime> at;  // of what was said; none: nothing was
    bool timer = false;
  };

  void SayWhenDue(const std::string& key);

  ApiClient& client_;
  EventRecorder& events_;
  std::chrono::milliseconds calm_;
  std::unordered_map<std::string, Entry> entries_;  // by kind and name
};

}  // namespace krafla
