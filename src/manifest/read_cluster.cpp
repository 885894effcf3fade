// How a cluster is read:
//   1. The stream gives one object after the other as JSON text, whatever file and notation it was
//      in.
//   2. The decoder checks it and hands its facts to the builder.
//   3. The builder puts the facts together and warns about references that lead nowhere.
#include "manifest/read_cluster.h"

#include <string>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "cluster_state/cluster_builder.h"

namespace krafla {

namespace {

void WarnOfIgnoredKinds(const ClusterFacts& facts, Diagnostics& diagnostics) {
  if (facts.ignored_kinds.empty()) return;
  std::string kinds;
  for (const auto& [kind, count] : facts.ignored_kinds)
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, Printable(kind));
  diagnostics.Warning({}, {}, fmt::format("kinds that are not used: {}", kinds));
}

}  // namespace

BuildOptions BuildOptionsOf(const ReadClusterOptions& options) {
  return {.default_queue = options.default_queue,
          .count_undeclared_csi_drivers = options.count_undeclared_csi_drivers,
          .ignored_provisioners = options.ignored_provisioners,
          .leave_out_pods_without_claims = options.leave_out_pods_without_claims,
          .lenient = options.lenient};
}

void ReadObjectsInto(FactSink& sink, std::span<const std::string> inputs,
                     std::istream& standard_input, const ReadClusterOptions& options,
                     Diagnostics& diagnostics, ClusterFacts* facts, const ObjectSink& observer) {
  ClusterFacts own_facts;
  ClusterFacts& found = facts != nullptr ? *facts : own_facts;
  ObjectDecoder decoder(sink, {options.lenient, options.scheduler_names}, diagnostics, found);
  ReadObjects(
      inputs, standard_input,
      [&](const ObjectText& text) {
        if (observer) observer(text);
        decoder.Decode(text, Origin::kWritten);
      },
      diagnostics);
  decoder.Finish();
  WarnOfIgnoredKinds(found, diagnostics);
}

void ReadTextInto(FactSink& sink, std::string_view text, std::string_view file_name,
                  const ReadClusterOptions& options, Diagnostics& diagnostics,
                  ClusterFacts* facts) {
  ClusterFacts own_facts;
  ClusterFacts& found = facts != nullptr ? *facts : own_facts;
  ObjectDecoder decoder(sink, {options.lenient, options.scheduler_names}, diagnostics, found);
  ReadObjectsFromText(
      text, file_name, [&](const ObjectText& object) { decoder.Decode(object, Origin::kWritten); },
      diagnostics);
  decoder.Finish();
  WarnOfIgnoredKinds(found, diagnostics);
}

Cluster ReadCluster(std::span<const std::string> inputs, std::istream& standard_input,
                    const ReadClusterOptions& options, Diagnostics& diagnostics,
                    ClusterFacts* facts) {
  ClusterBuilder builder(BuildOptionsOf(options));
  ReadObjectsInto(builder, inputs, standard_input, options, diagnostics, facts);
  return std::move(builder).Build(diagnostics);
}

Cluster ReadClusterFromText(std::string_view text, std::string_view file_name,
                            const ReadClusterOptions& options, Diagnostics& diagnostics,
                            ClusterFacts* facts) {
  ClusterBuilder builder(BuildOptionsOf(options));
  ReadTextInto(builder, text, file_name, options, diagnostics, facts);
  return std::move(builder).Build(diagnostics);
}

}  // namespace krafla
