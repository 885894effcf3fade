#include "explain/cluster_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace krafla {

namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

// Label sets are sorted by their keys' ids.
LabelSet WithoutHostname(const Cluster& cluster, LabelSet labels) {
  const StrId hostname = cluster.strings.Find(kHostname);
  std::erase_if(labels, [&](const auto& label) { return label.first == hostname; });
  return labels;
}

}  // namespace

void SetJobPriority(Cluster& cluster, JobId id, int32_t priority) {
  Job& job = cluster.jobs[id];
  job.priority = priority;
  for (TaskId task : job.tasks) {
    Task& t = cluster.tasks[task];
    // A task's own priority within its job may come from an annotation; then it stays.
    if (t.priority == t.pod_priority) t.priority = priority;
    t.pod_priority = priority;
  }
}

void OpenZonesTo(Cluster& cluster, JobId id) {
  // Pods of one class have the same zones and, if they may go to any, the same declared run time:
  // these become classes of their own.
  std::map<std::pair<ClassId, int64_t>, ClassId> class_of;
  for (TaskId task : cluster.jobs[id].tasks) {
    Task& t = cluster.tasks[task];
    auto [it, is_new] = class_of.try_emplace({t.cls, t.run_time_ns});
    if (is_new) it->second = cluster.classes.Add(TaskClass(cluster.classes[t.cls]));
    t.cls = it->second;
    t.zones = {.annotated = true, .all = true};
  }
}

bool AreAlike(const Cluster& cluster, NodeId l, NodeId r) {
  const Node& left = cluster.nodes[l];
  const Node& right = cluster.nodes[r];
  return left.zone == right.zone && left.unschedulable == right.unschedulable &&
         left.max_pods == right.max_pods && left.taints == right.taints &&
         cluster.allocatable[l].SameAs(cluster.allocatable[r]) &&
         WithoutHostname(cluster, left.labels) == WithoutHostname(cluster, right.labels);
}

std::string AddNodeLike(Cluster& cluster, NodeId model) {
  std::string name = fmt::format("another-{}", cluster.NodeName(model));
  while (cluster.FindNode(cluster.strings.Intern(name)).valid()) name = "another-" + name;
  Node node = cluster.nodes[model];
  node.name = cluster.strings.Intern(name);
  node.tasks.clear();
  const StrId hostname = cluster.strings.Find(kHostname);
  for (auto& [key, value] : node.labels)
    if (key == hostname) value = node.name;
  for (NodeImage& image : node.images) image.nodes_with_it += 1;
  const NodeId id = cluster.nodes.Add(std::move(node));
  const Resource amounts = cluster.allocatable[model];
  cluster.allocatable.Add(amounts);
  cluster.idle.Add(amounts);
  cluster.used.Add(Resource());
  cluster.releasing.Add(Resource());
  cluster.pipelined.Add(Resource());
  cluster.total.Add(amounts);
  const auto at = std::lower_bound(
      cluster.nodes_by_name.begin(), cluster.nodes_by_name.end(), id,
      [&](NodeId a, NodeId b) { return cluster.NodeName(a) < cluster.NodeName(b); });
  cluster.nodes_by_name.insert(at, id);
  return name;
}

}  // namespace krafla
