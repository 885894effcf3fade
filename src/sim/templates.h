// What the simulator makes nodes, jobs and pods of: facts, decoded once, that are copied with other
// names. Everything goes through the manifests' own decoders: a shape of the scenario becomes JSON
// first, as if somebody had written the object.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/assemble.h"
#include "cluster_state/facts.h"
#include "manifest/read_cluster.h"
#include "sim/fact_collector.h"
#include "sim/scenario.h"

namespace krafla {

// Pods that differ in name and number alone.
struct PodTemplate {
  PodFacts facts;
  int32_t replicas = 1;
  // Of the first pod, when it is named by somebody; empty: <job>-<role>-<number>.
  bool has_own_name = false;
};

struct JobTemplate {
  PodGroupFacts group;
  std::vector<PodTemplate> roles;
  bool has_group = true;  // false: a pod that another scheduler placed; nothing but itself
  bool is_owned = true;   // somebody makes its pods anew; false: a bare pod
};

// The scenario's shape of a job as a Volcano Job, in JSON.
std::string JobAsJson(const JobShape& shape, std::string_view name);
// The `number`th node of a shape, in JSON.
std::string NodeAsJson(const NodeShape& shape, int32_t number);

class Templates {
 public:
  Templates(LiveCluster& live, const ReadClusterOptions& options)
      : live_(live), options_(options) {}

  // Null, with an error, when the shape is wrong. Shapes that differ in their name alone share one.
  const JobTemplate* OfShape(const JobShape& shape, Diagnostics& diagnostics);
  // Adds the nodes of a shape.
  void AddNodes(const NodeShape& shape, FactCollector& collector, Diagnostics& diagnostics);
  // The PodGroups and pods of a manifest, in the order of reading; bare pods of ours get a group,
  // as Volcano's controller gives them.
  std::vector<const JobTemplate*> OfManifest(const FactCollector& manifest);

  // Kinds of resources got other numbers: the amounts kept here follow.
  void FollowKinds(const Renumbering& to);

 private:
  JobTemplate* Add(JobTemplate made);
  JobTemplate BarePod(const PodFacts& pod);

  LiveCluster& live_;
  ReadClusterOptions options_;
  std::vector<std::unique_ptr<JobTemplate>> all_;
  std::unordered_map<std::string, const JobTemplate*> by_shape_;
};

}  // namespace krafla
