#include "kube/eviction_memory.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace krafla {

namespace {

std::string Precise(Timestamp at) {
  std::string time = FormatRfc3339(at);
  time.pop_back();
  return fmt::format("{}.{:09}Z", time, at.ns - at.UnixSeconds() * Timestamp::kNsPerSecond);
}

Timestamp ParseTime(std::string_view text) {
  const Result<ZonedTimestamp> at = ParseRfc3339(text);
  return at ? at->time : Timestamp{};
}

template <class Fn>
void ForEachPart(std::string_view list, Fn&& fn) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    fn(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
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
  ForEachPart(texts.zone_evictions, [&](std::string_view part) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view zone = part.substr(0, equals);
    const Timestamp at = ParseTime(part.substr(equals + 1));
    const Timestamp* known = memory.LastEviction(zone);
    if (at.Present() && (known == nullptr || *known < at)) memory.SetLastEviction(zone, at);
  });
  std::vector<Timestamp> times;
  ForEachPart(texts.evictions, [&](std::string_view part) {
    if (const Timestamp at = ParseTime(part); at.Present()) times.push_back(at);
  });
  if (!times.empty()) {
    std::sort(times.begin(), times.end());
    memory.JobEvictionsOf(group).times = std::move(times);
  }
  const size_t slash = texts.loss.find('/');
  if (slash == std::string::npos) return;
  const Timestamp at = ParseTime(std::string_view(texts.loss).substr(0, slash));
  int64_t size = 0;
  const char* end = texts.loss.data() + texts.loss.size();
  const auto [last, error] = std::from_chars(texts.loss.data() + slash + 1, end, size);
  if (!at.Present() || error != std::errc{} || last != end) return;
  CycleMemory::JobLoss& loss = memory.JobLossOf(group);
  loss.at = at;
  loss.size = size;
}

}  // namespace krafla
