#include "model/group_memory.h"

#include <algorithm>
#include <charconv>

namespace krafla {

namespace {

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

}  // namespace

ZoneEvictionTimes ReadZoneEvictions(std::string_view text) {
  ZoneEvictionTimes read;
  ForEachPart(text, [&](std::string_view part) {
    const size_t equals = part.find('=');
    const Timestamp at =
        equals == std::string_view::npos ? Timestamp{} : ParseTime(part.substr(equals + 1));
    if (at.Present()) {
      read.zones.emplace_back(part.substr(0, equals), at);
    } else {
      read.readable = false;
    }
  });
  return read;
}

EvictionTimes ReadEvictionTimes(std::string_view text) {
  EvictionTimes read;
  ForEachPart(text, [&](std::string_view part) {
    if (const Timestamp at = ParseTime(part); at.Present()) {
      read.times.push_back(at);
    } else {
      read.readable = false;
    }
  });
  std::sort(read.times.begin(), read.times.end());
  return read;
}

std::optional<GroupLoss> ReadGroupLoss(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  GroupLoss loss{.at = ParseTime(text.substr(0, slash))};
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + slash + 1, end, loss.size);
  if (!loss.at.Present() || error != std::errc{} || last != end) return std::nullopt;
  return loss;
}

}  // namespace krafla
