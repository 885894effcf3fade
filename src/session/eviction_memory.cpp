#include "session/eviction_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "model/memory_format.h"

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

GroupMemory WithVersion(GroupMemory texts) {
  for (std::string* text : {&texts.zone_evictions, &texts.evictions, &texts.loss})
    if (!text->empty()) text->insert(0, kMemoryVersion);
  return texts;
}

}  // namespace

GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group, Timestamp now) {
  GroupMemory texts = MemoryOfJob(memory, group);
  for (const CycleMemory::ZoneEviction& eviction : memory.last_evictions)
    if (eviction.at == now) AppendZone(texts.zone_evictions, eviction);
  return WithVersion(std::move(texts));
}

GroupMemory MemoryOf(const CycleMemory& memory, std::string_view group) {
  GroupMemory texts = MemoryOfJob(memory, group);
  for (const CycleMemory::ZoneEviction& eviction : memory.last_evictions)
    AppendZone(texts.zone_evictions, eviction);
  return WithVersion(std::move(texts));
}

void Recall(const GroupMemory& texts, std::string_view group, Timestamp now, CycleMemory& memory) {
  for (const auto& [zone, written] : ReadZoneEvictions(texts.zone_evictions).zones) {
    const Timestamp at = std::min(written, now);
    const Timestamp* known = memory.LastEviction(zone);
    if (known == nullptr || *known < at) memory.SetLastEviction(zone, at);
  }
  if (EvictionTimes evictions = ReadEvictionTimes(texts.evictions); !evictions.times.empty()) {
    for (Timestamp& at : evictions.times) at = std::min(at, now);
    memory.JobEvictionsOf(group).times = std::move(evictions.times);
  }
  if (const std::optional<GroupLoss> last = ReadGroupLoss(texts.loss)) {
    CycleMemory::JobLoss& loss = memory.JobLossOf(group);
    loss.at = std::min(last->at, now);
    loss.size = last->size;
    // When its pods were gone is not written down. Not before this: for one more period they are
    // missed.
    if (!loss.ending && loss.ended < loss.at) loss.ended = loss.at;
  }
}

}  // namespace krafla
