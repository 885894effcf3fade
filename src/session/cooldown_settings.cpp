#include "session/cooldown_settings.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "config/find_plugin.h"
#include "model/zone_drain.h"

namespace krafla {

namespace {

Timestamp Plus(Timestamp at, int64_t ns) {
  int64_t sum = 0;
  if (__builtin_add_overflow(at.ns, ns, &sum)) sum = std::numeric_limits<int64_t>::max();
  return Timestamp{sum};
}

}  // namespace

bool CooldownSettings::IsOver(Timestamp eviction, Timestamp now) const {
  return IsPeriodOver(&eviction, now, period_ns);
}

size_t CooldownSettings::CountNow(const std::vector<Timestamp>* evictions, Timestamp now) const {
  if (evictions == nullptr) return 0;
  return static_cast<size_t>(std::count_if(evictions->begin(), evictions->end(),
                                           [&](Timestamp at) { return !IsOver(at, now); }));
}

bool CooldownSettings::TooOften(size_t evictions) const {
  return max_evictions > 0 && std::cmp_greater_equal(evictions, max_evictions);
}

int64_t CooldownSettings::LengthNs(const Cluster& cluster, const Task& task) const {
  if (task.cooldown_ns >= 0) return task.cooldown_ns;
  if (inherited && task.job.valid()) {
    const Job& job = cluster.jobs[task.job];
    if (job.cooldown_ns >= 0) return job.cooldown_ns;
    if (job.queue.valid())
      if (const Queue& queue = cluster.queues[job.queue]; queue.cooldown_ns >= 0)
        return queue.cooldown_ns;
  }
  return default_cooldown_ns;
}

// A cooldown that is longer than the limit from the start stays as it is.
int64_t CooldownSettings::RaisedNs(int64_t cooldown_ns, size_t evictions) const {
  if (cooldown_ns >= max_cooldown_ns || backoff <= 1) return cooldown_ns;
  double raised_ns = static_cast<double>(cooldown_ns);
  for (; evictions > 0 && raised_ns > 0; --evictions) {
    raised_ns *= backoff;
    if (raised_ns >= static_cast<double>(max_cooldown_ns)) return max_cooldown_ns;
  }
  return static_cast<int64_t>(raised_ns);
}

// Evictions cease to count one after the other, the earliest first, and each time the cooldown
// becomes shorter: the task may go at the first instant at which both are over.
Timestamp CooldownSettings::SparedUntil(const Cluster& cluster, const Task& task,
                                        const std::vector<Timestamp>* times, Timestamp now) const {
  const int64_t cooldown_ns = IsCooling(task) ? LengthNs(cluster, task) : -1;
  size_t evictions = CountNow(times, now);
  Timestamp from = now;  // so many evictions count from here …
  for (size_t next = times != nullptr ? times->size() - evictions : 0;; ++next) {
    const bool last = evictions == 0;
    const Timestamp until =  // … to here
        last ? Timestamp{std::numeric_limits<int64_t>::max()} : Plus((*times)[next], period_ns);
    if (!TooOften(evictions)) {
      const Timestamp cooled =
          cooldown_ns < 0 ? from : Plus(task.scheduled_at, RaisedNs(cooldown_ns, evictions));
      if (last || std::max(from, cooled) < until) return std::max(from, cooled);
    }
    from = std::max(from, until);
    --evictions;
  }
}

CooldownSettings ReadCooldownSettings(const Arguments& arguments,
                                      const Compatibility& compatibility) {
  CooldownSettings settings;
  settings.inherited = compatibility.inherited_cooldown;
  settings.default_cooldown_ns = std::max<int64_t>(
      -1, arguments.GetDurationNs(CooldownSettings::kDefaultCooldown).value_or(-1));
  settings.max_evictions =
      std::max<int64_t>(0, arguments.GetInt(CooldownSettings::kMaxEvictions).value_or(0));
  if (const auto period_ns = arguments.GetDurationNs(CooldownSettings::kEvictionPeriod);
      period_ns && *period_ns > 0)
    settings.period_ns = *period_ns;
  settings.backoff = std::max(1.0, arguments.GetFloat(CooldownSettings::kBackoff).value_or(1));
  settings.max_cooldown_ns = settings.period_ns;
  if (const auto most_ns = arguments.GetDurationNs(CooldownSettings::kMaxCooldown);
      most_ns && *most_ns > 0)
    settings.max_cooldown_ns = *most_ns;
  return settings;
}

std::optional<CooldownSettings> ReadCooldownSettings(const SchedulerConfig& config) {
  const PluginOption* cdp = FindPlugin(config, "cdp");
  if (cdp == nullptr) return std::nullopt;
  return ReadCooldownSettings(cdp->arguments, config.compatibility);
}

}  // namespace krafla
