// The objects that are left out of the cluster because an internal check failed while they were
// handled, and when another version of each is tried. Values only: ClusterMirror decides what
// counts in their place, QuarantineReports what is said about them.
//
// Owned by the scheduling thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/inbox.h"
#include "kube/watched_kinds.h"

namespace krafla {

class Quarantine {
 public:
  using Clock = std::chrono::steady_clock;
  // Before a newer version of an object is tried: doubled each time it breaks again.
  static constexpr std::chrono::seconds kFirstPause{10};
  static constexpr std::chrono::seconds kLongestPause{600};

  struct Entry {
    WatchedKind kind = WatchedKind::kPod;
    std::string key;  // "namespace/name" or "name"
    std::string uid;
    std::string check;       // that failed
    std::string instead;     // what counts in its place, in words
    std::string because_of;  // of a node: the pod on it that cannot be counted; empty: itself
    bool held = true;        // false: a newer version is in the cluster, until it breaks again
    int times = 0;           // that it broke
    Clock::time_point retry_at;
    std::unique_ptr<ObjectMessage> newer;  // seen since, and not tried yet
  };

  // Null: the object never broke.
  Entry* Find(WatchedKind kind, const std::string& key);
  // Null: it is not left out now.
  const Entry* FindHeld(WatchedKind kind, const std::string& key) const;
  // It broke. Another UID is another object.
  Entry& Hold(WatchedKind kind, const std::string& key, std::string_view uid, std::string check,
              Clock::time_point now);
  // The object is gone.
  void Erase(WatchedKind kind, const std::string& key);

  // Held entries with a newer version whose pause is over, or without a pause.
  std::vector<std::unique_ptr<ObjectMessage>> TakeDue(Clock::time_point now);
  // When TakeDue has something again.
  std::optional<Clock::time_point> NextDue() const;
  // Nodes that were left out because of this pod may be tried again. Those of which no newer
  // version was seen: they have to be read again.
  std::vector<std::string> FreeNodesOf(const std::string& pod);

  size_t Count(WatchedKind kind) const;
  // By kind and name.
  std::vector<const Entry*> Held() const;

 private:
  std::map<std::pair<WatchedKind, std::string>, Entry> entries_;
};

}  // namespace krafla
