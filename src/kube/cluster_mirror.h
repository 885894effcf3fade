// What the API server has, as the scheduler sees it: messages of the watches go in, a LiveCluster
// comes out. Beside the facts themselves it keeps what belongs to a live cluster only:
//   - Which objects there are, and in which version: after a new list only what really differs is a
//     change, and what is no longer there is taken out.
//   - What was asked for and not yet seen. A pod that is being bound stays so although somebody's
//     older news about it arrives, and so does a volume that is being given to a claim.
//   - A singleton PodGroup for every pod of ours that names no PodGroup, once LonePods says that
//     it is scheduled so.
//   - Which objects are quarantined: an internal check failed while they were handled. Until they
//     change they are left out, or something that is safe counts in their place.
//   - That etcd was restored from a backup: then the lists are the truth, although their objects
//     are older than what was seen, and what was expected is dropped (kube/rollback_watch.h says
//     how that is noticed).
// An object that cannot be read is named once and left as it was.
//
// Owned by the scheduling thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster_state/live_cluster.h"
#include "config/scheduler_config.h"
#include "kube/inbox.h"
#include "kube/lone_pods.h"
#include "kube/quarantine.h"
#include "kube/rollback_watch.h"
#include "kube/volume_expectations.h"
#include "kube/watched_kinds.h"
#include "manifest/object_decoder.h"
#include "record/overlay_sink.h"
#include "session/cycle_memory.h"

namespace krafla {

struct MirrorOptions {
  BuildOptions build;  // as far as the configuration does not say it
  std::vector<std::string> scheduler_names = {"volcano"};
  // Only nodes with one of these labels count; empty: all nodes do.
  NodeLabels node_labels;
  std::vector<WatchedKind> kinds;  // that are followed
  GroupOfOnePolicy group_of_one;
  // A clock that cannot be set, in nanoseconds; empty: the machine's.
  std::function<int64_t()> steady_ns;
  std::function<void(const std::string& line)> log;
  std::function<Quarantine::Clock::time_point()> clock = Quarantine::Clock::now;
  // For drills and tests: called before an object, or what counts in its place, is taken; may fail
  // a check.
  std::function<void(WatchedKind kind, const std::string& key, bool stand_in)> before_taking = {};
  // etcd has gone back to an earlier state: all kinds have to be listed again. Once for each time.
  std::function<void()> on_rollback;
};

class ClusterMirror {
 public:
  explicit ClusterMirror(MirrorOptions options);
  ~ClusterMirror();

  // The configuration that is in force from now on, as far as it says how objects are taken.
  void SetConfig(const SchedulerConfig& config);
  // Ids of strings, label sets and specs of the live cluster are good until the next call.
  void Apply(ObjectMessage message);
  // Gets rid of names, labels and specs of what is gone. Apply does so when there are too many.
  void Compact();
  // Told of everything that goes on to the live cluster, after it did.
  void SetObserver(std::function<void(RecordedChange change)> observer) {
    observer_ = std::move(observer);
  }

  // Leaves an object out because a check failed while a cycle handled it. A group of one stands for
  // its pod. False: there is no such object, or it is left out already.
  bool LeaveOut(WatchedKind kind, std::string key, const std::string& check);
  // Tries newer versions of quarantined objects whose pause is over.
  void RetryQuarantined();
  const Quarantine& quarantine() const { return quarantine_; }
  // Nodes that were left out because of a pod that counts, or is gone, since the last call: the
  // caller asks the server for each, and applies the answer as kReread.
  std::vector<std::string> TakeNodesToRead() { return std::exchange(nodes_to_read_, {}); }
  // Whether the object is quarantined, and by which check; empty: it is not.
  std::string_view WhyQuarantined(WatchedKind kind, const std::string& key) const;
  // Called for each entry that is held from now on, or no longer is.
  void SetQuarantineListener(std::function<void(const Quarantine::Entry& entry)> listener) {
    quarantine_listener_ = std::move(listener);
  }
  // Internal checks that failed here.
  uint64_t failed_checks() const { return failed_checks_; }

  // Every kind has been listed once.
  bool synced() const { return synced_ == options_.kinds.size(); }
  std::vector<std::string_view> UnsyncedKinds() const;

  LiveCluster& live() { return *live_; }

  // Somebody else decides.
  void SetFollows(bool follows) { follows_ = follows; }

  // Pods that name no PodGroup and have waited long enough for one become singleton PodGroups.
  // True: some did.
  bool ReleaseLonePods();
  // When that is to be done next, by the steady clock.
  std::optional<int64_t> next_release_ns() const { return lone_.next_ns(); }
  // Why the pod ("namespace/name") waits for its PodGroup; kNone: it does not.
  GroupWait WaitForGroup(const std::string& pod) const {
    return expected_.contains(pod) ? GroupWait::kNone : lone_.Find(pod);
  }
  // Volcano's controllers were seen; known only while the policy is `auto`.
  bool controllers_seen() const { return lone_.controllers_seen(); }

  // What was decided counts until it is seen, or until it has failed and the pod is read again.
  void ExpectBinding(const std::string& key, const std::string& uid, const std::string& node);
  void ExpectEviction(const std::string& key, const std::string& uid);
  void ExpectPhase(const std::string& key, JobPhase phase);
  // It failed: the next reading of the pod counts as it is.
  void ForgetExpectation(const std::string& key, const std::string& uid);
  void ForgetPhase(const std::string& key);
  // Volumes that were chosen and are not yet seen to be taken.
  VolumeExpectations& volumes() { return *volumes_; }
  const VolumeExpectations& volumes() const { return *volumes_; }
  // A pod that turned out not to be there any more.
  void Gone(WatchedKind kind, const std::string& key, const std::string& uid);

  // The UID as last seen, empty when there is no such object. Key: "namespace/name" or "name".
  std::string_view UidOf(WatchedKind kind, const std::string& key) const;
  // The resourceVersion as last seen; empty when there is no such object.
  std::string VersionOf(WatchedKind kind, const std::string& key) const;
  // The status of a PodGroup or a Queue as last seen; null when the server has no such object.
  const std::string* StatusOf(WatchedKind kind, const std::string& key) const;
  // The pod is bound, or is being bound by us.
  bool HasNode(const std::string& pod_key) const;
  // What the PodGroups remember of evictions before our time.
  void RecallEvictions(Timestamp now, CycleMemory& memory) const;
  // One more pod of the group was evicted; returns how many that makes.
  uint64_t CountEviction(const std::string& group_key);
  // Keys of the PodGroups that came, changed or went since the last call.
  std::vector<std::string> TakeChangedGroups() { return std::exchange(changed_groups_, {}); }
  // Whether what was seen of the object is newer than this.
  bool IsOlder(WatchedKind kind, const std::string& key, const ObjectHead& head) const;
  size_t Count(WatchedKind kind) const { return Known(kind).size(); }
  uint64_t malformed() const { return malformed_; }
  // How often etcd has gone back.
  uint64_t rollbacks() const { return rollbacks_; }
  // Decisions the server has not yet confirmed.
  size_t expectations() const { return expected_.size() + volumes_->size(); }

  // Names of groups that exist here only.
  static bool IsGroupOfOne(std::string_view name) { return name.starts_with(kGroupOfOnePrefix); }

 private:
  class Sink;
  struct KnownObject {
    std::string uid;
    uint64_t version = 0;
    uint32_t listing = 0;    // the list it was last part of
    uint32_t reread_in = 0;  // the list before whose end it was last read again
    std::string status;      // of PodGroups and Queues
    // Of PodGroups.
    GroupMemory memory;
    uint64_t evictions = 0;  // seen by us
  };
  using KnownObjects = std::unordered_map<std::string, KnownObject>;
  struct Expectation {
    std::string uid;
    std::string node;  // empty: it is to go
  };

  KnownObjects& Known(WatchedKind kind) { return known_[static_cast<size_t>(kind)]; }
  const KnownObjects& Known(WatchedKind kind) const { return known_[static_cast<size_t>(kind)]; }
  void Seen(ObjectMessage& message);
  // It counts from now on.
  void Accept(ObjectMessage& message, const std::string& key, KnownObject& object);
  // Something is expected of the object that it may not show.
  bool IsExpected(WatchedKind kind, const std::string& key) const;
  void ReportMemory(const std::string& key, const ObjectHead& head);
  void DropExpectations(WatchedKind kind, const std::string& key);
  void Remove(WatchedKind kind, const std::string& key);
  void EndListing(WatchedKind kind, const std::string& version);
  void MakeDecoder();
  void Decode(ObjectMessage& message, const std::string& key);
  int64_t SteadyNs() const;
  void LookForControllers(WatchedKind kind, const std::string& key, const ObjectHead& head);
  void SetGroupWait(const std::string& pod, GroupWait wait);
  std::optional<std::string> TryTaking(ObjectMessage& message, const std::string& key);
  void Take(ObjectMessage& message, const std::string& key);
  void NoteCured(const std::string& check);
  bool ChangeFacts(const std::function<void()>& change);
  bool LastWasTaken() const;
  void TakeOut(WatchedKind kind, const std::string& key);
  // A check failed: what it left half-changed is rebuilt.
  void StartAfresh();
  bool MayTry(const Quarantine::Entry& entry, const ObjectMessage& message) const;
  Quarantine::Entry& Hold(WatchedKind kind, const std::string& key, const std::string& check,
                          const ObjectMessage* message);
  void Substitute(Quarantine::Entry& entry, const ObjectMessage* message);
  bool TakeStandIn(WatchedKind kind, const std::string& key, const std::string& json);
  void LeaveOutNodeOf(const Quarantine::Entry& pod, const std::string& node);
  void FreeNodesOf(const std::string& pod);
  void Tell(const Quarantine::Entry& entry) {
    if (quarantine_listener_) quarantine_listener_(entry);
  }
  void Report(const std::string& object, const std::vector<std::string>& problems);

  MirrorOptions options_;
  std::unique_ptr<LiveCluster> live_;
  std::unique_ptr<VolumeExpectations> volumes_;
  std::unique_ptr<Sink> sink_;
  std::function<void(RecordedChange change)> observer_;
  Diagnostics problems_;
  ClusterFacts facts_;
  std::unique_ptr<ObjectDecoder> decoder_;                 // of what was not decoded on its way
  std::array<FactReceiver, kWatchedKindCount> receivers_;  // each kind has a sender of its own
  std::array<KnownObjects, kWatchedKindCount> known_;
  std::array<uint32_t, kWatchedKindCount> listing_{};
  std::array<bool, kWatchedKindCount> listed_{};
  std::array<RollbackWatch, kWatchedKindCount> rollback_;
  uint64_t rollbacks_ = 0;
  size_t synced_ = 0;
  bool follows_ = false;
  LonePods lone_;
  bool owned_ = false;  // the pod that is being decoded has a controller owner
  std::unordered_map<std::string, Expectation> expected_;
  std::unordered_map<std::string, JobPhase> expected_phases_;
  std::vector<std::string> changed_groups_;
  std::unordered_set<std::string> reported_;
  uint64_t malformed_ = 0;
  Quarantine quarantine_;
  std::vector<std::string> nodes_to_read_;
  std::function<void(const Quarantine::Entry& entry)> quarantine_listener_;
  uint64_t failed_checks_ = 0;
};

}  // namespace krafla
