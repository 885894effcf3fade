#include "model/cluster.h"

#include <algorithm>

namespace krafla {

std::string_view ToString(TaskStatus status) {
  static constexpr std::string_view kNames[kTaskStatusCount] = {
      "Pending", "Allocated", "Pipelined", "Binding", "Bound",
      "Running", "Releasing", "Succeeded", "Failed",  "Unknown"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view ToString(JobPhase phase) {
  static constexpr std::string_view kNames[] = {"Pending", "Inqueue", "Running", "Unknown",
                                                "Completed"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view ToString(QueueState state) {
  static constexpr std::string_view kNames[] = {"Open", "Closed", "Closing", "Unknown"};
  return kNames[static_cast<size_t>(state)];
}

namespace {

std::string Key(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + 1 + name.size());
  key.append(ns).append("/").append(name);
  return key;
}

}  // namespace

std::string Cluster::TaskKey(TaskId id) const {
  return Key(Text(tasks[id].ns), Text(tasks[id].name));
}

std::string Cluster::JobKey(JobId id) const {
  return Key(Text(jobs[id].ns), Text(jobs[id].name));
}

QueueId Cluster::FindQueue(std::string_view name) const {
  auto it = std::lower_bound(queues_by_name.begin(), queues_by_name.end(), name,
                             [&](QueueId q, std::string_view n) { return QueueName(q) < n; });
  return it != queues_by_name.end() && QueueName(*it) == name ? *it : QueueId{};
}

NodeId Cluster::FindNode(StrId name) const {
  const std::string_view text = Text(name);
  auto it = std::lower_bound(nodes_by_name.begin(), nodes_by_name.end(), text,
                             [&](NodeId n, std::string_view t) { return NodeName(n) < t; });
  return it != nodes_by_name.end() && nodes[*it].name == name ? *it : NodeId{};
}

bool Cluster::TaskNameLess(TaskId a, TaskId b) const {
  const Task& left = tasks[a];
  const Task& right = tasks[b];
  // "ns/name" as one key: '/' sorts after '-' and '.', so namespaces are compared with their slash.
  if (left.ns != right.ns) return TaskKey(a) < TaskKey(b);
  return Text(left.name) < Text(right.name);
}

bool Cluster::JobNameLess(JobId a, JobId b) const {
  const Job& left = jobs[a];
  const Job& right = jobs[b];
  if (left.ns != right.ns) return JobKey(a) < JobKey(b);
  return Text(left.name) < Text(right.name);
}

}  // namespace krafla
