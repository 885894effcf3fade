// A drill of the quarantine: internal checks fail on purpose for the objects that the environment
// variable KRAFLA_FAIL_CHECKS names. For tests, and for operators who want to see what happens.
// Used by krafla serve; without the variable nothing of this runs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster_state/live_cluster.h"
#include "kube/watched_kinds.h"
#include "session/hooks.h"

namespace krafla {

inline constexpr const char* kCheckDrillVariable = "KRAFLA_FAIL_CHECKS";

struct CheckDrill {
  // Fails whenever the object is decoded or taken.
  std::vector<std::pair<WatchedKind, std::string>> decoded;
  // Fails whenever a cycle places a pod of the PodGroup, or the pod itself.
  std::vector<std::string> placed;

  bool empty() const { return decoded.empty() && placed.empty(); }
  void OnDecoding(WatchedKind kind, const std::string& key) const;
  // Of any one plugin.
  void Wrap(const LiveCluster& live, PluginHooks& hooks) const;
};

// "decode:Pod/team/p1,place:PodGroup/team/g"; an error says what is expected.
Result<CheckDrill> ParseCheckDrill(std::string_view text);

}  // namespace krafla
