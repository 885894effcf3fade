// Volumes that were chosen and are not yet seen to be taken: the next cycles must see a volume as
// its claim's, and a claim as sent to its node, from the cycle that has decided it until the server
// shows it or nobody needs it any more. Otherwise two gangs are given the same volume, and both
// stay half bound.
//
// What is expected is laid over the facts of the live cluster, and told to whoever follows it, as
// marks. Owned by the scheduling thread; must not be called while a cycle's session is open.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>

#include "cluster_state/live_cluster.h"
#include "record/recorded_change.h"

namespace krafla {

class VolumeExpectations {
 public:
  using OnMark =
      std::function<void(std::string_view kind, const std::string& key, const AssumedMark& mark)>;

  VolumeExpectations(LiveCluster& live, OnMark on_mark)
      : live_(live), on_mark_(std::move(on_mark)) {}

  // The volume is to be the claim's ("namespace/name/uid"); for a pod, by its UID. More than one
  // pod may want the same.
  void Reserve(const std::string& volume, const std::string& claim, const std::string& pod);
  void GiveUpVolume(const std::string& volume, const std::string& claim, const std::string& pod);
  // The claim ("namespace/name/uid") is to get a volume that is made on the node.
  void Select(const std::string& claim, const std::string& node, const std::string& pod);
  void GiveUpNode(const std::string& claim, const std::string& pod);

  // What the server says, whatever is expected. Claim: "namespace/name/uid", the UID missing when a
  // volume was reserved by name, all of it when the volume is free.
  std::string ClaimOf(const PersistentVolume& volume) const;
  std::string NodeOf(const PersistentVolumeClaim& claim) const;

  // An object was seen: how it is to be marked. What has come true, or cannot any more, is dropped.
  AssumedMark Seen(const PersistentVolume& volume);
  AssumedMark Seen(const PersistentVolumeClaim& claim);
  void VolumeGone(const std::string& name) { volumes_.erase(name); }
  void ClaimGone(const std::string& key) { claims_.erase(key); }

  bool ExpectsOfVolume(const std::string& name) const { return volumes_.contains(name); }
  bool ExpectsOfClaim(const std::string& key) const { return claims_.contains(key); }
  size_t size() const { return volumes_.size() + claims_.size(); }

 private:
  struct Expectation {
    std::string wanted;
    std::string seen;  // as `wanted`, as the server says it
    std::string uid;   // of the claim that is to be sent to a node
    std::set<std::string> pods;
  };

  StringPool& strings() const { return live_.strings(); }
  std::string ClaimText(const PersistentVolume& volume) const;
  const PersistentVolumeClaim* FindClaim(const std::string& key) const;

  LiveCluster& live_;
  OnMark on_mark_;
  std::unordered_map<std::string, Expectation> volumes_;  // by name
  std::unordered_map<std::string, Expectation> claims_;   // by "namespace/name"
};

}  // namespace krafla
