#include "support/scheduler_over_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/timestamp.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"

namespace krafla::testing {

namespace {

Timestamp Instant(std::string_view text) {
  const Result<ZonedTimestamp> parsed = ParseRfc3339(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message;
  return parsed ? parsed->time : Timestamp{};
}

void ExpectNoErrors(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.items())
    if (d.severity == Severity::kError) ADD_FAILURE() << ToString(d);
}

}  // namespace

SchedulerOverTime::SchedulerOverTime(std::string cluster_text, std::string_view config) {
  Diagnostics diagnostics;
  config_ = ReadSchedulerConfig(config, BuiltInVocabulary(), {.file_name = "config"}, diagnostics);
  ExpectNoErrors(diagnostics);
  Replace(std::move(cluster_text));
}

void SchedulerOverTime::Replace(std::string cluster_text) {
  Diagnostics diagnostics;
  cluster = ReadClusterFromText(std::move(cluster_text), "cluster", {}, diagnostics);
  ExpectNoErrors(diagnostics);
}

SchedulerOverTime::Outcome SchedulerOverTime::RunAt(std::string_view now) {
  return Run(Instant(now));
}

SchedulerOverTime::Outcome SchedulerOverTime::Run(Timestamp now) {
  last_ = now;
  Outcome outcome;
  SessionOptions options;
  options.now = now;
  options.memory = &memory;
  Session session(cluster, config_, options, log_);
  session.RunActions();
  for (const Eviction& e : session.plan.evictions)
    outcome.evictions.push_back(cluster.TaskKey(e.task));
  for (const Bind& b : session.plan.binds)
    outcome.binds.push_back(cluster.TaskKey(b.task) + " " + std::string(cluster.NodeName(b.node)));
  std::sort(outcome.binds.begin(), outcome.binds.end());
  const std::optional<Timestamp> next = session.NextTimer();
  // With its nanoseconds, so that a cycle at that instant is due.
  outcome.next_timer = next ? FormatRfc3339(*next) : "never";
  if (const int64_t ns = next ? next->ns % Timestamp::kNsPerSecond : 0; ns != 0)
    outcome.next_timer.insert(outcome.next_timer.size() - 1, fmt::format(".{:09}", ns));
  // Places that were promised are promised anew by the next cycle.
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t)
    if (cluster.tasks[TaskId(t)].status == TaskStatus::kPipelined) session.Unplace(TaskId(t));
  return outcome;
}

void SchedulerOverTime::ExpectNothingBefore(std::string_view end) {
  const Timestamp until = Instant(end);
  const int64_t step = std::max<int64_t>(1, (until.UnixSeconds() - last_.UnixSeconds()) / 200);
  std::vector<int64_t> seconds;
  for (int64_t at = last_.UnixSeconds() + step; at < until.UnixSeconds(); at += step)
    seconds.push_back(at);
  if (seconds.empty() || seconds.back() != until.UnixSeconds() - 1)
    seconds.push_back(until.UnixSeconds() - 1);
  for (const int64_t second : seconds) {
    const Outcome outcome = Run(Timestamp::FromUnixSeconds(second));
    ASSERT_TRUE(outcome.evictions.empty() && outcome.binds.empty())
        << "at " << FormatRfc3339(Timestamp::FromUnixSeconds(second));
  }
}

std::string SchedulerOverTime::LastInstant() const {
  return FormatRfc3339(last_);
}

std::string SchedulerOverTime::PhaseOf(std::string_view key) const {
  for (const JobId job : cluster.jobs_by_name)
    if (cluster.JobKey(job) == key) return std::string(ToString(cluster.jobs[job].phase));
  ADD_FAILURE() << "no job " << key;
  return {};
}

}  // namespace krafla::testing
