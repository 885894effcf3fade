// Writes what users see of objects that wait: conditions of pods and PodGroups with the events that
// go with them, and what queues hold. Only what differs from what the server has is written, and
// the last wish counts (desired_writes.h, calm_events.h).
//
// Owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/api_client.h"
#include "kube/api_objects.h"
#include "kube/calm_events.h"
#include "kube/cluster_mirror.h"
#include "kube/desired_writes.h"
#include "kube/event_recorder.h"

namespace krafla {

class StatusWriter {
 public:
  struct Options {
    std::function<void(const std::string& line)> log;
    std::chrono::milliseconds calm{10'000};      // between two messages to one object
    std::chrono::milliseconds queue_calm{1000};  // between two statuses of one queue
    std::chrono::milliseconds count_calm{1000};  // between two counts of one PodGroup's pods
    // Reads a pod again whose status the server refuses, and applies it; then calls `then`.
    std::function<void(const ObjectRef& pod, std::function<void()> then)> read_pod_again;
    // The server will not have what was wished of this PodGroup.
    std::function<void(const std::string& key)> on_group_refused;
  };

  StatusWriter(ApiClient& client, ClusterMirror& mirror, EventRecorder& events, Options options);

  // Why a pod waits, and for which node (empty: for none). `since`: when it began to; absent when
  // the server was told. `urgent`: not held back to keep calm.
  void WritePod(const ObjectRef& pod, const std::string& message, std::string_view node,
                Timestamp since, bool urgent);
  // `room_is_made`: it has a node that others leave for it, which is no failure.
  void AnnouncePod(const ObjectRef& pod, const std::string& message, bool room_is_made = false);
  // It has its place, or is gone.
  void ForgetPod(const std::string& key);

  // With the event, when it cannot be scheduled. False: the server says so already, or there is no
  // such PodGroup.
  bool WriteGroup(const ObjectRef& group, const GroupStatus& wanted, bool urgent);
  void ForgetGroup(const std::string& key);

  // An event beside what is said about waiting.
  void Warn(const ObjectRef& about, std::string_view reason, const std::string& message);

  // Nothing to patch: the server says so already. `current`: its status, of which the patch is
  // made.
  void WriteQueue(const std::string& name, std::optional<std::string> patch,
                  const std::string& current);
  void ForgetQueue(const std::string& name);

  // Nothing is held back any longer.
  void Flush();

  size_t open() const { return groups_.open() + pods_.open() + queues_.open(); }
  uint64_t written() const { return groups_.written() + pods_.written() + queues_.written(); }

 private:
  void PodRefused(const std::string& key, const HttpResponse& response);
  void Refused(std::string_view what, const std::string& key, const HttpResponse& response);

  ApiClient& client_;
  ClusterMirror& mirror_;
  Options options_;
  EventRecorder& recorder_;
  CalmEvents events_;
  DesiredWrites groups_;
  DesiredWrites pods_;
  DesiredWrites queues_;
  uint64_t transitions_ = 0;
};

}  // namespace krafla
