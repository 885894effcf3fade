#include "config/find_plugin.h"

namespace krafla {

const PluginOption* FindPlugin(const SchedulerConfig& config, std::string_view name) {
  const PluginOption* found = nullptr;
  for (const Tier& tier : config.tiers)
    for (const PluginOption& option : tier.plugins)
      if (option.name == name) found = &option;
  return found;
}

}  // namespace krafla
