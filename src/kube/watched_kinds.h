// The kinds of objects a live scheduler follows, and where the API server has them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace krafla {

enum class WatchedKind : uint8_t {
  kNode,
  kPriorityClass,
  kNamespace,
  kQueue,
  kPodGroup,
  kPod,
  kBudget,
  kClaim,
  kVolume,
  kStorageClass,
  kCsiNode,
};

struct WatchedKindInfo {
  WatchedKind kind;
  std::string_view name;      // "Pod"
  std::string_view resource;  // "pods"
  std::string_view path;      // of the list over all namespaces
  bool namespaced = false;
};

inline constexpr std::array kWatchedKinds = {
    WatchedKindInfo{WatchedKind::kNode, "Node", "nodes", "/api/v1/nodes"},
    WatchedKindInfo{WatchedKind::kPriorityClass, "PriorityClass", "priorityclasses",
                    "/apis/scheduling.k8s.io/v1/priorityclasses"},
    WatchedKindInfo{WatchedKind::kNamespace, "Namespace", "namespaces", "/api/v1/namespaces"},
    WatchedKindInfo{WatchedKind::kQueue, "Queue", "queues",
                    "/apis/scheduling.volcano.sh/v1beta1/queues"},
    WatchedKindInfo{WatchedKind::kPodGroup, "PodGroup", "podgroups",
                    "/apis/scheduling.volcano.sh/v1beta1/podgroups", true},
    WatchedKindInfo{WatchedKind::kPod, "Pod", "pods", "/api/v1/pods", true},
    WatchedKindInfo{WatchedKind::kBudget, "PodDisruptionBudget", "poddisruptionbudgets",
                    "/apis/policy/v1/poddisruptionbudgets", true},
    WatchedKindInfo{WatchedKind::kClaim, "PersistentVolumeClaim", "persistentvolumeclaims",
                    "/api/v1/persistentvolumeclaims", true},
    WatchedKindInfo{WatchedKind::kVolume, "PersistentVolume", "persistentvolumes",
                    "/api/v1/persistentvolumes"},
    WatchedKindInfo{WatchedKind::kStorageClass, "StorageClass", "storageclasses",
                    "/apis/storage.k8s.io/v1/storageclasses"},
    WatchedKindInfo{WatchedKind::kCsiNode, "CSINode", "csinodes",
                    "/apis/storage.k8s.io/v1/csinodes"},
};
inline constexpr size_t kWatchedKindCount = kWatchedKinds.size();

constexpr const WatchedKindInfo& InfoOf(WatchedKind kind) {
  return kWatchedKinds[static_cast<size_t>(kind)];
}
static_assert(InfoOf(WatchedKind::kCsiNode).kind == WatchedKind::kCsiNode);
static_assert(InfoOf(WatchedKind::kPod).kind == WatchedKind::kPod);

}  // namespace krafla
