// Manifests in, cluster tables out.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "cluster_state/cluster_builder.h"
#include "manifest/object_decoder.h"
#include "model/cluster.h"

namespace krafla {

struct ReadClusterOptions {
  bool lenient = false;         // wrong objects are skipped and named instead of being errors
  bool finds_odd_words = true;  // see DecodeOptions
  std::vector<std::string> scheduler_names = {"volcano"};
  std::string default_queue = "default";
  // Volcano counts a claim of a CSI driver that no CSINode declares as a resource no node has.
  bool count_undeclared_csi_drivers = false;
  // Volcano does not know of a pod before it knows of the pod's claims.
  bool leave_out_pods_without_claims = false;
  // Drivers whose volumes are never counted, beside the two Volcano itself knows of.
  std::vector<std::string> ignored_provisioners;
};

BuildOptions BuildOptionsOf(const ReadClusterOptions& options);

// Reads everything into a sink: a builder, or a cluster that lives. `observer`, if there is one,
// sees each object's text before it is decoded.
void ReadObjectsInto(FactSink& sink, std::span<const std::string> inputs,
                     std::istream& standard_input, const ReadClusterOptions& options,
                     Diagnostics& diagnostics, ClusterFacts* facts = nullptr,
                     const ObjectSink& observer = {});
void ReadTextInto(FactSink& sink, std::string_view text, std::string_view file_name,
                  const ReadClusterOptions& options, Diagnostics& diagnostics,
                  ClusterFacts* facts = nullptr);

// Reads everything and builds the tables; meaningful only when `diagnostics` has no errors.
Cluster ReadCluster(std::span<const std::string> inputs, std::istream& standard_input,
                    const ReadClusterOptions& options, Diagnostics& diagnostics,
                    ClusterFacts* facts = nullptr);

Cluster ReadClusterFromText(std::string_view text, std::string_view file_name,
                            const ReadClusterOptions& options, Diagnostics& diagnostics,
                            ClusterFacts* facts = nullptr);

}  // namespace krafla
