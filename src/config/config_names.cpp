#include "config/config_names.h"

#include <algorithm>
#include <array>

namespace krafla {

namespace {

constexpr std::array<SwitchName, static_cast<size_t>(Switch::kCount)> kSwitchNames = {{
    {Switch::kJobOrder, "enableJobOrder"},
    {Switch::kHierarchy, "enableHierarchy"},
    {Switch::kJobReady, "enableJobReady"},
    {Switch::kJobPipelined, "enableJobPipelined"},
    {Switch::kTaskOrder, "enableTaskOrder"},
    {Switch::kPreemptable, "enablePreemptable"},
    {Switch::kReclaimable, "enableReclaimable"},
    {Switch::kPreemptive, "enablePreemptive"},
    {Switch::kQueueOrder, "enableQueueOrder"},
    {Switch::kClusterOrder, "enabledClusterOrder"},
    {Switch::kPredicate, "enablePredicate"},
    {Switch::kBestNode, "enableBestNode"},
    {Switch::kNodeOrder, "enableNodeOrder"},
    {Switch::kTargetJob, "enableTargetJob"},
    {Switch::kReservedNodes, "enableReservedNodes"},
    {Switch::kJobEnqueued, "enableJobEnqueued"},
    {Switch::kVictim, "enabledVictim"},
    {Switch::kJobStarving, "enableJobStarving"},
    {Switch::kOverused, "enabledOverused"},
    {Switch::kAllocatable, "enabledAllocatable"},
    {Switch::kHyperNodeOrder, "enabledHyperNodeOrder"},
    {Switch::kSubJobReady, "enabledSubJobReady"},
    {Switch::kSubJobPipelined, "enabledSubJobPipelined"},
    {Switch::kSubJobOrder, "enabledSubJobOrder"},
    {Switch::kHyperNodeGradient, "enabledHyperNodeGradient"},
}};

constexpr std::string_view kVolcanoPlugins[] = {
    "binpack",
    "capacity",
    "cdp",
    "conformance",
    "deviceshare",
    "drf",
    "extender",
    "gang",
    "network-topology-aware",
    "nodegroup",
    "nodeorder",
    "numa-aware",
    "overcommit",
    "pdb",
    "predicates",
    "priority",
    "proportion",
    "rescheduling",
    "resource-strategy-fit",
    "resourcequota",
    "sla",
    "task-topology",
    "tdm",
    "usage",
};
constexpr std::string_view kVolcanoActions[] = {
    "allocate",    "backfill", "enqueue", "gangpreempt",
    "gangreclaim", "preempt",  "reclaim", "shuffle",
};

constexpr std::string_view kVolcanoSharePlugins[] = {"capacity", "capacity-card"};

// "JobOrder" of enableJobOrder and enabledJobOrder, empty for other keys.
std::string_view SwitchStem(std::string_view key) {
  if (key.starts_with("enabled")) return key.substr(7);
  if (key.starts_with("enable")) return key.substr(6);
  return {};
}

}  // namespace

SwitchSet DefaultSwitches() {
  SwitchSet switches;
  switches.set();
  switches.reset(static_cast<size_t>(Switch::kHierarchy));
  switches.reset(static_cast<size_t>(Switch::kClusterOrder));
  return switches;
}

std::span<const SwitchName> SwitchNames() {
  return kSwitchNames;
}

const SwitchName* FindSwitch(std::string_view key) {
  const std::string_view stem = SwitchStem(key);
  if (stem.empty()) return nullptr;
  const auto* found =
      std::find_if(kSwitchNames.begin(), kSwitchNames.end(),
                   [&](const SwitchName& name) { return SwitchStem(name.key) == stem; });
  return found == kSwitchNames.end() ? nullptr : found;
}

const VocabularyEntry* FindEntry(std::span<const VocabularyEntry> entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const VocabularyEntry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string_view> NamesOf(std::span<const VocabularyEntry> entries) {
  std::vector<std::string_view> names;
  for (const VocabularyEntry& entry : entries) names.push_back(entry.name);
  return names;
}

std::span<const std::string_view> VolcanoPlugins() {
  return kVolcanoPlugins;
}

std::span<const std::string_view> VolcanoActions() {
  return kVolcanoActions;
}

std::span<const std::string_view> VolcanoSharePlugins() {
  return kVolcanoSharePlugins;
}

}  // namespace krafla
