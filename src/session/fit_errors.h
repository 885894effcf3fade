// Why tasks found no node, per task, for conditions and for preempt, which leaves out nodes that
// nothing helps. Not undone by a rollback: it is about what was seen, not about what was decided.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"
#include "session/refusal.h"

namespace krafla {

struct FitError {
  std::string message;  // set when no node was looked at; else the histogram tells
  // How many nodes gave each reason.
  std::vector<std::pair<ReasonCode, int>> reasons;
  int nodes = 0;
  // By position in nodes_by_name: refused in a way evictions cannot help. Null when there is none.
  std::shared_ptr<const std::vector<bool>> unresolvable;
};

class FitErrors {
 public:
  void Clear() {
    by_task_.clear();
    failed_roles_.clear();
  }
  void Set(const Cluster& cluster, TaskId task, FitError error);
  const FitError* Find(TaskId task) const;
  // Whether some task of this role in this job has found no node.
  bool RoleFailed(JobId job, uint16_t role) const;
  const std::vector<uint16_t>& FailedRoles(JobId job) const;
  // "0/3 nodes are unavailable: 2 Insufficient cpu, 1 node(s) had untolerated taint."
  static std::string Text(const FitError& error, const ReasonTable& reasons);

 private:
  std::unordered_map<TaskId, FitError> by_task_;
  std::unordered_map<JobId, std::vector<uint16_t>> failed_roles_;
};

}  // namespace krafla
