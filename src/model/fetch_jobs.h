// Asking for jobs and their tasks before their turn comes (base/fetch.h says why).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/fetch.h"
#include "model/cluster.h"

namespace krafla {

// For whoever goes through jobs and the tasks of those that wait for something: the turn has come
// to jobs[at]. Each thing is found through what was asked for some steps before.
KRAFLA_FETCHES void FetchWaitingJobsAhead(const Cluster& cluster, std::span<const JobId> jobs,
                                          size_t at) {
  constexpr size_t kJobsAt = 6;
  constexpr size_t kListsAt = 4;
  constexpr size_t kTasksAt = 2;
  constexpr size_t kMostTasks = 16;
  const size_t left = jobs.size() - at;
  if (left > kJobsAt) {
    const Job& job = cluster.jobs[jobs[at + kJobsAt]];
    Fetch(&job);
    Fetch(&job.tasks);
  }
  if (left > kListsAt) {
    const Job& job = cluster.jobs[jobs[at + kListsAt]];
    Fetch(job.tasks.data());
    Fetch(job.roles.data());
  }
  if (left > kTasksAt) {
    const Job& job = cluster.jobs[jobs[at + kTasksAt]];
    if (job.Count(TaskStatus::kPending) > 0)
      for (size_t i = 0; i < std::min(job.tasks.size(), kMostTasks); ++i)
        Fetch(&cluster.tasks[job.tasks[i]]);
  }
}

}  // namespace krafla
