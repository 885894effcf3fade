#include "session/eviction_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace krafla {

void EvictionLimit::Begin(const EvictionLimits& configured, const CycleMemory& memory) {
  taken_ = held_back_ = 0;
  minute_helps_ = next_cycle_helps_ = false;
  waiting_.clear();
  allowance_ =
      memory.allowance.value_or(CycleMemory::EvictionAllowance{.limits = configured,
                                                               .minute_left = configured.per_minute,
                                                               .cycle_left = configured.per_cycle,
                                                               .held = false,
                                                               .more_at = {}});
  on_ = allowance_.limits.Any();
}

int32_t EvictionLimit::Left() const {
  const EvictionLimits& limits = allowance_.limits;
  if (allowance_.held) return 0;
  int32_t left = std::numeric_limits<int32_t>::max();
  if (limits.per_minute > 0) left = std::min(left, allowance_.minute_left - taken_);
  if (limits.per_cycle > 0) left = std::min(left, allowance_.cycle_left - taken_);
  return std::max(left, 0);
}

int32_t EvictionLimit::LeftForDrain() const {
  if (!on_ || (allowance_.limits.exempt_drains && !allowance_.held))
    return std::numeric_limits<int32_t>::max();
  return Left();
}

bool EvictionLimit::Take(int32_t evictions, bool is_drain, JobId for_job) {
  if (!on_ || evictions == 0) return true;
  if (evictions <= (is_drain ? LeftForDrain() : Left())) {
    if (!is_drain || CountsDrains()) taken_ += evictions;
    if (for_job.valid()) waiting_.erase(for_job);
    return true;
  }
  held_back_ += evictions;
  const EvictionLimits& limits = allowance_.limits;
  if (evictions <= limits.Most() || (is_drain && limits.exempt_drains)) {
    const bool minute = limits.per_minute > 0 && evictions > allowance_.minute_left - taken_;
    (minute ? minute_helps_ : next_cycle_helps_) = true;
  }
  if (for_job.valid()) waiting_[for_job] = evictions;
  return false;
}

std::string EvictionLimit::DescribeLimits() const {
  const EvictionLimits& limits = allowance_.limits;
  std::string text;
  if (limits.per_minute > 0) text = fmt::format("{} evictions a minute", limits.per_minute);
  if (limits.per_cycle > 0)
    text += text.empty() ? fmt::format("{} evictions a cycle", limits.per_cycle)
                         : fmt::format(" and {} a cycle", limits.per_cycle);
  return text;
}

std::string EvictionLimit::Needs(int32_t evictions) const {
  return evictions == 1 ? "1 eviction for it" : fmt::format("{} evictions for it", evictions);
}

std::string EvictionLimit::WhyHeldBack(JobId job) const {
  const auto found = waiting_.find(job);
  if (found == waiting_.end()) return {};
  if (found->second > allowance_.limits.Most())
    return fmt::format("it needs {} evictions at once, more than the limit of {} ever allows",
                       found->second, DescribeLimits());
  if (allowance_.held)
    return fmt::format("{} {} until the announced time: the configuration was reloaded",
                       Needs(found->second), found->second == 1 ? "waits" : "wait");
  return fmt::format("{} {}: the limit of {} is reached", Needs(found->second),
                     found->second == 1 ? "waits" : "wait", DescribeLimits());
}

std::string EvictionLimit::WhyHeldBackNow(JobId job) const {
  std::string text = WhyHeldBack(job);
  if (text.empty() || waiting_.at(job) > allowance_.limits.Most()) return text;
  if (allowance_.held) return text + fmt::format(", next at {}", FormatRfc3339(allowance_.more_at));
  if (allowance_.limits.per_minute > 0 && allowance_.minute_left - taken_ < waiting_.at(job)) {
    text += fmt::format(", {} of {} left in this minute",
                        std::max(allowance_.minute_left - taken_, 0), allowance_.limits.per_minute);
    if (allowance_.more_at.Present())
      text += fmt::format(", next at {}", FormatRfc3339(allowance_.more_at));
    return text;
  }
  return text + ", next in the following cycle";
}

}  // namespace krafla
