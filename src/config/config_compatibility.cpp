#include "config/config_compatibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/did_you_mean.h"
#include "config/config_arguments.h"

namespace krafla {

namespace {

constexpr std::string_view kProfiles[] = {"krafla", "volcano"};

bool IsProfile(std::string_view name) {
  return std::ranges::find(kProfiles, name) != std::end(kProfiles);
}

// The file's profile, Krafla's when it names none or a wrong one.
std::string_view ReadProfile(const YamlNode& node, ConfigProblems& problems) {
  constexpr std::string_view kConsequence = "the profile krafla is used";
  const ConfigSubject subject{{}, "compatibility.profile", ConfigTopic::kCompatibility};
  if (!node.IsScalar()) {
    problems.Complain(subject, node.location,
                      fmt::format("expected krafla or volcano, got {}", Describe(node)),
                      kConsequence);
  } else if (!IsProfile(node.text)) {
    problems.ComplainUnknown(subject, node.location, "profile", node.text, kProfiles, kConsequence);
  } else {
    return node.text;
  }
  return "krafla";
}

// The file's profile is checked even when the command line replaces it.
Compatibility ChooseProfile(const YamlEntry* written, const ConfigReadOptions& options,
                            ConfigProblems& problems) {
  std::string_view profile = "krafla";
  if (written != nullptr) profile = ReadProfile(written->value, problems);
  if (options.profile) {
    profile = *options.profile;
    if (!IsProfile(profile)) {
      problems.OptionError("--compatibility", fmt::format("unknown profile {}{}", Quoted(profile),
                                                          DidYouMeanHint(profile, kProfiles)));
    }
  }
  return profile == "volcano" ? Compatibility::Volcano() : Compatibility::Krafla();
}

void ReadSwitch(const YamlEntry& entry, Compatibility& compatibility, ConfigProblems& problems) {
  const std::span<const CompatibilitySwitch> switches = CompatibilitySwitches();
  const auto found = std::ranges::find(switches, entry.key, &CompatibilitySwitch::name);
  if (found == switches.end()) {
    std::vector<std::string_view> known = {"profile"};
    for (const CompatibilitySwitch& other : switches) known.push_back(other.name);
    problems.ComplainUnknown({{}, "compatibility"}, entry.key_location, "switch", entry.key, known,
                             "it is dropped");
    return;
  }
  const ConfigSubject subject{{}, "compatibility." + entry.key};
  const auto value = ReadBool(entry.value, subject, "the profile decides", problems);
  if (value) compatibility.*found->member = *value;
}

}  // namespace

Compatibility ReadCompatibility(const YamlNode* block, const ConfigReadOptions& options,
                                ConfigProblems& problems) {
  if (block != nullptr && block->IsNull()) block = nullptr;
  if (block != nullptr && !block->IsMapping()) {
    problems.Complain(
        {{}, "compatibility", ConfigTopic::kCompatibility}, block->location,
        fmt::format("expected a mapping such as {{profile: volcano}}, got {}", Describe(*block)),
        "it is dropped");
    block = nullptr;
  }
  const YamlEntry* written = block == nullptr ? nullptr : block->Find("profile");
  Compatibility compatibility = ChooseProfile(written, options, problems);
  if (block == nullptr) return compatibility;
  for (const YamlEntry& entry : block->entries) {
    if (entry.key != "profile") ReadSwitch(entry, compatibility, problems);
  }
  return compatibility;
}

}  // namespace krafla
