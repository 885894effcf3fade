#include "model/group_memory.h"

#include <algorithm>
#include <charconv>

#include "model/memory_format.h"

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

bool IsKnownMemoryVersion(std::string_view text) {
  // "v2;…": no instant and no "zone=instant" looks like that.
  if (!text.starts_with('v')) return true;
  const size_t end = text.find_first_not_of("0123456789", 1);
  const bool versioned = end != std::string_view::npos && end > 1 && text[end] == ';';
  return !versioned || text.starts_with(kMemoryVersion);
}

namespace {

// Without its version; nothing of a text whose version is not known.
std::optional<std::string_view> BodyOf(std::string_view text) {
  if (!IsKnownMemoryVersion(text)) return std::nullopt;
  if (text.starts_with(kMemoryVersion)) text.remove_prefix(kMemoryVersion.size());
  return text;
}

bool IsZoneName(std::string_view name) {
  constexpr size_t kLongestLabelValue = 63;
  return !name.empty() && name.size() <= kLongestLabelValue;
}

}  // namespace

ZoneEvictionTimes ReadZoneEvictions(std::string_view text) {
  const std::optional<std::string_view> body = BodyOf(text);
  if (!body) return {.zones = {}, .readable = false};
  ZoneEvictionTimes read;
  ForEachPart(*body, [&](std::string_view part) {
    const size_t equals = part.find('=');
    const Timestamp at =
        equals == std::string_view::npos ? Timestamp{} : ParseTime(part.substr(equals + 1));
    if (at.Present() && IsZoneName(part.substr(0, equals)) && read.zones.size() < kMostZonesRead) {
      read.zones.emplace_back(part.substr(0, equals), at);
    } else {
      read.readable = false;
    }
  });
  return read;
}

EvictionTimes ReadEvictionTimes(std::string_view text) {
  const std::optional<std::string_view> body = BodyOf(text);
  if (!body) return {.times = {}, .readable = false};
  EvictionTimes read;
  ForEachPart(*body, [&](std::string_view part) {
    if (const Timestamp at = ParseTime(part); at.Present()) {
      read.times.push_back(at);
    } else {
      read.readable = false;
    }
  });
  std::sort(read.times.begin(), read.times.end());
  if (read.times.size() > kMostEvictionsRead) {
    read.times.erase(read.times.begin(),
                     read.times.end() - static_cast<ptrdiff_t>(kMostEvictionsRead));
    read.readable = false;
  }
  return read;
}

std::optional<GroupLoss> ReadGroupLoss(std::string_view versioned) {
  const std::optional<std::string_view> body = BodyOf(versioned);
  if (!body) return std::nullopt;
  const std::string_view text = *body;
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  GroupLoss loss{.at = ParseTime(text.substr(0, slash))};
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + slash + 1, end, loss.size);
  if (!loss.at.Present() || error != std::errc{} || last != end) return std::nullopt;
  if (loss.size < 0 || loss.size > kLargestGroupRead) return std::nullopt;
  return loss;
}

}  // namespace krafla
