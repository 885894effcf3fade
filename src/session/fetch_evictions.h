// Asking for what a long list of evictions will touch before its turn comes (base/fetch.h says
// why).
#pragma once

#include <span>

#include "base/fetch.h"
#include "model/cluster.h"
#include "session/session.h"

namespace krafla {

// `tasks` are evicted in their order, and the turn has come to tasks[at].
KRAFLA_FETCHES void FetchEvictionsAhead(const Session& session, std::span<const TaskId> tasks,
                                        size_t at) {
  constexpr size_t kStep = 6;  // each is found through what was asked for a step before
  const Cluster& cluster = session.cluster;
  const size_t left = tasks.size() - at;
  if (left > 3 * kStep) Fetch(&cluster.tasks[tasks[at + 3 * kStep]]);
  if (left > 2 * kStep) {
    const Task& task = cluster.tasks[tasks[at + 2 * kStep]];
    if (task.node.valid()) {
      Fetch(&cluster.releasing[task.node]);
      session.kube.FetchNode(task.node);
    }
    if (task.job.valid()) {
      const Job& job = cluster.jobs[task.job];
      Fetch(&job);
      Fetch(&job.roles);
      Fetch(&job.allocated);
    }
  }
  if (left > kStep) {
    const Task& task = cluster.tasks[tasks[at + kStep]];
    if (task.node.valid()) session.kube.FetchPods(task.node);
    if (task.job.valid()) Fetch(&cluster.jobs[task.job].roles[task.role_index]);
  }
}

}  // namespace krafla
