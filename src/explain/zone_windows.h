// The revocable zones of a configuration, as tdm reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/scheduler_config.h"
#include "model/zone_schedule.h"

namespace krafla {

struct ConfiguredZone {
  std::string name;
  std::string text;                     // the windows as written
  std::optional<ZoneSchedule> windows;  // nothing: they cannot be read, the zone is never open
  TimeZone zone;
  bool volcano_windows = false;
  int64_t lead_ns = 0;  // how long before it closes it begins to be emptied

  bool IsOpen(Timestamp now) const;
  // Closed, or about to close within the lead.
  bool IsEmptied(Timestamp now) const;
  std::optional<Timestamp> NextChange(Timestamp now) const;
};

// By name; empty when tdm is not configured. `fallback`: the time zone when none is named.
std::vector<ConfiguredZone> ConfiguredZones(const SchedulerConfig& config,
                                            const TimeZone& fallback);

// tdm's evict period.
int64_t EvictPeriodNs(const SchedulerConfig& config);

bool HasTdm(const SchedulerConfig& config);

}  // namespace krafla
