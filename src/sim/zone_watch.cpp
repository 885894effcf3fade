#include "sim/zone_watch.h"

#include <algorithm>

namespace krafla {

ZoneWatch::ZoneWatch(const SchedulerConfig& config, const TimeZone& zone, World& world,
                     EventTeller& events)
    : world_(world), events_(events), tdm_(ReadTdmSettings(config, zone)) {
  for (const TdmZone& configured : tdm_.zones)
    // Only a lenient reading lets others through; such a zone never opens.
    if (configured.readable())
      zones_.push_back(
          {.name = world.live().strings().Intern(configured.name), .configured = &configured});
}

std::optional<Timestamp> ZoneWatch::Look(Timestamp now, Timestamp scheduler_now) {
  std::optional<Timestamp> next;
  for (Watched& zone : zones_) {
    const bool open = tdm_.IsOpen(*zone.configured, scheduler_now);
    if (!zone.known || open != zone.open) {
      zone.draining = !open && zone.known;
      if (!open) zone.closed_at = now;
      zone.known = true;
      zone.open = open;
      events_.Begin(open ? SimEventKind::kZoneOpened : SimEventKind::kZoneClosed).zone =
          world_.Text(zone.name);
      events_.Send();
    }
    const auto change = tdm_.NextChange(*zone.configured, scheduler_now);
    if (change && (!next || *change < *next)) next = change;
  }
  LookForEmptyZones(now);
  return next;
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
