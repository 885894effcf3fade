// The revocable zones of the configuration: when each opens and closes by the scheduler's clock,
// and how long it takes after a closing until nobody is left who should go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/scheduler_config.h"
#include "session/tdm_settings.h"
#include "sim/event_teller.h"
#include "sim/world.h"

namespace krafla {

class ZoneWatch {
 public:
  // `zone` for windows when the configuration names none.
  ZoneWatch(const SchedulerConfig& config, const TimeZone& zone, World& world, EventTeller& events);

  // Tells of zones that have opened or closed. `scheduler_now` is what the scheduler's clock shows;
  // the answer is when, by that clock, to look again.
  std::optional<Timestamp> Look(Timestamp now, Timestamp scheduler_now);
  // Tells of closed zones that have become empty. Cheap; to be called whenever somebody may have
  // left.
  void LookForEmptyZones(Timestamp now);
  // By name.
  std::vector<StrId> ClosedWithGuests() const;
  // When a configured zone of that name has closed; nothing while it is open.
  std::optional<Timestamp> ClosedSince(StrId zone) const;

 private:
  struct Watched {
    StrId name;
    const TdmZone* configured = nullptr;  // in tdm_
    bool known = false;                   // whether it is open has been told
    bool open = false;
    bool draining = false;
    Timestamp closed_at;
  };

  World& world_;
  EventTeller& events_;
  TdmSettings tdm_;
  std::vector<Watched> zones_;  // by name
};

}  // namespace krafla
