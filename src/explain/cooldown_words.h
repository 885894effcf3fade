// What cdp has to say about a pod at an instant: how long it still protects the pod, and how much
// of that is because the pod's job has had to make room before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "session/session.h"

namespace krafla {

struct CooldownStanding {
  int64_t named_ns = -1;  // as the pod, its PodGroup, its Queue or the configuration says; -1: none
  int64_t length_ns = -1;  // with what cdp.backoff adds
  bool cooling = false;    // the cooldown is not over
  size_t evictions = 0;    // of the job, that count
  bool too_often = false;  // cdp.max-evictions is reached
  int64_t left_ns = 0;     // until nothing of it holds any more
};

// Nothing when cdp is not configured or does not protect the pod now.
std::optional<CooldownStanding> CooldownStandingOf(const Session& session, TaskId task);

// "cooldown, 3m left of 20m (5m, raised by cdp.backoff for 2 evictions within 1h)"
std::string DescribeCooldown(const Session& session, TaskId task, const CooldownStanding& standing);

// When cdp counts evictions: what it counts, and what is known of them. Empty when it does not.
std::string DescribeEvictionHistory(const SchedulerConfig& config, const Cluster& cluster,
                                    const CycleMemory& memory, Timestamp now);

}  // namespace krafla
