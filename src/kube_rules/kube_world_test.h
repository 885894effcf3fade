// Small clusters in few words, for the tests of the rules: objects as JSON fragments, a session
// with the two plugins, and the rules once more by themselves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube_rules/kube_filters.h"
#include "kube_rules/kube_scores.h"
#include "session/session.h"
#include "support/cycle.h"

namespace krafla::testing {

class Objects {
 public:
  // `labels`: "zone: a, disk: ssd". `spec` and `status` are the insides of JSON objects.
  Objects& Node(std::string_view name, std::string_view labels = "", std::string_view spec = "",
                std::string_view status = "") {
    return Add(std::string(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")") +
               std::string(name) + R"(","labels":{)" + Quote(labels) + R"(}},"spec":{)" +
               std::string(spec) + R"(},"status":{)" +
               (status.empty() ? R"("allocatable":{"cpu":"8","memory":"16Gi","pods":"10"})"
                               : std::string(status)) +
               "}}");
  }
  // On `node` and running, or waiting when that is empty. `spec` adds to containers and scheduler
  // name.
  Objects& Pod(std::string_view name, std::string_view labels = "", std::string_view node = "",
               std::string_view spec = "", std::string_view requests = "") {
    return PodIn("default", name, labels, node, spec, requests);
  }
  Objects& PodIn(std::string_view ns, std::string_view name, std::string_view labels,
                 std::string_view node, std::string_view spec, std::string_view requests = "",
                 std::string_view more_metadata = "") {
    std::string text = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" +
                       std::string(name) + R"(","namespace":")" + std::string(ns) +
                       R"(","uid":"uid-)" + std::string(name) + R"(","labels":{)" + Quote(labels) +
                       "}" + std::string(more_metadata) + R"(},"spec":{"schedulerName":"volcano",)";
    if (!node.empty()) text += R"("nodeName":")" + std::string(node) + R"(",)";
    if (!spec.empty()) text += std::string(spec) + ",";
    if (spec.find("\"containers\"") == std::string_view::npos)
      text += R"("containers":[{"name":"c","image":"app:v1","resources":{"requests":{)" +
              Quote(requests) + "}}}]";
    else
      text.pop_back();
    text += R"(},"status":{"phase":")" + std::string(node.empty() ? "Pending" : "Running") + "\"}}";
    return Add(text);
  }
  Objects& Add(std::string_view json) {
    text_ += std::string(json) + "\n";
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  // "a: b, c: d" as "\"a\":\"b\",\"c\":\"d\"".
  static std::string Quote(std::string_view pairs) {
    std::string out;
    while (!pairs.empty()) {
      const size_t comma = pairs.find(", ");
      const std::string_view pair = pairs.substr(0, comma);
      const size_t colon = pair.find(": ");
      if (!out.empty()) out += ",";
      out += "\"" + std::string(pair.substr(0, colon)) + "\":\"" +
             std::string(pair.substr(colon + 2)) + "\"";
      if (comma == std::string_view::npos) break;
      pairs.remove_prefix(comma + 2);
    }
    return out;
  }

  std::string text_;
};

class KubeWorld {
 public:
  explicit KubeWorld(const Objects& objects)
      : cycle_({.cluster = objects.text(),
                .config = "actions: \"allocate\"\n"
                          "tiers:\n- plugins:\n  - name: predicates\n  - name: nodeorder\n"}),
        session(*cycle_.session),
        cluster(cycle_.cluster),
        filters(cluster, session.kube, session.reasons, {}),
        scores(cluster, session.kube, {}) {
    session.kube.EnsureBuilt();
  }

  TaskId Task(std::string_view name) const {
    return cycle_.Find(name.find('/') == std::string_view::npos ? "default/" + std::string(name)
                                                                : std::string(name));
  }
  NodeId Node(std::string_view name) const { return cluster.FindNode(cluster.strings.Find(name)); }
  std::vector<NodeId> Nodes() const { return cluster.nodes_by_name; }

  // The reason, or "" when the filter has nothing against it.
  std::string Says(Filter filter, std::string_view pod, std::string_view node) {
    return Words(filters.ExplainNode(Task(pod), Node(node))[static_cast<size_t>(filter)]);
  }
  // The same after a fresh preparation.
  std::string Asks(Filter filter, std::string_view pod, std::string_view node) {
    filters.ExplainPrepare(Task(pod));
    return Says(filter, pod, node);
  }
  std::string SaysOfPod(Filter filter, std::string_view pod) {
    return Words(filters.ExplainPrepare(Task(pod))[static_cast<size_t>(filter)]);
  }
  std::string Words(Refusal refusal) const { return session.reasons.Text(refusal.reason); }

  // On the nodes in their order.
  std::vector<int64_t> Scores(ScorePart part, std::string_view pod) {
    return scores.Explain(part, Task(pod), Nodes()).value_or(std::vector<int64_t>{});
  }

 private:
  Cycle cycle_;

 public:
  Session& session;
  Cluster& cluster;
  KubeFilters filters;
  KubeScores scores;
};

}  // namespace krafla::testing
