// Asking for the tasks on nodes before their turn comes (base/fetch.h says why).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/fetch.h"
#include "model/cluster.h"

namespace krafla {

// The lists of tasks on nodes, so that they are there `kListsAt` nodes before their turn; it has
// come to node(at). Each thing is found through what was asked for a step before.
template <size_t kListsAt, class NodeAt>
KRAFLA_FETCHES void FetchListsAhead(const Cluster& cluster, size_t nodes, size_t at,
                                    NodeAt&& node) {
  constexpr size_t kNodesAt = kListsAt + 2;
  if (at + kNodesAt < nodes) Fetch(&cluster.nodes[node(at + kNodesAt)].tasks);
  if (at + kListsAt < nodes) Fetch(cluster.nodes[node(at + kListsAt)].tasks.data());
}

// What is free on a node, and will be.
KRAFLA_FETCHES void FetchFutureIdle(const Cluster& cluster, NodeId node) {
  for (const auto* amounts : {&cluster.idle, &cluster.releasing, &cluster.pipelined})
    Fetch(&(*amounts)[node]);
}

// For whoever goes through nodes and the tasks on them: the turn has come to node(at). `kJobs`:
// also the jobs of these tasks.
template <bool kJobs = false, class NodeAt>
KRAFLA_FETCHES void FetchTasksAhead(const Cluster& cluster, size_t nodes, size_t at,
                                    NodeAt&& node) {
  constexpr size_t kJobsAt = 1;
  constexpr size_t kTasksAt = kJobs ? 3 : 2;
  FetchListsAhead<kTasksAt + 2>(cluster, nodes, at, node);
  if (at + kTasksAt < nodes)
    for (const TaskId id : cluster.nodes[node(at + kTasksAt)].tasks) Fetch(&cluster.tasks[id]);
  if (kJobs && at + kJobsAt < nodes)
    for (const TaskId id : cluster.nodes[node(at + kJobsAt)].tasks)
      if (const JobId job = cluster.tasks[id].job; job.valid()) Fetch(&cluster.jobs[job]);
}

// For whoever looks at the tasks of one node and at their jobs: all are asked for at once.
KRAFLA_FETCHES void FetchTasksAndJobs(const Cluster& cluster, std::span<const TaskId> tasks) {
  for (const TaskId id : tasks) Fetch(&cluster.tasks[id]);
  for (const TaskId id : tasks)
    if (const JobId job = cluster.tasks[id].job; job.valid()) Fetch(&cluster.jobs[job]);
}

// Calls f(task, node) for each of a job's tasks that is on a node, until f says false; then so does
// this. Tasks are asked for some steps ahead.
template <class F>
bool ForEachTaskOnANode(const Cluster& cluster, JobId job, F&& f) {
  constexpr size_t kAhead = 16;
  const std::vector<TaskId>& tasks = cluster.jobs[job].tasks;
  for (size_t i = 0; i < std::min(kAhead, tasks.size()); ++i) Fetch(&cluster.tasks[tasks[i]].node);
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (i + kAhead < tasks.size()) Fetch(&cluster.tasks[tasks[i + kAhead]].node);
    const NodeId node = cluster.tasks[tasks[i]].node;
    if (node.valid() && !f(tasks[i], node)) return false;
  }
  return true;
}

}  // namespace krafla
