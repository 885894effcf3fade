#include "explain/zone_windows.h"

#include <algorithm>

namespace krafla {

namespace {

constexpr std::string_view kZonePrefix = "tdm.revocable-zone.";
constexpr std::string_view kEvictPeriod = "tdm.evict.period";
constexpr std::string_view kDrainLead = "tdm.drain-lead";
constexpr std::string_view kTimeZone = "tdm.timezone";
constexpr int64_t kDefaultEvictPeriodNs = 60 * Timestamp::kNsPerSecond;

// The last one counts, as for the session.
const PluginOption* FindTdm(const SchedulerConfig& config) {
  const PluginOption* found = nullptr;
  for (const Tier& tier : config.tiers)
    for (const PluginOption& option : tier.plugins)
      if (option.name == "tdm") found = &option;
  return found;
}

}  // namespace

bool HasTdm(const SchedulerConfig& config) {
  return FindTdm(config) != nullptr;
}

int64_t EvictPeriodNs(const SchedulerConfig& config) {
  const PluginOption* tdm = FindTdm(config);
  if (tdm == nullptr) return kDefaultEvictPeriodNs;
  return tdm->arguments.GetDurationNs(kEvictPeriod).value_or(kDefaultEvictPeriodNs);
}

bool ConfiguredZone::IsOpen(Timestamp now) const {
  if (!windows) return false;
  if (!volcano_windows) return krafla::IsOpen(*windows, now, zone);
  // Volcano knows one window a day; a zone with anything else is never open.
  return windows->Daily() != nullptr && IsOpenVolcano(*windows->Daily(), now, zone);
}

std::optional<Timestamp> ConfiguredZone::NextChange(Timestamp now) const {
  if (!windows) return std::nullopt;
  if (!volcano_windows) return krafla::NextChange(*windows, now, zone);
  if (windows->Daily() == nullptr) return std::nullopt;
  return NextChangeVolcano(*windows->Daily(), now, zone);
}

bool ConfiguredZone::IsEmptied(Timestamp now) const {
  if (!IsOpen(now)) return true;
  if (lead_ns <= 0) return false;
  const std::optional<Timestamp> closes = NextChange(now);
  return closes && ElapsedNs(now, *closes) <= lead_ns;
}

std::vector<ConfiguredZone> ConfiguredZones(const SchedulerConfig& config,
                                            const TimeZone& fallback) {
  std::vector<ConfiguredZone> zones;
  const PluginOption* tdm = FindTdm(config);
  if (tdm == nullptr) return zones;
  TimeZone zone = fallback;
  const int64_t lead_ns = tdm->arguments.GetDurationNs(kDrainLead).value_or(0);
  if (const auto name = tdm->arguments.GetString(kTimeZone))
    if (const Result<TimeZone> found = FindTimeZone(*name)) zone = *found;
  for (const Argument& argument : tdm->arguments.items) {
    if (!argument.key.starts_with(kZonePrefix)) continue;
    ConfiguredZone configured{.name = argument.key.substr(kZonePrefix.size()),
                              .text = argument.text,
                              .windows = {},
                              .zone = zone,
                              .volcano_windows = !config.compatibility.windows,
                              .lead_ns = std::max<int64_t>(0, lead_ns)};
    if (const Result<ZoneSchedule> windows = ParseZoneSchedule(argument.text))
      configured.windows = *windows;
    zones.push_back(std::move(configured));
  }
  std::sort(zones.begin(), zones.end(),
            [](const ConfiguredZone& l, const ConfiguredZone& r) { return l.name < r.name; });
  return zones;
}

}  // namespace krafla
