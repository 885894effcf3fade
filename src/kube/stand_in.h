// What counts in place of an object that is quarantined (kube/quarantine.h), as JSON for the usual
// decoders: a pod on a node becomes a pod of no scheduler with the same requests, a
// PodDisruptionBudget one that protects every pod of its namespace. Nothing else of the object is
// kept. Used by ClusterMirror.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cluster_state/fact_sink.h"

namespace krafla {

struct StandIn {
  std::string json;
  std::string node;
};

// `pod`: JSON, padded for simdjson. `node`: that it counts on, empty: the one it names. Nothing:
// the pod has ended, is on no node, or cannot be read.
std::optional<StandIn> StandInForPod(const std::string& pod, std::string_view node);
// The same, made of what is known of the pod.
std::optional<StandIn> StandInForPod(const PodFacts& pod, ValuePool& values);
std::string StandInForBudget(std::string_view ns, std::string_view name);

}  // namespace krafla
