// How long cdp protects a pod, from its configuration, what pods, PodGroups and Queues say, and
// how often the pod's job has had to make room before. Pure: the plugin asks while it schedules,
// and whoever explains or checks it asks the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/timestamp.h"
#include "config/scheduler_config.h"
#include "model/cluster.h"

namespace krafla {

struct CooldownSettings {
  static constexpr std::string_view kDefaultCooldown = "cdp.default-cooldown";
  static constexpr std::string_view kMaxEvictions = "cdp.max-evictions";
  static constexpr std::string_view kEvictionPeriod = "cdp.eviction-period";
  static constexpr std::string_view kBackoff = "cdp.backoff";
  static constexpr std::string_view kMaxCooldown = "cdp.max-cooldown";
  static constexpr int64_t kDefaultPeriodNs = 3'600 * Timestamp::kNsPerSecond;

  int64_t default_cooldown_ns = -1;  // -1: none
  int64_t max_evictions = 0;         // 0: no limit
  int64_t period_ns = kDefaultPeriodNs;
  double backoff = 1;
  int64_t max_cooldown_ns = kDefaultPeriodNs;
  bool inherited = true;  // D36: a PodGroup's and a Queue's cooldown count for pods that name none

  // Whether the job's history makes a difference.
  bool CountsEvictions() const { return max_evictions > 0 || backoff > 1; }
  bool IsOver(Timestamp eviction, Timestamp now) const;
  // Of a job's evictions (null: none), those that count.
  size_t CountNow(const std::vector<Timestamp>* evictions, Timestamp now) const;
  bool TooOften(size_t evictions) const;

  // The pod's own, its PodGroup's, its Queue's or the default; -1 when it has none.
  int64_t LengthNs(const Cluster& cluster, const Task& task) const;
  // So long it is after so many evictions.
  int64_t RaisedNs(int64_t cooldown_ns, size_t evictions) const;
  // When the task may go at last, seen from now: at once when nothing protects it.
  Timestamp SparedUntil(const Cluster& cluster, const Task& task,
                        const std::vector<Timestamp>* evictions, Timestamp now) const;
};

// What a lenient reading let through although it is out of range has its default.
CooldownSettings ReadCooldownSettings(const Arguments& arguments,
                                      const Compatibility& compatibility);
// Of the configured cdp, if there is one.
std::optional<CooldownSettings> ReadCooldownSettings(const SchedulerConfig& config);

// A cooldown counts while the pod runs: one that is scheduled and has not come up yet may be taken.
inline bool IsCooling(const Task& task) {
  return task.pod_running && task.scheduled_at.Present();
}

}  // namespace krafla
