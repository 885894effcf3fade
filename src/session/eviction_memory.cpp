#include "session/eviction_memory.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace krafla {

namespace {

std::string Precise(Timestamp at) {
  std::string time = FormatRfc3339(at);
  time.pop_back();
  return fmt::format("{}.{:09}Z", time, at.ns - at.UnixSeconds() * Timestamp::kNsPerSecond);
}

void Append(std::string& list, const std::string& part) {
  if (!list.empty()) list += ',';
  list += part;
}

void AppendZone(std::string& list, const CycleMemory::ZoneEviction& eviction) {
  Append(list, fmt::format("{}={}", eviction.zone, Precise(eviction.at)));
}

GroupMemory MemoryOfJob(const CycleMemory& memory, std::string_view group) {
  GroupMemory texts;
  if (const CycleMemory::JobEvictions* evictions = memory.FindJobEvictions(group))
    for (const Timestamp at : evictions->times) Append(texts.evictions, Precise(at));
  if (const CycleMemory::JobLoss* loss = memory.FindJobLoss(group))
    texts.loss = fmt::format("{}/{}", Precise(loss->at), loss->size);
  return texts;
}

}  // namespace

GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group, Timestamp now) {
  GroupMemory texts = MemoryOfJob(memory, group);
  for (const CycleMemory::ZoneEviction& eviction : memory.last_evictions)
    if (eviction.at == now) AppendZone(texts.zone_evictions, eviction);
  return texts;
}

GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group) {
  GroupMemory texts = MemoryOfJob(memory, group);
  for (const CycleMemory::ZoneEviction& eviction : memory.last_evictions)
    AppendZone(texts.zone_evictions, eviction);
  return texts;
}

void Recall(const GroupMemory& texts, std::string_view group, CycleMemory& memory) {
  for (const auto& [zone, at] : ReadZoneEvictions(texts.zone_evictions).zones) {
    const Timestamp* known = memory.LastEviction(zone);
    if (known == nullptr || *known < at) memory.SetLastEviction(zone, at);
  }
  if (EvictionTimes evictions = ReadEvictionTimes(texts.evictions); !evictions.times.empty())
    memory.JobEvictionsOf(group).times = std::move(evictions.times);
  if (const std::optional<GroupLoss> last = ReadGroupLoss(texts.loss)) {
    CycleMemory::JobLoss& loss = memory.JobLossOf(group);
    loss.at = last->at;
    loss.size = last->size;
    // When its pods were gone is not written down. Not before this: for one more period they are
    // missed.
    if (!loss.ending && loss.ended < loss.at) loss.ended = loss.at;
  }
}

}  // namespace krafla
