#include "check/tdm_settings.h"

#include <algorithm>
#include <utility>

namespace krafla {

namespace {

constexpr std::string_view kZonePrefix = "tdm.revocable-zone.";
constexpr std::string_view kEvictPeriod = "tdm.evict.period";
constexpr std::string_view kDrainLead = "tdm.drain-lead";
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
  if (!zone.schedule) return false;
  if (whole_windows) return krafla::IsOpen(*zone.schedule, at, time_zone);
  // Volcano knows one daily window; a zone with more is never open there.
  const ZoneWindow* daily = zone.schedule->Daily();
  return daily != nullptr && ParseZoneWindow(zone.text) && IsOpenVolcano(*daily, at, time_zone);
}

TdmZone MakeTdmZone(std::string name, std::string text, Location location) {
  TdmZone zone{.name = std::move(name), .text = std::move(text), .location = location};
  if (Result<ZoneSchedule> schedule = ParseZoneSchedule(zone.text))
    zone.schedule = std::move(*schedule);
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
  tdm.drain_lead_ns = std::max<int64_t>(0, arguments.GetDurationNs(kDrainLead).value_or(0));
  if (const Argument* lead = arguments.Find(kDrainLead)) tdm.drain_lead_location = lead->location;
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
