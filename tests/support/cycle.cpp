#include "support/cycle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/plan_json.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"

namespace krafla::testing {

Cycle::Cycle(const CycleInput& input) : log_(input.verbosity) {
  log_.CaptureTo(&log_text);
  Diagnostics diagnostics;
  config = ReadSchedulerConfig(
      input.config, BuiltInVocabulary(),
      {.file_name = "config", .lenient = input.lenient, .profile = input.profile}, diagnostics);
  ReadClusterOptions read;
  read.lenient = input.lenient;
  read.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  read.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  cluster = ReadClusterFromText(input.cluster, "cluster", read, diagnostics);
  for (const Diagnostic& d : diagnostics.items())
    if (d.severity == Severity::kError) ADD_FAILURE() << ToString(d);
  SessionOptions options;
  const Result<ZonedTimestamp> now = ParseRfc3339(input.now);
  if (!now) {
    ADD_FAILURE() << now.error().message;
  } else {
    options.now = now->time;
    options.zone = FixedOffset(now->offset_seconds);
  }
  options.memory = &memory;
  options.for_good = input.for_good;
  session = std::make_unique<Session>(cluster, config, options, log_);
}

void Cycle::Run() {
  session->RunActions();
}

std::map<std::string, std::string> Cycle::Binds() const {
  std::map<std::string, std::string> binds;
  for (const Bind& b : session->plan.binds)
    binds[cluster.TaskKey(b.task)] = std::string(cluster.NodeName(b.node));
  return binds;
}

std::vector<std::string> Cycle::Evictions() const {
  std::vector<std::string> pods;
  for (const Eviction& e : session->plan.evictions) pods.push_back(cluster.TaskKey(e.task));
  std::sort(pods.begin(), pods.end());
  return pods;
}

std::map<std::string, std::string> Cycle::Pipelined() const {
  std::map<std::string, std::string> pods;
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t) {
    const Task& task = cluster.tasks[TaskId(t)];
    if (task.status == TaskStatus::kPipelined)
      pods[cluster.TaskKey(TaskId(t))] = std::string(cluster.NodeName(task.node));
  }
  return pods;
}

std::map<std::string, std::string> Cycle::Phases() const {
  std::map<std::string, std::string> phases;
  for (JobId job : cluster.jobs_by_name)
    phases[cluster.JobKey(job)] = std::string(ToString(cluster.jobs[job].phase));
  return phases;
}

TaskId Cycle::Find(std::string_view key) const {
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t)
    if (cluster.TaskKey(TaskId(t)) == key) return TaskId(t);
  ADD_FAILURE() << "no pod " << key;
  return {};
}

JobId Cycle::FindJob(std::string_view key) const {
  for (JobId job : cluster.jobs_by_name)
    if (cluster.JobKey(job) == key) return job;
  ADD_FAILURE() << "no job " << key;
  return {};
}

std::string Summary(const Cycle& cycle) {
  return PlanAsJson(*cycle.session, std::nullopt);
}

}  // namespace krafla::testing
