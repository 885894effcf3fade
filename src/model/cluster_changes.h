// What has changed in a cluster's tables between two cycles, for whoever keeps something that was
// computed from them (a session that is opened again). Rows are named as they are now.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace krafla {

struct ClusterChanges {
  // Built anew: every row may be another one, nothing that was kept is good any more. The rest is
  // empty then.
  bool rebuilt = false;

  std::vector<NodeId> nodes;       // pods or amounts, or the numbers of its pods' rows; each once
  std::vector<NodeId> node_facts;  // labels, taints, what it has …; these are among `nodes` too

  // Jobs that came and went, in order. Tables stay dense: the last row moves into the gap.
  struct JobStep {
    enum class Kind : uint8_t { kAdded, kRemoved };
    Kind kind;
    JobId job;
  };
  std::vector<JobStep> job_steps;
  std::vector<JobId> jobs;  // new, changed or moved, of those that are there; sorted, each once
};

// Lets a column by job follow; `removed` is told each value before it goes.
template <class T, class Removed>
void FollowJobs(const ClusterChanges& changes, Table<JobId, T>& column, Removed&& removed) {
  for (const ClusterChanges::JobStep& step : changes.job_steps) {
    if (step.kind == ClusterChanges::JobStep::Kind::kAdded) {
      column.Add(T{});
      continue;
    }
    removed(column[step.job]);
    if (step.job.value + 1 != column.size()) column[step.job] = std::move(column.raw().back());
    column.raw().pop_back();
  }
}

template <class T>
void FollowJobs(const ClusterChanges& changes, Table<JobId, T>& column) {
  FollowJobs(changes, column, [](const T&) {});
}

}  // namespace krafla
