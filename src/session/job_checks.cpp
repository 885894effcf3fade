#include "session/job_checks.h"

#include <algorithm>

namespace krafla {

namespace {

int32_t CountOf(const JobRole& role, TaskStatus status) {
  return role.count[static_cast<size_t>(status)];
}

int32_t Placed(const JobRole& role) {
  return CountOf(role, TaskStatus::kAllocated) + CountOf(role, TaskStatus::kBinding) +
         CountOf(role, TaskStatus::kBound) + CountOf(role, TaskStatus::kRunning) +
         CountOf(role, TaskStatus::kSucceeded);
}

template <class Enough>
bool EachRole(const Job& job, Enough&& enough) {
  if (!RoleMinimumsApply(job)) return true;
  return std::all_of(job.roles.begin(), job.roles.end(),
                     [&](const JobRole& role) { return !role.in_min_task_member || enough(role); });
}

}  // namespace

bool RoleMinimumsApply(const Job& job) {
  return job.min_available >= job.min_role_total;
}

bool RolesAreValid(const Job& job) {
  return EachRole(job, [](const JobRole& role) {
    if (role.min_member == 0) return true;
    const int32_t valid =
        Placed(role) + CountOf(role, TaskStatus::kPipelined) + CountOf(role, TaskStatus::kPending);
    return valid > 0 && valid >= role.min_member;
  });
}

bool RolesAreReady(const Job& job) {
  return EachRole(job, [](const JobRole& role) {
    return Placed(role) + role.pending_best_effort >= role.min_member;
  });
}

bool RolesArePipelined(const Job& job) {
  return EachRole(job, [](const JobRole& role) {
    return Placed(role) + CountOf(role, TaskStatus::kPipelined) + role.pending_best_effort >=
           role.min_member;
  });
}

std::vector<int32_t> RoleSurplus(const Job& job) {
  std::vector<int32_t> surplus;
  if (!RoleMinimumsApply(job)) return surplus;
  surplus.reserve(job.roles.size());
  for (const JobRole& role : job.roles) surplus.push_back(Placed(role) - role.min_member);
  return surplus;
}

}  // namespace krafla
