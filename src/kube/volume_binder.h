// Gives a pod its volumes before it is bound, as kube-scheduler does: a free volume is reserved for
// the claim (claimRef), a claim without one is told the node (annotation selected-node), so that
// its provisioner makes one there. Then the controllers are waited for; a wait ends with the claims
// bound, with somebody giving up, or when patience is over. Nothing is written twice: after a
// restart the volumes are found as they were left, and waited for again. From the first moment on
// the mirror counts them as taken, until the server shows them so or the wait has ended.
//
// Owned by the scheduling thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/scheduler_config.h"
#include "kube/api_client.h"
#include "kube/api_objects.h"
#include "kube/cluster_mirror.h"
#include "kube/volume_choices.h"

namespace krafla {

class VolumeBinder {
 public:
  struct Options {
    std::chrono::milliseconds patience{600'000};
    std::chrono::milliseconds look_every{200};
  };
  // Nothing: all claims are bound. Else why they are not.
  using Done = std::function<void(const std::optional<std::string>& problem)>;

  VolumeBinder(ApiClient& client, ClusterMirror& mirror, Options options)
      : client_(client), mirror_(mirror), options_(options) {}

  // `done` is called once; not at all when the pod is gone meanwhile.
  void Bind(const ObjectRef& pod, const std::string& node, std::vector<ClaimOrder> claims,
            Done done);
  void SetPatience(std::chrono::milliseconds patience) { options_.patience = patience; }

 private:
  struct Work {
    ObjectRef pod;
    std::string node;
    std::vector<ClaimOrder> claims;
    Done done;
    size_t next = 0;  // claim that is to be written
    SteadyTime began;
    std::chrono::milliseconds patience;
  };
  using WorkPtr = std::shared_ptr<Work>;  // held by whichever callback is next

  // What is to be written for a claim, if anything still is; or why it is too late.
  struct ClaimWrite {
    std::optional<HttpRequest> request;
    WatchedKind kind = WatchedKind::kVolume;
    std::string problem;
  };
  ClaimWrite WriteFor(const Work& work, const ClaimOrder& order) const;
  void WriteNext(const WorkPtr& work, int attempt);
  // A write has been answered: what it says about the object is the newest there is.
  void TakeAnswer(WatchedKind kind, const std::string& body);
  void Wait(const WorkPtr& work);
  void GiveUp(const Work& work);
  void Finish(const WorkPtr& work, const std::optional<std::string>& problem);
  // Whether it is bound; else why it never will be, or nothing when that is open.
  struct ClaimState {
    bool bound = false;
    std::string problem;
  };
  ClaimState StateOf(const Work& work, const ClaimOrder& order) const;
  const PersistentVolumeClaim* FindClaim(const ClaimOrder& order) const;
  const PersistentVolume* FindVolume(const std::string& name) const;

  ApiClient& client_;
  ClusterMirror& mirror_;
  Options options_;
  ApiTextParser parser_;
};

// How long a configuration has volumes waited for (predicates: volumebinding.bindTimeoutSeconds).
std::chrono::milliseconds VolumePatience(const SchedulerConfig& config);

}  // namespace krafla
