#include "session/tdm_settings.h"

#include <algorithm>
#include <utility>

#include "config/find_plugin.h"

namespace krafla {

const TdmZone* TdmSettings::Find(std::string_view zone) const {
  const auto found = std::ranges::find(zones, zone, &TdmZone::name);
  return found == zones.end() ? nullptr : &*found;
}

bool TdmSettings::IsOpen(const TdmZone& zone, Timestamp at) const {
  if (NeverOpens(zone)) return false;
  return whole_windows ? krafla::IsOpen(*zone.schedule, at, time_zone)
                       : IsOpenVolcano(*zone.schedule->Daily(), at, time_zone);
}

std::optional<Timestamp> TdmSettings::NextChange(const TdmZone& zone, Timestamp at) const {
  if (NeverOpens(zone)) return std::nullopt;
  return whole_windows ? krafla::NextChange(*zone.schedule, at, time_zone)
                       : NextChangeVolcano(*zone.schedule->Daily(), at, time_zone);
}

bool TdmSettings::IsEmptied(const TdmZone& zone, Timestamp at) const {
  if (!IsOpen(zone, at)) return true;
  if (drain_lead_ns <= 0) return false;
  const std::optional<Timestamp> closes = NextChange(zone, at);
  return closes && ElapsedNs(at, *closes) <= drain_lead_ns;
}

TdmZone MakeTdmZone(std::string name, std::string text, Location location) {
  TdmZone zone{.name = std::move(name), .text = std::move(text), .location = location};
  if (Result<ZoneSchedule> schedule = ParseZoneSchedule(zone.text))
    zone.schedule = std::move(*schedule);
  zone.one_daily_window =
      zone.schedule && zone.schedule->Daily() != nullptr && ParseZoneWindow(zone.text);
  return zone;
}

TdmSettings ReadTdmSettings(const PluginOption& option, const Compatibility& compatibility,
                            const TimeZone& otherwise) {
  TdmSettings tdm;
  tdm.option = &option;
  tdm.time_zone = otherwise;
  tdm.whole_windows = compatibility.windows;
  const Arguments& arguments = option.arguments;
  if (const auto name = arguments.GetString(TdmSettings::kTimeZone))
    if (const Result<TimeZone> found = FindTimeZone(*name)) tdm.time_zone = *found;
  tdm.evict_period_ns = arguments.GetDurationNs(TdmSettings::kEvictPeriod)
                            .value_or(TdmSettings::kDefaultEvictPeriodNs);
  tdm.drain_lead_ns =
      std::max<int64_t>(0, arguments.GetDurationNs(TdmSettings::kDrainLead).value_or(0));
  if (const Argument* lead = arguments.Find(TdmSettings::kDrainLead))
    tdm.drain_lead_location = lead->location;
  const Argument* period = arguments.Find(TdmSettings::kEvictPeriod);
  tdm.evict_period_location = period != nullptr ? period->location : option.location;
  for (const Argument& argument : arguments.items)
    if (argument.key.starts_with(TdmSettings::kZonePrefix))
      tdm.zones.push_back(MakeTdmZone(argument.key.substr(TdmSettings::kZonePrefix.size()),
                                      argument.text, argument.location));
  std::ranges::sort(tdm.zones, {}, &TdmZone::name);
  return tdm;
}

TdmSettings ReadTdmSettings(const SchedulerConfig& config, const TimeZone& otherwise) {
  const PluginOption* option = FindPlugin(config, "tdm");
  if (option == nullptr) {
    TdmSettings none;
    none.time_zone = otherwise;
    return none;
  }
  TdmSettings tdm = ReadTdmSettings(*option, config.compatibility, otherwise);
  const bool preempt_drains =
      config.HasAction("preempt") && config.compatibility.victims_in_preempt;
  tdm.drains = option->Enabled(Switch::kVictim) && (preempt_drains || config.HasAction("shuffle"));
  return tdm;
}

AccessRules AccessRulesOf(const Compatibility& compatibility) {
  return {.named_zones = compatibility.named_zones,
          .needs_annotation = compatibility.implied_zone,
          .silence_is_no = compatibility.preemptable_default};
}

}  // namespace krafla
