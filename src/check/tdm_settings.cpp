#include "check/tdm_settings.h"

#include <algorithm>
#include <utility>

namespace krafla {

namespace {

constexpr std::string_view kZonePrefix = "tdm.revocable-zone.";
constexpr std::string_view kEvictPeriod = "tdm.evict.period";
constexpr std::string_view kTimeZone = "tdm.timezone";
constexpr int64_t kDefaultEvictPeriodNs = 60 * Timestamp::kNsPerSecond;

// Listed twice, it has the arguments it was given last.
const PluginOption* FindTdm(const SchedulerConfig& config) {
  const PluginOption* found = nullptr;
  for (const Tier& tier : config.tiers)
    for (const PluginOption& plugin : tier.plugins)
      if (plugin.name == "tdm") found = &plugin;
  return found;
}

}  // namespace

const TdmZone* TdmSettings::Find(std::string_view zone) const {
  const auto found = std::ranges::find(zones, zone, &TdmZone::name);
  return found == zones.end() ? nullptr : &*found;
}

bool TdmSettings::IsOpen(const TdmZone& zone, Timestamp at) const {
  if (!zone.window) return false;
  return whole_windows ? krafla::IsOpen(*zone.window, at, time_zone)
                       : IsOpenVolcano(*zone.window, at, time_zone);
}

TdmZone MakeTdmZone(std::string name, std::string text, Location location) {
  TdmZone zone{.name = std::move(name), .text = std::move(text), .location = location};
  if (const Result<ZoneWindow> window = ParseZoneWindow(zone.text)) zone.window = *window;
  return zone;
}

TdmSettings ReadTdmSettings(const SchedulerConfig& config, const TimeZone& otherwise) {
  TdmSettings tdm;
  tdm.time_zone = otherwise;
  tdm.option = FindTdm(config);
  if (tdm.option == nullptr) return tdm;
  const Arguments& arguments = tdm.option->arguments;
  if (const auto name = arguments.GetString(kTimeZone))
    if (const Result<TimeZone> found = FindTimeZone(*name)) tdm.time_zone = *found;
  tdm.evict_period_ns = arguments.GetDurationNs(kEvictPeriod).value_or(kDefaultEvictPeriodNs);
  const Argument* period = arguments.Find(kEvictPeriod);
  tdm.evict_period_location = period != nullptr ? period->location : tdm.option->location;
  tdm.whole_windows = config.compatibility.windows;
  const bool preempt_drains =
      config.HasAction("preempt") && config.compatibility.victims_in_preempt;
  tdm.drains =
      tdm.option->Enabled(Switch::kVictim) && (preempt_drains || config.HasAction("shuffle"));

  for (const Argument& argument : arguments.items) {
    if (!argument.key.starts_with(kZonePrefix)) continue;
    tdm.zones.push_back(
        MakeTdmZone(argument.key.substr(kZonePrefix.size()), argument.text, argument.location));
  }
  std::ranges::sort(tdm.zones, {}, &TdmZone::name);
  return tdm;
}

}  // namespace krafla
