#include "sim/zone_watch.h"

#include <algorithm>

namespace krafla {

namespace {

constexpr std::string_view kZonePrefix = "tdm.revocable-zone.";
constexpr std::string_view kTimeZone = "tdm.timezone";
constexpr int64_t kMinuteNs = 60 * Timestamp::kNsPerSecond;

}  // namespace

ZoneWatch::ZoneWatch(const SchedulerConfig& config, const TimeZone& zone, World& world,
                     EventTeller& events)
    : world_(world),
      events_(events),
      time_zone_(zone),
      volcano_windows_(!config.compatibility.windows) {
  // A plugin named twice has the arguments it was given last.
  const PluginOption* tdm = nullptr;
  for (const Tier& tier : config.tiers)
    for (const PluginOption& option : tier.plugins)
      if (option.name == "tdm") tdm = &option;
  if (tdm == nullptr) return;
  if (const auto name = tdm->arguments.GetString(kTimeZone))
    if (const Result<TimeZone> found = FindTimeZone(*name)) time_zone_ = *found;
  for (const Argument& argument : tdm->arguments.items) {
    if (!argument.key.starts_with(kZonePrefix)) continue;
    const Result<ZoneSchedule> schedule = ParseZoneSchedule(argument.text);
    if (!schedule) continue;  // only a lenient reading lets it through; the zone never opens
    zones_.push_back(
        {.name = world.live().strings().Intern(argument.key.substr(kZonePrefix.size())),
         .schedule = *schedule});
  }
  std::sort(zones_.begin(), zones_.end(), [&](const Watched& a, const Watched& b) {
    return world_.Text(a.name) < world_.Text(b.name);
  });
}

bool ZoneWatch::IsOpenAt(const Watched& zone, Timestamp scheduler_now) const {
  const ZoneWindow* const daily = zone.schedule.Daily();
  if (!volcano_windows_) return IsOpen(zone.schedule, scheduler_now, time_zone_);
  // Volcano knows one window a day; a zone with anything else is never open.
  return daily != nullptr && IsOpenVolcano(*daily, scheduler_now, time_zone_);
}

std::optional<Timestamp> ZoneWatch::Look(Timestamp now, Timestamp scheduler_now) {
  std::optional<Timestamp> next;
  for (Watched& zone : zones_) {
    const bool open = IsOpenAt(zone, scheduler_now);
    if (!zone.known || open != zone.open) {
      zone.draining = !open && zone.known;
      if (!open) zone.closed_at = now;
      zone.known = true;
      zone.open = open;
      events_.Begin(open ? SimEventKind::kZoneOpened : SimEventKind::kZoneClosed).zone =
          world_.Text(zone.name);
      events_.Send();
    }
    const auto change = NextChange(zone.schedule, scheduler_now, time_zone_);
    if (change && (!next || *change < *next)) next = change;
  }
  LookForEmptyZones(now);
  if (!volcano_windows_ || zones_.empty()) return next;
  // That reading has its ends a second later and others at midnight: nobody says when it changes,
  // but it is at a whole minute or a second after one.
  const int64_t minute = scheduler_now.ns - (scheduler_now.ns % kMinuteNs + kMinuteNs) % kMinuteNs;
  const int64_t late = minute + Timestamp::kNsPerSecond;
  return Timestamp{scheduler_now.ns < late ? late : minute + kMinuteNs};
}

void ZoneWatch::LookForEmptyZones(Timestamp now) {
  for (Watched& zone : zones_) {
    if (!zone.draining || world_.GuestsOf(zone.name) > 0) continue;
    zone.draining = false;
    SimEvent& event = events_.Begin(SimEventKind::kZoneDrained);
    event.zone = world_.Text(zone.name);
    event.count = (now.ns - zone.closed_at.ns) / Timestamp::kNsPerSecond;
    events_.Send();
  }
}

std::vector<StrId> ZoneWatch::ClosedWithGuests() const {
  std::vector<StrId> names;
  for (const Watched& zone : zones_)
    if (zone.known && !zone.open && world_.GuestsOf(zone.name) > 0) names.push_back(zone.name);
  return names;
}

std::optional<Timestamp> ZoneWatch::ClosedSince(StrId name) const {
  for (const Watched& zone : zones_)
    if (zone.name == name && zone.known && !zone.open) return zone.closed_at;
  return std::nullopt;
}

}  // namespace krafla
