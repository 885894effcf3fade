// What the configuration says about revocable zones, read as the tdm plugin reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/timestamp.h"
#include "config/scheduler_config.h"
#include "model/zone_schedule.h"
#include "model/zone_window.h"

namespace krafla {

struct TdmZone {
  std::string name;
  std::string text;  // of the windows
  Location location;
  std::optional<ZoneSchedule> schedule = {};  // none: it cannot be read, and the zone never opens

  bool readable() const { return schedule.has_value(); }
};

struct TdmSettings {
  const PluginOption* option = nullptr;  // null: tdm is not configured
  std::vector<TdmZone> zones;            // by name
  TimeZone time_zone;
  int64_t drain_lead_ns = 0;  // a zone begins to be emptied so long before it closes
  Location drain_lead_location;
  int64_t evict_period_ns = 0;
  Location evict_period_location;  // of the plugin when the argument is absent
  bool whole_windows = true;       // windows wrap at midnight (false: Volcano's reading)
  // Some action takes pods off closed zones.
  bool drains = false;

  bool configured() const { return option != nullptr; }
  const TdmZone* Find(std::string_view zone) const;
  bool IsOpen(const TdmZone& zone, Timestamp at) const;
};

TdmZone MakeTdmZone(std::string name, std::string text, Location location);

// `otherwise` is the time zone where the configuration names none.
TdmSettings ReadTdmSettings(const SchedulerConfig& config, const TimeZone& otherwise);

}  // namespace krafla
