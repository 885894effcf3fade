// How a cluster is read:
//   1. The stream gives one object after the other as JSON text, whatever file and notation it was
//      in.
//   2. The decoder checks it and hands its facts to the builder.
//   3. The builder puts the facts together and warns about references that lead nowhere.
#include "manifest/read_cluster.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "cluster_state/cluster_builder.h"
#include "manifest/first_places.h"

namespace krafla {

namespace {

void WarnOfIgnoredKinds(const ClusterFacts& facts, Diagnostics& diagnostics) {
  if (facts.ignored_kinds.empty()) return;
  std::string kinds;
  for (const auto& [kind, count] : facts.ignored_kinds)
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, Printable(kind));
  diagnostics.Warning({}, {}, fmt::format("kinds that are not used: {}", kinds));
}

DecodeOptions DecodeOptionsOf(const ReadClusterOptions& options) {
  return {.lenient = options.lenient,
          .scheduler_names = options.scheduler_names,
          .finds_odd_words = options.finds_odd_words};
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
  Diagnostics problems;
  ObjectDecoder decoder(sink, DecodeOptionsOf(options), problems, found);
  ReadObjects(
      inputs, standard_input,
      [&](const ObjectText& text) {
        if (observer) observer(text);
        decoder.Decode(text, Origin::kWritten);
      },
      problems);
  decoder.Finish();
  const auto read_again = [&](const ObjectSink& look, Diagnostics& said_before) {
    std::vector<std::string> files;  // standard input cannot be had again
    std::ranges::copy_if(inputs, std::back_inserter(files),
                         [](const std::string& input) { return input != "-"; });
    ReadObjects(files, standard_input, look, said_before);
  };
  AddWithFirstPlaces(problems, read_again, diagnostics);
  WarnOfIgnoredKinds(found, diagnostics);
}

void ReadTextInto(FactSink& sink, std::string_view text, std::string_view file_name,
                  const ReadClusterOptions& options, Diagnostics& diagnostics,
                  ClusterFacts* facts) {
  ClusterFacts own_facts;
  ClusterFacts& found = facts != nullptr ? *facts : own_facts;
  Diagnostics problems;
  ObjectDecoder decoder(sink, DecodeOptionsOf(options), problems, found);
  ReadObjectsFromText(
      text, file_name, [&](const ObjectText& object) { decoder.Decode(object, Origin::kWritten); },
      problems);
  decoder.Finish();
  const auto read_again = [&](const ObjectSink& look, Diagnostics& said_before) {
    ReadObjectsFromText(text, file_name, look, said_before);
  };
  AddWithFirstPlaces(problems, read_again, diagnostics);
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
