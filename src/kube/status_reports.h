// What users see of a decision that is no binding and no eviction: the phase and conditions of
// PodGroups, why a pod waits and for which node, what a queue holds. Looked at after each cycle,
// for jobs that wait or have changed; written only where it differs from what the server has; a pod
// that finds its place soon is not written to at all.
//
// Owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/api_client.h"
#include "kube/cluster_mirror.h"
#include "kube/desired_writes.h"
#include "kube/event_recorder.h"
#include "session/session.h"

namespace krafla {

class StatusReports {
 public:
  struct Options {
    std::function<void(const std::string& line)> log;
    std::chrono::milliseconds first_wait{1000};  // before a pod is told that it waits
    std::chrono::milliseconds calm{10'000};      // between two messages to one pod
    std::chrono::milliseconds queue_calm{1000};  // between two statuses of one queue
    std::chrono::milliseconds count_calm{1000};  // between two counts of one PodGroup's pods
  };

  StatusReports(ApiClient& client, ClusterMirror& mirror, EventRecorder& events, Options options);

  // While the session is open.
  void AfterCycle(Session& session);

  // Nothing is held back any longer.
  void Flush();

  size_t open() const { return groups_.open() + pods_.open() + queues_.open(); }
  uint64_t written() const { return groups_.written() + pods_.written() + queues_.written(); }
  size_t waiting_pods() const { return waiting_.size(); }

 private:
  struct GroupMemo {
    size_t hash = 0;   // of what was wanted when it was looked at last
    size_t words = 0;  // of that without its counts
    bool unschedulable = false;
    bool stale = false;  // the server has shown something since
  };
  struct WaitingMemo {
    std::string key;
    size_t hash = 0;
    uint64_t cycle = 0;
    Timestamp event;
    bool told = false;  // the server knows since when
  };

  void ReportGroup(const Session& session, JobId id);
  void ReportWaiting(const Session& session, JobId id);
  void ReportWaitingPod(const Session& session, TaskId id, const std::string& message);
  void ReportQueues(const Session& session);
  void ReportQueue(const Session& session, QueueId id, const Resource& allocated);
  void ForgetPlacedPods();

  ApiClient& client_;
  ClusterMirror& mirror_;
  EventRecorder& events_;
  Options options_;
  DesiredWrites groups_;
  DesiredWrites pods_;
  DesiredWrites queues_;
  std::set<std::string> reported_queues_;
  std::unordered_map<std::string, GroupMemo> memos_;  // by key
  std::vector<std::string> refused_;                  // keys of PodGroups to look at once more
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, WaitingMemo, TextHash, std::equal_to<>> waiting_;  // by UID
  uint64_t cycle_ = 0;
};

}  // namespace krafla
