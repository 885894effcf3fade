// Tells those that no cycle looks at why they wait: pods whose PodGroup or claim does not exist,
// pods that name no PodGroup and wait for one, pods and PodGroups whose queue does not exist. Tells
// PodGroups whose PriorityClass does not exist too, which cycles look at with another priority than
// was meant. A PodGroup and its pods, or a queue and its jobs, often come at the same time and in
// any order, so nothing is reported before the object has waited for a while.
//
// Owned by the scheduling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cluster_state/group_wait.h"
#include "cluster_state/live_cluster.h"
#include "kube/api_client.h"
#include "kube/status_writer.h"
#include "kube/watched_kinds.h"

namespace krafla {

// The reason of an Unschedulable condition whose PodGroup has no queue.
inline constexpr std::string_view kQueueNotFound = "QueueNotFound";
// The reason of an event about a PodGroup without its PriorityClass.
inline constexpr std::string_view kPriorityClassNotFound = "PriorityClassNotFound";

class StrandedReports {
 public:
  struct Options {
    std::chrono::milliseconds grace{5000};
    std::function<void(const std::string& line)> log;
    // Why a pod ("namespace/name") without PodGroup waits for one; empty: none does.
    std::function<GroupWait(const std::string& pod)> wait_for_group;
    // The check because of which a PodGroup or a queue is quarantined; empty: it is not.
    std::function<std::string(WatchedKind kind, const std::string& key)> why_quarantined = {};
  };

  StrandedReports(ApiClient& client, StatusWriter& writer, Options options)
      : client_(client), writer_(writer), options_(std::move(options)) {}

  // After a cycle, before anybody else is told why it waits.
  void Follow(const LiveCluster& live, const Cluster& c);

  // Pods that wait, told or not.
  size_t pods() const { return pods_; }
  // Pods of the PodGroup ("namespace/name") that are left out because their claims do not exist.
  size_t LeftOutOf(const std::string& group) const;
  // What the PodGroup of this UID was told about its PriorityClass; empty: nothing.
  std::string_view PriorityWords(std::string_view uid) const;

 private:
  enum class Telling : uint8_t { kPodWaits, kGroupWaits, kEvent };
  struct Memo {
    ObjectRef about;
    Telling how = Telling::kPodWaits;
    size_t cause = 0;     // a hash of all that the words are made of
    std::string thing;    // that is missing: "queue team-x"; empty: a PodGroup without a name
    std::string message;  // of a pod, or of an event
    GroupStatus status;   // of a PodGroup
    Timestamp since;      // for what is written
    SteadyTime began;     // the same, for waits
    uint64_t round = 0;
    bool told = false;
    bool delayed = false;  // what holds the pod is a delay that may end about now
  };

  void FollowPod(const LiveCluster& live, const Cluster& c,
                 const LiveCluster::StrandedPod& stranded);
  void FollowGroup(const LiveCluster& live, const Cluster& c,
                   const LiveCluster::StrandedGroup& stranded);
  void FollowUnranked(const LiveCluster& live, const Cluster& c, const Job& job);
  GroupWait WaitForGroup(std::string_view ns, std::string_view pod, std::string_view group) const;
  // The memo, when there are new words to be found for it; null: all is as it was.
  Memo* Renew(std::string_view uid, size_t cause);
  std::string WhyQuarantined(WatchedKind kind, std::string_view key) const;
  // Made once for all of one cause.
  template <class Make>
  const std::string& Words(size_t cause, Make&& make);
  void TellOrWait(Memo& memo);
  void SetTimer(std::chrono::milliseconds delay);
  void TellThoseDue();
  void Tell(Memo& memo);
  void ForgetOthers();

  ApiClient& client_;
  StatusWriter& writer_;
  Options options_;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Memo, TextHash, std::equal_to<>> memos_;  // by UID
  std::unordered_map<size_t, std::string> words_;                           // of this round
  std::set<std::string> logged_;                                            // things
  std::unordered_map<std::string, size_t> left_out_;                        // by PodGroup
  uint64_t round_ = 0;
  size_t pods_ = 0;
  bool timer_ = false;
};

}  // namespace krafla
