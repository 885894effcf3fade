// Actions that a running scheduler leaves out for a while, because an internal check failed in them
// (scheduler/scheduling_loop_recovery.cpp). A recorded configuration names them in its first line,
// a comment, so that replays and explanations leave them out too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/scheduler_config.h"

namespace krafla {

void LeaveOutActions(SchedulerConfig& config, std::span<const std::string> actions);

// `config` as it is when no action is skipped.
std::string WithSkippedActions(std::string_view config, std::span<const std::string> actions);
std::vector<std::string> SkippedActionsOf(std::string_view config);

}  // namespace krafla
