#include "config/config_eviction_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "base/did_you_mean.h"
#include "config/config_arguments.h"

namespace krafla {

namespace {

constexpr std::string_view kPerMinute = "per-minute";
constexpr std::string_view kPerCycle = "per-cycle";
constexpr std::string_view kExemptDrains = "exempt-drains";
constexpr std::string_view kKeys[] = {kPerMinute, kPerCycle, kExemptDrains};

ConfigSubject SubjectOf(std::string_view key) {
  return {{}, fmt::format("eviction-limits.{}", key), ConfigTopic::kBadValue};
}

// A limit that cannot be read must not mean "no limit": the least there is holds.
int32_t ReadLimit(const YamlEntry& entry, ConfigProblems& problems) {
  const std::string& text = entry.value.text;
  int32_t limit = 0;
  const char* const end = text.data() + text.size();
  if (entry.value.IsScalar()) {
    const auto [stop, error] = std::from_chars(text.data(), end, limit);
    if (error == std::errc{} && stop == end && limit >= 1) return limit;
  }
  problems.Complain(SubjectOf(entry.key), entry.value.location,
                    fmt::format("expected a whole number of evictions, at least 1, got {}",
                                Describe(entry.value)),
                    "1 is used");
  return 1;
}

}  // namespace

EvictionLimits ReadEvictionLimits(const YamlNode* block, ConfigProblems& problems) {
  EvictionLimits limits;
  if (block == nullptr || block->IsNull()) return limits;
  if (!block->IsMapping()) {
    problems.Complain({{}, "eviction-limits", ConfigTopic::kBadValue}, block->location,
                      fmt::format("expected a mapping such as {{per-minute: 100, per-cycle: 50}}, "
                                  "got {}",
                                  Describe(*block)),
                      "it is dropped");
    return limits;
  }
  for (const YamlEntry& entry : block->entries) {
    if (entry.key == kPerMinute) {
      limits.per_minute = ReadLimit(entry, problems);
    } else if (entry.key == kPerCycle) {
      limits.per_cycle = ReadLimit(entry, problems);
    } else if (entry.key == kExemptDrains) {
      limits.exempt_drains =
          ReadBool(entry.value, SubjectOf(entry.key), "drains count", problems).value_or(false);
    } else {
      problems.ComplainUnknown({{}, "eviction-limits", ConfigTopic::kUnknownKey},
                               entry.key_location, "key", entry.key, kKeys, "it is dropped");
    }
  }
  return limits;
}

}  // namespace krafla
