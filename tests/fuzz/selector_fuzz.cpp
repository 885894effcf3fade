// Selectors, affinity, tolerations and spread constraints of a pod, made of the input's bytes, read
// and asked.
#include <cstdint>
#include <string>

#include "manifest/read_cluster.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  static constexpr const char* kFields[] = {"affinity", "nodeSelector", "tolerations",
                                            "topologySpreadConstraints", "volumes"};
  const std::string text =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"a":"1","b":"x"}}})"
      "\n"
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"1"}},"spec":{")" +
      std::string(kFields[data[0] % std::size(kFields)]) + "\":" + bytes + "}}\n";
  krafla::Diagnostics diagnostics;
  krafla::ReadClusterOptions options;
  options.lenient = (data[0] & 0x80) != 0;
  const krafla::Cluster cluster = krafla::ReadClusterFromText(text, "fuzz", options, diagnostics);
  for (const krafla::PodSpec& spec : cluster.specs) {
    for (const auto* terms : {&spec.required_affinity, &spec.required_anti_affinity})
      for (const krafla::PodAffinityTerm& term : *terms)
        for (const krafla::LabelSet& labels : cluster.label_sets)
          (void)krafla::Matches(term.selector, labels);
    for (const krafla::NodeSelectorTerm& term : spec.required_node_terms)
      for (const krafla::Node& node : cluster.nodes)
        (void)krafla::Matches(term, node.labels, node.name, cluster.strings);
  }
  return 0;
}
