// Short manifests for tests of what is read from them.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "manifest/read_cluster.h"

namespace krafla::testing {

struct ReadResult {
  Cluster cluster;
  Diagnostics diagnostics;
  ClusterFacts facts;

  // All messages, one per line.
  std::string Messages() const {
    std::string text;
    for (const Diagnostic& item : diagnostics.items()) text += ToString(item) + "\n";
    return text;
  }
  TaskId FindTask(std::string_view key) const {
    for (uint32_t i = 0; i < cluster.tasks.size(); ++i)
      if (cluster.TaskKey(TaskId(i)) == key) return TaskId(i);
    return {};
  }
  const Task& TaskOf(std::string_view key) const {
    const TaskId id = FindTask(key);
    KRAFLA_CHECK(id.valid(), std::string(key));
    return cluster.tasks[id];
  }
  const PodSpec& SpecOf(std::string_view key) const { return cluster.specs[TaskOf(key).spec]; }
  const Resource& RequestOf(std::string_view key) const { return cluster.Request(FindTask(key)); }
  const Job& JobOf(std::string_view key) const {
    for (const JobId id : cluster.jobs_by_name)
      if (cluster.JobKey(id) == key) return cluster.jobs[id];
    KRAFLA_CHECK(false, std::string(key));
    __builtin_unreachable();
  }
  NodeId FindNode(std::string_view name) const {
    return cluster.FindNode(cluster.strings.Find(name));
  }
  const Node& NodeOf(std::string_view name) const { return cluster.nodes[FindNode(name)]; }
  const Queue& QueueOf(std::string_view name) const {
    return cluster.queues[cluster.FindQueue(name)];
  }
  std::string Text(StrId id) const { return std::string(cluster.Text(id)); }
  double Amount(const Resource& resource, std::string_view kind) const {
    return resource.Get(cluster.kinds.Find(kind));
  }
};

inline ReadResult ReadText(const std::string& text, const ReadClusterOptions& options = {}) {
  ReadResult result;
  result.cluster =
      ReadClusterFromText(text, "test.yaml", options, result.diagnostics, &result.facts);
  return result;
}

// Nothing may be wrong, and nothing be remarked upon.
inline ReadResult ReadClean(const std::string& text, const ReadClusterOptions& options = {}) {
  ReadResult result = ReadText(text, options);
  EXPECT_EQ(result.Messages(), "");
  return result;
}

// One object in flow style. `meta` and `body` are further entries, each ending without a comma.
inline std::string Object(std::string_view api_version, std::string_view kind,
                          std::string_view name, std::string_view meta, std::string_view body) {
  return fmt::format("---\n{{apiVersion: {}, kind: {}, metadata: {{name: {}{}{}}}{}{}}}\n",
                     api_version, kind, name, meta.empty() ? "" : ", ", meta,
                     body.empty() ? "" : ", ", body);
}

// A pod of our scheduler in the PodGroup "pg", with a UID.
inline std::string Pod(std::string_view name, std::string_view spec = "",
                       std::string_view status = "phase: Pending", std::string_view meta = "",
                       std::string_view annotations = "") {
  return Object(
      "v1", "Pod", name,
      fmt::format("uid: uid-{}, annotations: {{scheduling.k8s.io/group-name: pg{}{}}}{}{}", name,
                  annotations.empty() ? "" : ", ", annotations, meta.empty() ? "" : ", ", meta),
      fmt::format("spec: {{schedulerName: volcano{}{}}}, status: {{{}}}", spec.empty() ? "" : ", ",
                  spec, status));
}

inline std::string Node(std::string_view name, std::string_view amounts = "cpu: 8, memory: 16Gi",
                        std::string_view meta = "", std::string_view spec = "") {
  return Object("v1", "Node", name, meta,
                fmt::format("spec: {{{}}}, status: {{allocatable: {{{}}}}}", spec, amounts));
}

inline std::string PodGroup(std::string_view name, std::string_view spec = "minMember: 1",
                            std::string_view meta = "", std::string_view status = "") {
  return Object("scheduling.volcano.sh/v1beta1", "PodGroup", name, meta,
                fmt::format("spec: {{{}}}, status: {{{}}}", spec, status));
}

inline std::string Queue(std::string_view name, std::string_view spec = "",
                         std::string_view meta = "", std::string_view status = "") {
  return Object("scheduling.volcano.sh/v1beta1", "Queue", name, meta,
                fmt::format("spec: {{{}}}, status: {{{}}}", spec, status));
}

// What most tests need beside their pods.
inline std::string Frame() {
  return Queue("default") + PodGroup("pg") + Node("n1") + Node("n2");
}

}  // namespace krafla::testing
