// Single changes to a configuration, to be tried out on a copy: each does what editing the file
// would.
#pragma once

#include <string>
#include <string_view>

#include "config/scheduler_config.h"

namespace krafla {

// Where it usually stands: enqueue, allocate, preempt, reclaim, backfill.
void AddAction(SchedulerConfig& config, const std::string& action);

void SwitchOff(SchedulerConfig& config, std::string_view plugin, Switch what);
// As it is written in the file: "enablePreemptable". Empty for switches that are never tried.
std::string_view SwitchName(Switch what);

void MoveToOwnTier(SchedulerConfig& config, std::string_view plugin, bool before_all_others);

// What may happen once the plugin is not asked, or asked later; empty when nothing is given up.
std::string_view WithoutTheVoteOf(std::string_view plugin);

}  // namespace krafla
