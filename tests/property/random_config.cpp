#include "property/random_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace krafla::testing {

namespace {

using Names = std::vector<std::string>;

// Windows as they stand at noon: open, closed, past midnight, the whole day, and with an end that
// is now.
const Names kWindows = {"08:00-18:00", "13:00-15:00", "18:00-08:00", "22:00-13:00",
                        "00:00-00:00", "08:00-12:00", "12:00-12:30"};

std::string MakeActions(Dice& dice) {
  const Names usual = {
      "enqueue, allocate, backfill",
      "enqueue, allocate, preempt, backfill",
      "enqueue, allocate, preempt, reclaim, backfill",
      "enqueue, reclaim, allocate, backfill, preempt, shuffle",
      "allocate, preempt, shuffle",
      "allocate, reclaim, preempt",
      "shuffle, preempt, allocate",
      "preempt, reclaim",
      "backfill, allocate, reclaim, preempt",
  };
  const std::string chosen = dice.Pick(usual);
  Names all = {"enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"};
  dice.Shuffle(all);
  all.resize(static_cast<size_t>(2 + dice.Below(5)));
  return dice.Chance(65) ? chosen : fmt::format("{}", fmt::join(all, ", "));
}

// Plugins by tier.
std::vector<Names> MakeTiers(Dice& dice) {
  switch (dice.Below(5)) {
    case 0:  // Volcano's default
      return {{"priority", "gang", "conformance"},
              {"overcommit", "drf", "predicates", "proportion", "nodeorder"}};
    case 1:
      return {{"priority", "gang", "conformance", "cdp", "pdb", "tdm"},
              {"overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"}};
    case 2:
      return {{"tdm", "priority", "gang"},
              {"cdp", "conformance", "pdb"},
              {"drf", "predicates", "proportion", "nodeorder", "sla"}};
    case 3:
      return {{"priority", "gang", "conformance", "sla", "tdm", "cdp", "pdb", "predicates",
               "nodeorder", "binpack", "drf", "proportion"}};
    default:
      break;
  }
  Names all = {"priority",   "gang",       "conformance", "cdp", "pdb",        "tdm",    "drf",
               "predicates", "proportion", "nodeorder",   "sla", "overcommit", "binpack"};
  dice.Shuffle(all);
  std::vector<Names> tiers(static_cast<size_t>(1 + dice.Below(3)));
  for (const std::string& name : all) {
    const bool kept = dice.Chance(name == "gang" || name == "predicates" ? 93 : 75);
    Names& tier = tiers[static_cast<size_t>(dice.Below(static_cast<int>(tiers.size())))];
    if (kept) tier.push_back(name);
  }
  std::erase_if(tiers, [](const Names& tier) { return tier.empty(); });
  return tiers;
}

std::string MakeContestActions(Dice& dice) {
  return dice.Pick(Names{"enqueue, allocate, preempt, reclaim", "reclaim, preempt, allocate",
                         "enqueue, allocate, preempt, backfill", "allocate, reclaim, backfill"});
}

std::vector<Names> MakeContestTiers(Dice& dice) {
  return dice.Pick(std::vector<std::vector<Names>>{
      {{"priority", "gang"}, {"predicates", "proportion", "nodeorder"}},
      {{"priority", "conformance"}, {"gang", "predicates", "proportion", "binpack"}},
      {{"priority", "gang", "cdp", "pdb"}, {"predicates", "proportion"}},
      {{"gang", "drf"}, {"predicates", "nodeorder"}},
  });
}

std::string MakeArguments(Dice& dice, std::string_view plugin, const Shape& shape) {
  std::string text;
  auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format("      {}: {}\n", key, value);
  };
  if (plugin == "tdm") {
    // Zone rz4 has no window: it is not configured.
    for (const char* zone : {"rz1", "rz2", "rz3"})
      add(fmt::format("tdm.revocable-zone.{}", zone), fmt::format("\"{}\"", dice.Pick(kWindows)));
    if (dice.Chance(50)) add("tdm.evict.period", "30s");
  } else if (plugin == "binpack" && dice.Chance(50)) {
    add("binpack.weight", "5");
  } else if (plugin == "nodeorder" && dice.Chance(40)) {
    add("mostrequested.weight", "2");
    add("leastrequested.weight", "0");
  } else if (plugin == "sla" && shape.features.contains(Feature::kWaitingTimes)) {
    add("sla-waiting-time", "1h");
  } else if (plugin == "overcommit" && dice.Chance(50)) {
    add("overcommit-factor", "1.5");
  }
  return text.empty() ? text : "    arguments:\n" + text;
}

std::string MakeSwitches(Dice& dice, std::string_view plugin, const Shape& shape) {
  std::string text;
  if (plugin == "drf" && shape.features.contains(Feature::kHierarchy))
    text += "    enableHierarchy: true\n";
  const Names names = {"enablePreemptable", "enableReclaimable", "enableJobOrder",
                       "enableJobStarving", "enabledVictim",     "enableNodeOrder"};
  const std::string name = dice.Pick(names);
  if (dice.Chance(8) && shape.features.contains(Feature::kSwitches))
    text += fmt::format("    {}: false\n", name);
  return text;
}

}  // namespace

std::string MakeConfig(const Shape& shape, bool contest) {
  Dice dice(shape.seed, "config", 0);
  std::string text = fmt::format("actions: \"{}\"\ntiers:\n",
                                 contest ? MakeContestActions(dice) : MakeActions(dice));
  for (const Names& tier : contest ? MakeContestTiers(dice) : MakeTiers(dice)) {
    text += "- plugins:\n";
    for (const std::string& plugin : tier) {
      Dice own(shape.seed, plugin, 0);
      text += fmt::format("  - name: {}\n{}{}", plugin, MakeSwitches(own, plugin, shape),
                          MakeArguments(own, plugin, shape));
    }
  }
  std::string arguments;
  const bool many_candidates = dice.Chance(50);
  if (shape.features.contains(Feature::kTopologyAware)) {
    arguments += "    enableTopologyAwarePreemption: true\n";
    if (many_candidates) arguments += "    minCandidateNodesPercentage: 100\n";
  }
  if (dice.Chance(20)) arguments += "    predicateErrorCacheEnable: false\n";
  if (!arguments.empty())
    text += fmt::format("configurations:\n- name: preempt\n  arguments:\n{}", arguments);
  return text;
}

}  // namespace krafla::testing
