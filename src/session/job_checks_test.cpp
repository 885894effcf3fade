#include "session/job_checks.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

JobRole Role(int32_t min_member, std::initializer_list<std::pair<TaskStatus, int32_t>> counts) {
  JobRole role;
  role.min_member = min_member;
  role.in_min_task_member = true;
  for (const auto& [status, count] : counts) role.count[static_cast<size_t>(status)] = count;
  return role;
}

Job JobOf(int32_t min_available, std::vector<JobRole> roles) {
  Job job;
  job.min_available = min_available;
  for (const JobRole& role : roles) job.min_role_total += role.min_member;
  job.roles = std::move(roles);
  return job;
}

using enum TaskStatus;

TEST(JobChecks, EachRoleNeedsItsMinimum) {
  const Job job = JobOf(3, {Role(1, {{kRunning, 1}}), Role(2, {{kRunning, 1}, {kPending, 1}})});
  EXPECT_TRUE(RolesAreValid(job));
  EXPECT_FALSE(RolesAreReady(job));
  EXPECT_FALSE(RolesArePipelined(job));
}

TEST(JobChecks, ASmallerMinAvailableSwitchesRoleMinimumsOff) {
  const Job job = JobOf(2, {Role(1, {}), Role(2, {{kPending, 2}})});
  EXPECT_FALSE(RoleMinimumsApply(job));
  EXPECT_TRUE(RolesAreValid(job));
  EXPECT_TRUE(RolesAreReady(job));
  EXPECT_TRUE(RolesArePipelined(job));
  EXPECT_TRUE(RoleSurplus(job).empty());
}

TEST(JobChecks, ARoleWithoutTasksIsInvalid) {
  EXPECT_FALSE(RolesAreValid(JobOf(3, {Role(1, {}), Role(2, {{kPending, 2}})})));
  EXPECT_TRUE(RolesAreValid(JobOf(3, {Role(0, {}), Role(2, {{kPending, 3}})})));
}

TEST(JobChecks, FailedAndEndingTasksDoNotCount) {
  EXPECT_FALSE(RolesAreValid(JobOf(2, {Role(2, {{kRunning, 1}, {kFailed, 1}})})));
  EXPECT_FALSE(RolesAreValid(JobOf(2, {Role(2, {{kRunning, 1}, {kReleasing, 1}})})));
  EXPECT_TRUE(RolesAreReady(JobOf(2, {Role(2, {{kRunning, 1}, {kSucceeded, 1}})})));
}

TEST(JobChecks, PipelinedTasksCountOnlyWhereWaitingDoes) {
  const Job job = JobOf(2, {Role(2, {{kBound, 1}, {kPipelined, 1}})});
  EXPECT_TRUE(RolesAreValid(job));
  EXPECT_FALSE(RolesAreReady(job));
  EXPECT_TRUE(RolesArePipelined(job));
}

TEST(JobChecks, BestEffortTasksNeedNoPlace) {
  Job job = JobOf(2, {Role(2, {{kAllocated, 1}, {kPending, 1}})});
  EXPECT_FALSE(RolesAreReady(job));
  job.roles[0].pending_best_effort = 1;
  EXPECT_TRUE(RolesAreReady(job));
  EXPECT_TRUE(RolesArePipelined(job));
}

TEST(JobChecks, RolesNotNamedHaveNoMinimum) {
  Job job = JobOf(1, {Role(1, {{kRunning, 1}})});
  job.roles.push_back({});
  EXPECT_TRUE(RolesAreValid(job));
  EXPECT_TRUE(RolesAreReady(job));
}

TEST(JobChecks, SurplusIsWhatARoleHasAboveItsMinimum) {
  const Job job =
      JobOf(4, {Role(1, {{kRunning, 1}}), Role(2, {{kRunning, 3}, {kBound, 1}, {kPending, 2}}),
                Role(1, {{kReleasing, 1}})});
  EXPECT_EQ(RoleSurplus(job), (std::vector<int32_t>{0, 2, -1}));
}

}  // namespace
}  // namespace krafla
