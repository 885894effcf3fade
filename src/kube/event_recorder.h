// Events of Kubernetes: what happened to an object, in words. The same words about the same object
// within ten minutes are one event with a count. Nothing is dropped without being counted.
//
// Owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "kube/api_client.h"
#include "kube/api_objects.h"

namespace krafla {

class EventRecorder {
 public:
  struct Options {
    std::string component = "volcano";  // who says so: the scheduler's name
    std::string instance = "krafla";    // which of its processes
    size_t most_waiting = 50'000;
    size_t most_remembered = 20'000;  // for counting repetitions
  };

  EventRecorder(ApiClient& client, Options options);

  void Record(EventText event);

  size_t waiting() const { return waiting_; }
  uint64_t sent() const { return sent_; }
  uint64_t dropped() const { return dropped_; }

 private:
  struct Remembered {
    std::string key;
    std::string path;  // of the event on the server
    int count = 1;
    Timestamp last;       // for what is written
    SteadyTime happened;  // the same, for the time together
    bool stored = false;  // the server has it
    bool in_flight = false;
    bool more = false;  // it has happened again since what was sent last
  };
  using Order = std::list<Remembered>;  // the one used last is in front

  void Create(const std::string& key, const EventText& event);
  void Count(const std::string& key);
  void Send(HttpRequest request, std::function<void(bool)> done, int attempt);
  Remembered* Find(const std::string& key);

  ApiClient& client_;
  Options options_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> index_;
  uint64_t names_ = 0;
  size_t waiting_ = 0;
  uint64_t sent_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace krafla
