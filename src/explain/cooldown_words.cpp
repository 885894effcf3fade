#include "explain/cooldown_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/go_duration.h"
#include "model/well_known.h"
#include "session/cooldown_settings.h"

namespace krafla {

namespace {

std::string Times(size_t n) {
  return fmt::format("{} time{}", n, n == 1 ? "" : "s");
}

// As the plugin saw them when the cycle began: what the cycle itself has added does not count yet.
std::vector<Timestamp> EvictionsBefore(const Session& s, JobId job) {
  std::vector<Timestamp> times;
  if (!job.valid()) return times;
  if (const auto* known = s.memory.FindJobEvictions(s.cluster.JobKey(job))) times = known->times;
  std::erase(times, s.now);
  return times;
}

}  // namespace

std::optional<CooldownStanding> CooldownStandingOf(const Session& s, TaskId id) {
  const std::optional<CooldownSettings> cdp = ReadCooldownSettings(s.config);
  if (!cdp) return std::nullopt;
  const Task& task = s.cluster.tasks[id];
  const std::vector<Timestamp> evictions = EvictionsBefore(s, task.job);
  const std::vector<Timestamp>* counted = cdp->CountsEvictions() ? &evictions : nullptr;
  CooldownStanding standing{.evictions = cdp->CountNow(counted, s.now)};
  if (IsCooling(task)) standing.named_ns = cdp->LengthNs(s.cluster, task);
  if (standing.named_ns >= 0) {
    standing.length_ns = cdp->RaisedNs(standing.named_ns, standing.evictions);
    standing.cooling = ElapsedNs(task.scheduled_at, s.now) < standing.length_ns;
  }
  standing.too_often = cdp->TooOften(standing.evictions);
  if (!standing.cooling && !standing.too_often) return std::nullopt;
  standing.left_ns = ElapsedNs(s.now, cdp->SparedUntil(s.cluster, task, counted, s.now));
  return standing;
}

std::string DescribeCooldown(const Session& s, TaskId id, const CooldownStanding& standing) {
  const CooldownSettings cdp = ReadCooldownSettings(s.config).value_or(CooldownSettings{});
  const std::string left = FormatShortDuration(standing.left_ns);
  const std::string period = FormatShortDuration(cdp.period_ns);
  if (standing.too_often)
    return fmt::format(
        "{} has had to make room {} within {}, and cdp.max-evictions allows {}; spared for another "
        "{}",
        s.cluster.JobKey(s.cluster.tasks[id].job), Times(standing.evictions), period,
        cdp.max_evictions, left);
  std::string text =
      fmt::format("cooldown, {} left of {}", left, FormatShortDuration(standing.length_ns));
  if (standing.length_ns > standing.named_ns)
    text += fmt::format(" ({}, raised by cdp.backoff: its job has had to make room {} within {})",
                        FormatShortDuration(standing.named_ns), Times(standing.evictions), period);
  return text;
}

std::string DescribeEvictionHistory(const SchedulerConfig& config, const Cluster& cluster,
                                    const CycleMemory& memory, Timestamp now) {
  const std::optional<CooldownSettings> cdp = ReadCooldownSettings(config);
  if (!cdp || !cdp->CountsEvictions()) return {};
  std::string rules;
  if (cdp->max_evictions > 0)
    rules = fmt::format(
        "after {} within {} a job is spared (cdp.max-evictions)",
        cdp->max_evictions == 1 ? "1 eviction" : fmt::format("{} evictions", cdp->max_evictions),
        FormatShortDuration(cdp->period_ns));
  if (cdp->backoff > 1)
    rules += fmt::format(
        "{}each within {} makes its cooldowns {:g} times as long, up to {} "
        "(cdp.backoff)",
        rules.empty() ? "" : ", and ", FormatShortDuration(cdp->period_ns), cdp->backoff,
        FormatShortDuration(cdp->max_cooldown_ns));
  size_t jobs = 0;
  for (const CycleMemory::JobEvictions& entry : memory.job_evictions)
    if (cdp->CountNow(&entry.times, now) > 0 &&
        std::any_of(cluster.jobs_by_name.begin(), cluster.jobs_by_name.end(),
                    [&](JobId id) { return cluster.JobKey(id) == entry.job; }))
      ++jobs;
  return fmt::format(
      "history counts: {}; {}", rules,
      jobs == 0
          ? fmt::format("none is known here (a PodGroup's annotation {} would tell of them)",
                        keys::kEvictions)
          : fmt::format("such evictions are known of {} PodGroup{}", jobs, jobs == 1 ? "" : "s"));
}

}  // namespace krafla
