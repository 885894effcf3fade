// What a pod asks for, as far as the scheduler looks at it: a value shared by all pods that ask for
// the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "model/resource.h"
#include "model/selectors.h"

namespace krafla {

enum class TaintEffect : uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  StrId key;
  StrId value = kEmptyStr;
  TaintEffect effect = TaintEffect::kNoSchedule;
  bool operator==(const Taint&) const = default;
};

enum class TolerationOp : uint8_t { kEqual, kExists, kLess, kGreater };

struct Toleration {
  StrId key = kEmptyStr;  // empty with kExists: every key
  StrId value = kEmptyStr;
  TolerationOp op = TolerationOp::kEqual;
  std::optional<TaintEffect> effect;  // none: every effect
  bool operator==(const Toleration&) const = default;
};

bool Tolerates(const Toleration& toleration, const Taint& taint);

struct PreferredNodeTerm {
  int32_t weight = 0;
  NodeSelectorTerm term;
  bool operator==(const PreferredNodeTerm&) const = default;
};

// A required or preferred term over other pods.
struct PodAffinityTerm {
  LabelSelector selector;            // matchLabelKeys and mismatchLabelKeys already merged in
  std::vector<StrId> namespaces;     // sorted by id; the pod's own namespace when nothing was said
  LabelSelector namespace_selector;  // given and empty: every namespace
  StrId topology_key;
  int32_t weight = 0;  // preferred terms only
  bool operator==(const PodAffinityTerm&) const = default;
};

struct SpreadConstraint {
  int32_t max_skew = 1;
  StrId topology_key;
  bool hard = true;        // DoNotSchedule
  LabelSelector selector;  // matchLabelKeys already merged in
  int32_t min_domains = 1;
  bool honor_node_affinity = true;
  bool honor_node_taints = false;
  bool operator==(const SpreadConstraint&) const = default;
};

enum class Protocol : uint8_t { kTcp, kUdp, kSctp };

struct HostPort {
  Protocol protocol = Protocol::kTcp;
  StrId host_ip = kEmptyStr;  // empty and 0.0.0.0 are the same: every address
  int32_t port = 0;
  bool operator==(const HostPort&) const = default;
};

struct ClaimVolume {
  StrId claim;             // name of the PersistentVolumeClaim in the pod's namespace
  bool ephemeral = false;  // <pod>-<volume>, must be owned by the pod
  bool operator==(const ClaimVolume&) const = default;
};

enum class PreemptionPolicy : uint8_t { kLowerPriority, kNever };

struct PodSpec {
  // Volcano's view: what is compared with a node's idle amounts. Includes one pod; without CSI
  // volumes.
  Resource request;
  // Kubernetes' view, for scores: what is summed up on a node, and the same with its defaults for
  // pods that name no cpu or memory (100m, 200 MiB).
  double scored_cpu = 0;
  double scored_memory = 0;
  double nonzero_cpu = 0;
  double nonzero_memory = 0;
  // What the least- and most-allocated scores count for the pod that is being placed: as nonzero_*,
  // but Kubernetes forgets pod-level requests there.
  double placing_cpu = 0;
  double placing_memory = 0;

  LabelSet node_selector;
  bool has_required_node_affinity = false;
  // A preferred term of some weight cannot be evaluated (Gt with a word): Kubernetes then fails to
  // score any node.
  bool preferred_node_terms_broken = false;
  bool needs_resource_claims = false;  // names ResourceClaims, for itself or for a container
  std::vector<NodeSelectorTerm> required_node_terms;  // any of them; none at all matches no node
  std::vector<PreferredNodeTerm> preferred_node_terms;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;
  std::vector<PodAffinityTerm> required_affinity;
  std::vector<PodAffinityTerm> required_anti_affinity;
  std::vector<PodAffinityTerm> preferred_affinity;
  std::vector<PodAffinityTerm> preferred_anti_affinity;
  std::vector<SpreadConstraint> spread;
  std::vector<ClaimVolume> claims;
  std::vector<StrId> images;    // normalised names of the containers' images, init containers too
  int32_t container_count = 0;  // containers and init containers, for image locality's threshold
  std::vector<StrId> scheduling_gates;

  bool HasPodAffinity() const {
    return !required_affinity.empty() || !required_anti_affinity.empty() ||
           !preferred_affinity.empty() || !preferred_anti_affinity.empty();
  }
};

}  // namespace krafla
