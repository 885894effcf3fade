#include "session/fit_errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace krafla {

void FitErrors::Clear() {
  for (const TaskId task : tasks_) error_of_[task.value] = 0;
  tasks_.clear();
  errors_.clear();
  for (const JobId job : failed_jobs_) failed_roles_[job.value].clear();
  failed_jobs_.clear();
}

void FitErrors::Set(const Cluster& cluster, TaskId task, FitError error) {
  if (error_of_.size() < cluster.tasks.size()) error_of_.resize(cluster.tasks.size(), 0);
  if (errors_.empty() || errors_.back() != error) errors_.push_back(std::move(error));
  uint32_t& place = error_of_[task.value];
  if (place == 0) tasks_.push_back(task);
  place = static_cast<uint32_t>(errors_.size());
  const Task& t = cluster.tasks[task];
  if (!t.job.valid()) return;
  if (failed_roles_.size() < cluster.jobs.size()) failed_roles_.resize(cluster.jobs.size());
  std::vector<uint16_t>& roles = failed_roles_[t.job.value];
  if (roles.empty()) failed_jobs_.push_back(t.job);
  if (std::find(roles.begin(), roles.end(), t.role_index) == roles.end())
    roles.push_back(t.role_index);
}

const FitError* FitErrors::Find(TaskId task) const {
  if (task.value >= error_of_.size() || error_of_[task.value] == 0) return nullptr;
  return &errors_[error_of_[task.value] - 1];
}

const std::vector<uint16_t>& FitErrors::FailedRoles(JobId job) const {
  static const std::vector<uint16_t> kNone;
  return job.value < failed_roles_.size() ? failed_roles_[job.value] : kNone;
}

bool FitErrors::RoleFailed(JobId job, uint16_t role) const {
  const std::vector<uint16_t>& roles = FailedRoles(job);
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

std::string FitErrors::Text(const FitError& error, const ReasonTable& reasons) {
  std::string text = error.message.empty() ? fmt::format("0/{} nodes are unavailable", error.nodes)
                                           : error.message;
  if (error.reasons.empty()) return text;
  std::vector<std::string> parts;
  for (const auto& [code, count] : error.reasons)
    parts.push_back(fmt::format("{} {}", count, reasons.Text(code)));
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}: {}.", text, fmt::join(parts, ", "));
}

}  // namespace krafla
