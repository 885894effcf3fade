#include "cluster_state/derive_sums.h"

namespace krafla {

void DeriveTotal(Cluster& cluster) {
  cluster.total = {};
  for (const NodeId id : cluster.nodes_by_name) cluster.total.Add(cluster.allocatable[id]);
}

void DeriveNodeSums(Cluster& cluster, NodeId id) {
  Resource& idle = cluster.idle[id];
  Resource& used = cluster.used[id];
  idle = cluster.allocatable[id];
  used = {};
  cluster.releasing[id] = {};
  cluster.pipelined[id] = {};
  for (const TaskId task : cluster.nodes[id].tasks) {
    const Resource& request = cluster.Request(task);
    if (cluster.tasks[task].status == TaskStatus::kPipelined) {
      cluster.pipelined[id].Add(request);
      continue;
    }
    idle.Sub(request);  // negative when the node holds more than it has
    used.Add(request);
    if (cluster.tasks[task].status == TaskStatus::kReleasing) cluster.releasing[id].Add(request);
  }
}

void DeriveJobSums(Cluster& cluster, JobId job_id) {
  Job& job = cluster.jobs[job_id];
  job.count = {};
  job.pending_best_effort = 0;
  job.releasing_on_node = 0;
  job.allocated = {};
  job.total_request = {};
  for (JobRole& role : job.roles) {
    role.count = {};
    role.pending_best_effort = 0;
  }
  for (const TaskId id : job.tasks) {
    const Task& task = cluster.tasks[id];
    JobRole& role = job.roles[task.role_index];
    ++job.count[static_cast<size_t>(task.status)];
    ++role.count[static_cast<size_t>(task.status)];
    if (task.status == TaskStatus::kPending && task.best_effort) {
      ++job.pending_best_effort;
      ++role.pending_best_effort;
    }
    if (task.status == TaskStatus::kReleasing && task.node_name != kEmptyStr)
      ++job.releasing_on_node;
    const Resource& request = cluster.Request(id);
    job.total_request.Add(request);
    if (IsAllocatedStatus(task.status)) job.allocated.Add(request);
  }
}

void DeriveSums(Cluster& cluster) {
  const size_t count = cluster.nodes.size();
  cluster.idle.Reset(count);
  cluster.used.Reset(count);
  cluster.releasing.Reset(count);
  cluster.pipelined.Reset(count);
  for (const NodeId id : cluster.nodes_by_name) DeriveNodeSums(cluster, id);
  for (const JobId id : cluster.jobs_by_name) DeriveJobSums(cluster, id);
  DeriveTotal(cluster);
}

}  // namespace krafla
