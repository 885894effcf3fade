#include "explain/config_changes.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace krafla {

void AddAction(SchedulerConfig& config, const std::string& action) {
  static const std::vector<std::string_view> kOrder = {"enqueue", "allocate", "preempt", "reclaim",
                                                       "backfill"};
  auto rank = [&](std::string_view name) {
    return std::find(kOrder.begin(), kOrder.end(), name) - kOrder.begin();
  };
  const auto at = std::find_if(config.actions.begin(), config.actions.end(),
                               [&](const ActionOption& a) { return rank(a.name) > rank(action); });
  config.actions.insert(at, ActionOption{.name = action});
}

void SwitchOff(SchedulerConfig& config, std::string_view plugin, Switch what) {
  for (Tier& tier : config.tiers)
    for (PluginOption& option : tier.plugins)
      if (option.name == plugin) option.enabled.reset(static_cast<size_t>(what));
}

std::string_view SwitchName(Switch what) {
  switch (what) {
    case Switch::kPreemptable:
      return "enablePreemptable";
    case Switch::kReclaimable:
      return "enableReclaimable";
    case Switch::kJobStarving:
      return "enableJobStarving";
    case Switch::kJobEnqueued:
      return "enableJobEnqueued";
    case Switch::kAllocatable:
      return "enableAllocatable";
    case Switch::kPreemptive:
      return "enablePreemptive";
    case Switch::kOverused:
      return "enableOverused";
    case Switch::kJobPipelined:
      return "enableJobPipelined";
    default:
      return "";
  }
}

void MoveToOwnTier(SchedulerConfig& config, std::string_view plugin, bool before_all_others) {
  Tier own;
  for (Tier& tier : config.tiers) {
    for (size_t i = 0; i < tier.plugins.size();) {
      if (tier.plugins[i].name == plugin) {
        own.plugins.push_back(std::move(tier.plugins[i]));
        tier.plugins.erase(tier.plugins.begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  config.tiers.insert(before_all_others ? config.tiers.begin() : config.tiers.end(),
                      std::move(own));
}

std::string_view WithoutTheVoteOf(std::string_view plugin) {
  if (plugin == "gang") return "jobs may then be left below their minimum";
  if (plugin == "cdp") return "pods may then be evicted right after they were placed";
  if (plugin == "pdb") return "PodDisruptionBudgets then no longer hold";
  if (plugin == "tdm") return "the disruption budgets of jobs then no longer hold";
  if (plugin == "priority") return "jobs may then be evicted for less important ones";
  if (plugin == "drf") return "jobs with small shares may then lose pods to larger ones";
  if (plugin == "proportion") return "queues may then get more than they deserve";
  if (plugin == "overcommit") return "jobs are then let in that there is no room for";
  return "";
}

}  // namespace krafla
