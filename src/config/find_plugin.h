// What a configuration says about one plugin.
#pragma once

#include <string_view>

#include "config/scheduler_config.h"

namespace krafla {

// Null when it is not configured. Listed twice, it has the arguments it was given last.
const PluginOption* FindPlugin(const SchedulerConfig& config, std::string_view name);

}  // namespace krafla
