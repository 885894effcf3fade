// Topology-aware preemption asks what a real eviction would have to stand up to (D34).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/cycle.h"

namespace krafla {
namespace {

using testing::Cycle;

constexpr const char* kConfig = R"(
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
configurations:
- name: preempt
  arguments:
    enableTopologyAwarePreemption: true
)";

constexpr const char* kNodeAndQueue = R"(---
{apiVersion: v1, kind: Node, metadata: {name: node},
 status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q},
 spec: {weight: 1}, status: {state: Open}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 1}
)";

struct PodText {
  std::string name;
  std::string priority_class;
  int cpus = 1;
  int host_port = 0;
  bool runs = true;
};

// A pod with a PodGroup of its own.
std::string ToText(const PodText& pod) {
  return fmt::format(
      R"(---
{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {0}, namespace: d}},
 spec: {{minMember: {1}, queue: q, priorityClassName: {2}}}, status: {{phase: {3}}}}}
---
{{apiVersion: v1, kind: Pod,
 metadata: {{name: {0}, namespace: d, uid: u-{0},
  annotations: {{scheduling.k8s.io/group-name: {0}}}}},
 spec: {{schedulerName: volcano, priorityClassName: {2}, {4}
  containers: [{{name: c, ports: [{{containerPort: 80{5}}}],
   resources: {{requests: {{cpu: "{6}"}}}}}}]}},
 status: {{phase: {7}}}}}
)",
      pod.name, pod.runs ? 0 : 1, pod.priority_class, pod.runs ? "Running" : "Inqueue",
      pod.runs ? "nodeName: node," : "",
      pod.host_port > 0 ? fmt::format(", hostPort: {}", pod.host_port) : "", pod.cpus,
      pod.runs ? "Running" : "Pending");
}

std::vector<std::string> EvictionsAmong(const std::vector<PodText>& pods, std::string profile) {
  std::string cluster = kNodeAndQueue;
  for (const PodText& pod : pods) cluster += ToText(pod);
  Cycle cycle({.cluster = cluster, .config = kConfig, .profile = std::move(profile)});
  cycle.Run();
  return cycle.Evictions();
}

using Pods = std::vector<std::string>;

TEST(DryRun, NobodyGoesForAPodWhoseHostPortStaysTaken) {
  const std::vector<PodText> pods = {
      {.name = "keeper", .priority_class = "high", .cpus = 1, .host_port = 8000},
      {.name = "victim", .priority_class = "low", .cpus = 3},
      {.name = "waiting", .priority_class = "high", .cpus = 2, .host_port = 8000, .runs = false}};
  EXPECT_EQ(EvictionsAmong(pods, "krafla"), Pods{});
  EXPECT_EQ(EvictionsAmong(pods, "volcano"), Pods{"d/victim"});
}

TEST(DryRun, WhoHoldsTheHostPortGoesAndNobodyElse) {
  const std::vector<PodText> pods = {
      {.name = "bystander", .priority_class = "low", .cpus = 2},
      {.name = "holder", .priority_class = "low", .cpus = 1, .host_port = 8000},
      {.name = "waiting", .priority_class = "high", .cpus = 1, .host_port = 8000, .runs = false}};
  EXPECT_EQ(EvictionsAmong(pods, "krafla"), Pods{"d/holder"});
  EXPECT_EQ(EvictionsAmong(pods, "volcano"), Pods{});
}

TEST(DryRun, RoomAloneCostsTheSameOnBothSides) {
  const std::vector<PodText> pods = {
      {.name = "large", .priority_class = "low", .cpus = 3},
      {.name = "small", .priority_class = "low", .cpus = 1},
      {.name = "waiting", .priority_class = "high", .cpus = 3, .host_port = 8000, .runs = false}};
  EXPECT_EQ(EvictionsAmong(pods, "krafla"), Pods{"d/large"});
  EXPECT_EQ(EvictionsAmong(pods, "volcano"), Pods{"d/large"});
}

}  // namespace
}  // namespace krafla
