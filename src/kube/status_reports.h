// What users see of a decision that is no binding and no eviction: the phase and conditions of
// PodGroups, why a pod waits and for which node, what a queue holds. Looked at after each cycle,
// for jobs that wait or have changed; written only where it differs from what the server has.
//
// Nobody is told what may be over in a moment: a pod that finds its place soon is not written to at
// all, and while a gang is being created nothing is said about its lack of pods. What is told then
// is what is true then.
//
// Owned by the scheduling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "explain/node_sizes.h"
#include "explain/waiting_words.h"
#include "kube/api_client.h"
#include "kube/cluster_mirror.h"
#include "kube/event_recorder.h"
#include "kube/status_writer.h"
#include "kube/stranded_reports.h"
#include "session/session.h"

namespace krafla {

class StatusReports {
 public:
  struct Options {
    std::function<void(const std::string& line)> log;
    std::chrono::milliseconds first_wait{1000};  // before a pod is told that it waits
    std::chrono::milliseconds calm{10'000};      // between two messages to one object
    std::chrono::milliseconds queue_calm{1000};  // between two statuses of one queue
    std::chrono::milliseconds count_calm{1000};  // between two counts of one PodGroup's pods
    // As StatusWriter::Options.
    std::function<void(const ObjectRef& pod, std::function<void()> then)> read_pod_again = {};
    // Before somebody is told that pods of its gang, its PodGroup or its queue are missing.
    std::chrono::milliseconds grace{5000};
  };

  StatusReports(ApiClient& client, ClusterMirror& mirror, EventRecorder& events, Options options);

  // While the session is open.
  void AfterCycle(Session& session);

  // The server may have lost what was written: pods that wait are reported as if they began to.
  void WriteAllAgain();

  // Nothing is held back any longer.
  void Flush();

  size_t open() const { return writer_.open(); }
  uint64_t written() const { return writer_.written(); }
  // Also those that no cycle looks at.
  size_t waiting_pods() const { return waiting_.size() + stranded_.pods(); }
  // A cycle might place one of them.
  bool some_pod_is_looked_at() const { return !waiting_.empty(); }

 private:
  struct GroupMemo {
    size_t hash = 0;                     // of what was wanted when it was looked at last
    size_t words = 0;                    // of that without its counts
    bool stale = false;                  // the server has shown something since
    std::optional<SteadyTime> short_at;  // when it was first seen to lack pods; none: it does not
    bool timer = false;
    // What is to be said when it has lacked them for a while.
    std::optional<GroupStatus> held;
    ObjectRef group;
    JobPhase phase = JobPhase::kPending;
  };
  struct WaitingMemo {
    ObjectRef pod;
    std::string message;  // the newest
    std::string node;     // that it waits for; empty: none
    size_t hash = 0;      // of these two
    uint64_t cycle = 0;
    Timestamp since;                                 // for what is written
    SteadyTime began;                                // the same, for waits
    std::chrono::milliseconds patience{0};           // not announced before it is over
    std::optional<std::chrono::milliseconds> timer;  // the earliest that is set, from `since` on
    bool brief = false;                              // what it waits for may be over in a moment
    bool written = false;
    bool announced = false;
  };

  // Why a job cannot be scheduled, if that is so after this cycle.
  struct Waits {
    GroupCondition condition;
    bool lacks_pods = false;
    bool room_is_made = false;
    std::string steady;  // of the message, what is worth a word at once; empty: all of it
  };
  std::optional<Waits> WhyItWaits(const Session& session, JobId id);
  void ReportGroup(const Session& session, JobId id);
  void TellHeld(const std::string& key);
  void SetGroupTimer(const std::string& key, GroupMemo& memo);
  std::chrono::milliseconds GraceLeft(const GroupMemo& memo) const;
  void ReportWaiting(const Session& session, JobId id);
  // `node`: that it has been given, and others have to leave; empty: none.
  void ReportWaitingPod(const Session& session, TaskId id, const std::string& message,
                        std::string_view node, bool brief);
  const NodeSizes& SizesIn(const Cluster& c);
  void SetPodTimer(WaitingMemo& memo);
  void TellPod(const std::string& uid);
  void WritePod(WaitingMemo& memo, bool urgent);
  void ReportQueues(const Session& session);
  void ForgetPlacedPods();

  ApiClient& client_;
  ClusterMirror& mirror_;
  Options options_;
  StatusWriter writer_;
  StrandedReports stranded_;
  std::set<std::string> reported_queues_;
  struct WrittenQueue {
    std::string status;
    Resource allocated;
  };
  // Queues whose status says what is allocated, as both were last looked at.
  std::unordered_map<std::string, WrittenQueue> written_queues_;
  std::unordered_map<std::string, GroupMemo> memos_;  // by key
  std::vector<std::string> refused_;                  // keys of PodGroups to look at once more
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, WaitingMemo, TextHash, std::equal_to<>> waiting_;  // by UID
  uint64_t cycle_ = 0;
  std::optional<NodeSizes> sizes_;  // once somebody has waited
  uint64_t sizes_version_ = 0;
};

}  // namespace krafla
