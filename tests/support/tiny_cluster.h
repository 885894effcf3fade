// Manifests for tests about one decision: each function returns one YAML document, named options
// say what matters, and everything else has a sensible default. Amounts are text: "cpu 4, memory
// 8Gi".
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krafla::testing {

using Texts = std::map<std::string, std::string>;

namespace tiny {

inline std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

inline std::string Map(const Texts& texts) {
  std::string map = "{";
  for (const auto& [key, value] : texts)
    map += (map.size() > 1 ? ", " : "") + Quote(key) + ": " + Quote(value);
  return map + "}";
}

// "cpu 4, memory 8Gi" -> {"cpu": "4", "memory": "8Gi"}
inline std::string Amounts(std::string_view text) {
  Texts amounts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    while (item.starts_with(' ')) item.remove_prefix(1);
    const size_t space = item.find(' ');
    amounts[std::string(item.substr(0, space))] = std::string(item.substr(space + 1));
  }
  return Map(amounts);
}

inline std::string Document(std::string_view api_version, std::string_view kind,
                            std::string_view rest) {
  return "---\napiVersion: " + std::string(api_version) + "\nkind: " + std::string(kind) + "\n" +
         std::string(rest);
}

}  // namespace tiny

struct NodeOptions {
  std::string name = "n1";
  std::string has = "cpu 4, memory 64Gi, pods 110";
  std::string zone;  // volcano.sh/revocable-zone
  Texts labels;
};

inline std::string NodeYaml(NodeOptions o = {}) {
  if (!o.zone.empty()) o.labels["volcano.sh/revocable-zone"] = o.zone;
  o.labels.try_emplace("kubernetes.io/hostname", o.name);
  return tiny::Document("v1", "Node",
                        "metadata: {name: " + o.name + ", labels: " + tiny::Map(o.labels) +
                            "}\nstatus: {allocatable: " + tiny::Amounts(o.has) + "}\n");
}

struct QueueOptions {
  std::string name = "default";
  int weight = 1;
  std::string state = "Open";
  std::string capability;
};

inline std::string QueueYaml(const QueueOptions& o = {}) {
  std::string spec = "{weight: " + std::to_string(o.weight);
  if (!o.capability.empty()) spec += ", capability: " + tiny::Amounts(o.capability);
  return tiny::Document(
      "scheduling.volcano.sh/v1beta1", "Queue",
      "metadata: {name: " + o.name + "}\nspec: " + spec + "}\nstatus: {state: " + o.state + "}\n");
}

// Priorities by name: low 1, mid 50, high 100.
inline std::string PriorityClassesYaml() {
  std::string text;
  for (const auto& [name, value] : Texts{{"low", "1"}, {"mid", "50"}, {"high", "100"}})
    text += tiny::Document("scheduling.k8s.io/v1", "PriorityClass",
                           "metadata: {name: " + name + "}\nvalue: " + value + "\n");
  return text;
}

struct PodGroupOptions {
  std::string name = "job";
  std::string ns = "default";
  std::string queue = "default";
  int min_member = 1;
  std::string priority;  // name of a class
  std::string phase = "Inqueue";
  Texts annotations;
};

inline std::string PodGroupYaml(const PodGroupOptions& o = {}) {
  std::string spec = "{queue: " + o.queue + ", minMember: " + std::to_string(o.min_member);
  if (!o.priority.empty()) spec += ", priorityClassName: " + o.priority;
  return tiny::Document("scheduling.volcano.sh/v1beta1", "PodGroup",
                        "metadata: {name: " + o.name + ", namespace: " + o.ns +
                            ", annotations: " + tiny::Map(o.annotations) + "}\nspec: " + spec +
                            "}\nstatus: {phase: " + o.phase + "}\n");
}

struct PodOptions {
  std::string name = "job-0";
  std::string group = "job";
  std::string ns = "default";
  std::string node;   // empty: waits for one
  std::string phase;  // empty: Running on a node, Pending without
  std::string asks = "cpu 1, memory 1Gi";
  std::string role;
  std::string priority;  // name of a class
  std::string scheduled_at;
  Texts labels;
  Texts annotations;
  std::string spec;       // further fields, as lines of YAML
  std::string container;  // further fields of the container, in flow style: "ports: [...]"
};

inline std::string PodYaml(PodOptions o = {}) {
  if (!o.group.empty()) o.annotations["scheduling.k8s.io/group-name"] = o.group;
  if (!o.role.empty()) o.annotations["volcano.sh/task-spec"] = o.role;
  if (o.phase.empty()) o.phase = o.node.empty() ? "Pending" : "Running";
  std::string text = "metadata:\n  name: " + o.name + "\n  namespace: " + o.ns +
                     "\n  labels: " + tiny::Map(o.labels) +
                     "\n  annotations: " + tiny::Map(o.annotations) +
                     "\nspec:\n  schedulerName: volcano\n";
  if (!o.node.empty()) text += "  nodeName: " + o.node + "\n";
  if (!o.priority.empty()) text += "  priorityClassName: " + o.priority + "\n";
  text += "  containers:\n  - {name: main, resources: {requests: " + tiny::Amounts(o.asks) + "}" +
          (o.container.empty() ? "" : ", " + o.container) + "}\n";
  for (size_t begin = 0; begin < o.spec.size();) {
    const size_t end = std::min(o.spec.find('\n', begin), o.spec.size());
    text += "  " + o.spec.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  text += "status:\n  phase: " + o.phase + "\n";
  if (!o.scheduled_at.empty())
    text += "  conditions:\n  - {type: PodScheduled, status: \"True\", lastTransitionTime: \"" +
            o.scheduled_at + "\"}\n";
  return tiny::Document("v1", "Pod", text);
}

struct PodBudgetOptions {
  std::string name = "budget";
  std::string ns = "default";
  Texts selects;
  int allows = 0;
};

inline std::string PodBudgetYaml(const PodBudgetOptions& o) {
  return tiny::Document("policy/v1", "PodDisruptionBudget",
                        "metadata: {name: " + o.name + ", namespace: " + o.ns +
                            "}\nspec: {selector: {matchLabels: " + tiny::Map(o.selects) +
                            "}}\nstatus: {disruptionsAllowed: " + std::to_string(o.allows) + "}\n");
}

struct ConfigOptions {
  std::string actions = "preempt";
  std::vector<std::string> tiers;  // names of plugins, separated by blanks
  Texts tdm;                       // arguments of tdm
};

inline std::string ConfigYaml(const ConfigOptions& o) {
  std::string text = "actions: " + tiny::Quote(o.actions) + "\ntiers:\n";
  for (const std::string& tier : o.tiers) {
    text += "- plugins:\n";
    for (size_t begin = 0; begin < tier.size();) {
      const size_t end = std::min(tier.find(' ', begin), tier.size());
      const std::string name = tier.substr(begin, end - begin);
      text += "  - name: " + name + "\n";
      if (name == "tdm") text += "    arguments: " + tiny::Map(o.tdm) + "\n";
      begin = end + 1;
    }
  }
  return text;
}

}  // namespace krafla::testing
