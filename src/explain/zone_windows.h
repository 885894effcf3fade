// The revocable zones of a configuration, as tdm reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/scheduler_config.h"
#include "model/zone_window.h"

namespace krafla {

struct ConfiguredZone {
  std::string name;
  std::string text;                  // the window as written
  std::optional<ZoneWindow> window;  // nothing: it cannot be read, the zone is never open
  TimeZone zone;
  bool volcano_windows = false;

  bool IsOpen(Timestamp now) const;
  std::optional<Timestamp> NextChange(Timestamp now) const;
};

// By name; empty when tdm is not configured. `fallback`: the time zone when none is named.
std::vector<ConfiguredZone> ConfiguredZones(const SchedulerConfig& config,
                                            const TimeZone& fallback);

// tdm's evict period.
int64_t EvictPeriodNs(const SchedulerConfig& config);

bool HasTdm(const SchedulerConfig& config);

}  // namespace krafla
