// What the configuration says about revocable zones: read in one way by the tdm plugin, the
// simulator's clock, the linter and whoever explains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/timestamp.h"
#include "config/scheduler_config.h"
#include "model/revocable_access.h"
#include "model/zone_schedule.h"
#include "model/zone_window.h"

namespace krafla {

struct TdmZone {
  std::string name;
  std::string text;  // of the windows
  Location location;
  std::optional<ZoneSchedule> schedule = {};  // none: it cannot be read, and the zone never opens
  bool one_daily_window = false;              // all that Volcano knows

  bool readable() const { return schedule.has_value(); }
};

struct TdmSettings {
  static constexpr std::string_view kZonePrefix = "tdm.revocable-zone.";
  static constexpr std::string_view kEvictPeriod = "tdm.evict.period";
  static constexpr std::string_view kDrainLead = "tdm.drain-lead";
  static constexpr std::string_view kTimeZone = "tdm.timezone";
  static constexpr int64_t kDefaultEvictPeriodNs = 60 * Timestamp::kNsPerSecond;

  const PluginOption* option = nullptr;  // null: tdm is not configured
  std::vector<TdmZone> zones;            // by name
  TimeZone time_zone;
  int64_t drain_lead_ns = 0;  // a zone begins to be emptied so long before it closes
  Location drain_lead_location;
  int64_t evict_period_ns = kDefaultEvictPeriodNs;
  // So long after an eviction the next one is allowed: more than the evict period has to pass
  // (D39).
  int64_t StepNs() const {
    return std::min(evict_period_ns, std::numeric_limits<int64_t>::max() - 1) + 1;
  }
  Location evict_period_location;  // of the plugin when the argument is absent
  bool whole_windows = true;       // windows wrap at midnight (false: Volcano's reading)
  // Some action takes pods off closed zones.
  bool drains = false;

  bool configured() const { return option != nullptr; }
  const TdmZone* Find(std::string_view zone) const;
  bool IsOpen(const TdmZone& zone, Timestamp at) const;
  // When it next opens or closes; nothing if it never does.
  std::optional<Timestamp> NextChange(const TdmZone& zone, Timestamp at) const;
  // Closed, or about to close within the lead.
  bool IsEmptied(const TdmZone& zone, Timestamp at) const;

 private:
  // Volcano knows one daily window; a zone with anything else is never open there.
  bool NeverOpens(const TdmZone& zone) const {
    return !zone.readable() || (!whole_windows && !zone.one_daily_window);
  }
};

TdmZone MakeTdmZone(std::string name, std::string text, Location location);

// `otherwise` is the time zone where the configuration names none.
TdmSettings ReadTdmSettings(const SchedulerConfig& config, const TimeZone& otherwise);
// Of the plugin itself, when it is opened. `drains` is not known then.
TdmSettings ReadTdmSettings(const PluginOption& tdm, const Compatibility& compatibility,
                            const TimeZone& otherwise);

// How pods' words about zones are understood.
AccessRules AccessRulesOf(const Compatibility& compatibility);

}  // namespace krafla
