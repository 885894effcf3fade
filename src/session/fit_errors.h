// Why tasks found no node, per task, for conditions and for preempt, which leaves out nodes that
// nothing helps. Not undone by a rollback: it is about what was seen, not about what was decided.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
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
  friend bool operator==(const FitError&, const FitError&) = default;
};

class FitErrors {
 public:
  void Clear();
  void Set(const Cluster& cluster, TaskId task, FitError error);
  const FitError* Find(TaskId task) const;
  // Whether some task of this role in this job has found no node.
  bool RoleFailed(JobId job, uint16_t role) const;
  const std::vector<uint16_t>& FailedRoles(JobId job) const;
  // "0/3 nodes are unavailable: 2 Insufficient cpu, 1 node(s) had untolerated taint."
  static std::string Text(const FitError& error, const ReasonTable& reasons);

 private:
  // Tasks that wait for the same thing mostly come one after the other: what they say is kept once.
  std::deque<FitError> errors_;
  std::vector<uint32_t> error_of_;  // by TaskId: 1 + its place, 0 when there is none
  std::vector<TaskId> tasks_;       // that have had one
  std::vector<std::vector<uint16_t>> failed_roles_;  // by JobId
  std::vector<JobId> failed_jobs_;                   // that have any
};

}  // namespace krafla
