#include "manifest/annotations.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_bool.h"
#include "base/go_duration.h"
#include "model/well_known.h"

namespace krafla {

namespace {

const TextMap::Entry* FindCooldown(const Metadata& meta) {
  for (const TextMap* map : {&meta.labels, &meta.annotations})
    for (const std::string_view key : {keys::kCooldownTime, keys::kCooldownTimeAlternative})
      if (const TextMap::Entry* entry = map->Find(key)) return entry;
  return nullptr;
}

}  // namespace

int64_t DecodeCooldown(ObjectReader& reader, const Metadata& meta, std::string_view consequence) {
  const TextMap::Entry* entry = FindCooldown(meta);
  if (entry == nullptr) return -1;
  const Result<int64_t> duration = ParseGoDuration(entry->value);
  if (duration && *duration >= 0) return *duration;
  // The first words are Volcano's: operators search logs for them.
  reader.Warn(entry->at, fmt::format("invalid time duration {}={}: expected a duration such as "
                                     "\"10m\", not negative; {}",
                                     entry->key, Quoted(entry->value), consequence));
  return -1;
}

PreemptableMark DecodePreemptable(ObjectReader& reader, const Metadata& meta) {
  const TextMap::Entry* annotation = meta.annotations.Find(keys::kPreemptable);
  const TextMap::Entry* entry =
      annotation != nullptr ? annotation : meta.labels.Find(keys::kPreemptable);
  if (entry == nullptr) return {};
  const std::optional<bool> value = ParseGoBool(entry->value);
  if (!value)
    reader.Warn(entry->at, fmt::format("expected true or false, got {}; taken for false",
                                       Quoted(entry->value)));
  PreemptableMark mark;
  mark.said = true;
  mark.value = value.value_or(false);
  mark.by_annotation = mark.value && annotation != nullptr;
  return mark;
}

ZoneAccess DecodeZones(const Metadata& meta, StringPool& strings) {
  ZoneAccess zones;
  const TextMap::Entry* entry = meta.annotations.Find(keys::kRevocableZone);
  if (entry == nullptr) return zones;
  zones.annotated = true;
  std::vector<std::string_view> names;
  std::string_view rest = entry->value;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name == "*") zones.all = true;
    if (!name.empty() && name != "*") names.push_back(name);
  }
  if (zones.all) return zones;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  zones.names = strings.Intern(fmt::format("{}", fmt::join(names, ",")));
  return zones;
}

}  // namespace krafla
