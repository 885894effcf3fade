// Decides when a pod of ours that names no PodGroup is scheduled as a singleton PodGroup. Volcano's
// controllers create the PodGroup after the pod and then name it in the pod's annotation, so a pod
// that is scheduled before would break its gang. Main type: LonePods, used by ClusterMirror.
//
// Owned by the scheduling thread. Time is that of a steady clock, in nanoseconds.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "cluster_state/group_wait.h"

namespace krafla {

// The value of --group-of-one.
struct GroupOfOnePolicy {
  enum class When : uint8_t { kAuto, kNever, kAfter };
  When when = When::kAuto;
  int64_t delay_ns = 0;  // of kAfter

  bool operator==(const GroupOfOnePolicy&) const = default;
};

// "auto", "never" or "after=DURATION"; the error says the expected form.
Result<GroupOfOnePolicy> ParseGroupOfOnePolicy(std::string_view text);

class LonePods {
 public:
  // With `auto`, where Volcano's controllers are not seen: how long a pod with a controller owner
  // (a ReplicaSet, a StatefulSet) waits. Volcano's controllers are seen by then, if they run. A pod
  // without owner does not wait: its PodGroup would have minMember 1 in any case.
  static constexpr int64_t kOwnedPodDelayNs = 5'000'000'000;

  explicit LonePods(const GroupOfOnePolicy& policy) : policy_(policy) {}

  // The pod ("namespace/name") names no PodGroup and has no node. Why it waits; kNone: it is
  // scheduled as a singleton PodGroup. The delay counts from the first call for this UID.
  GroupWait Note(const std::string& pod, std::string_view uid, bool owned, int64_t now_ns);
  // Why the pod waits now; kNone also for a pod that Note was not called for.
  GroupWait Find(const std::string& pod) const;
  // It names a PodGroup now, has a node, or is gone.
  void Forget(const std::string& pod);
  bool empty() const { return pods_.empty(); }
  // For tests: delays that are kept.
  size_t waiting_entries() const { return line_.size(); }

  // Volcano's controllers are seen: stays so until the process ends. Returns all lone pods if that
  // changes what counts for them, by name.
  std::vector<std::string> SeeControllers();
  bool controllers_seen() const { return controllers_seen_; }
  // Whether it matters that they are seen.
  bool looks_for_controllers() const {
    return policy_.when == GroupOfOnePolicy::When::kAuto && !controllers_seen_;
  }

  // When the next delay ends.
  std::optional<int64_t> next_ns() const;
  // Pods whose delay has ended.
  std::vector<std::string> TakeDue(int64_t now_ns);

 private:
  struct Pod {
    std::string uid;
    int64_t due_ns = 0;
    bool released = false;
  };
  struct Due {
    int64_t due_ns = 0;
    std::string pod;
  };

  GroupWait WaitOf(const Pod& pod) const;
  int64_t DelayOf(bool owned) const;
  bool IsOpen(const Due& due) const;
  // Pods that are gone, or were recreated, leave the front of the line.
  void DropStale();

  GroupOfOnePolicy policy_;
  bool controllers_seen_ = false;
  std::unordered_map<std::string, Pod> pods_;
  // All that wait wait for the same time, so the first in line is the first that is due.
  std::deque<Due> line_;
};

}  // namespace krafla
