// Which questions each configured plugin answers, told by the plugins themselves: a session is
// opened with the configuration and the hooks are looked at. A rule that asks here cannot fall
// behind what the plugins do.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace krafla {

class PluginProbe {
 public:
  // `cluster` must outlive the probe; opening a session does not change it.
  PluginProbe(Cluster& cluster, const SchedulerConfig& config, const SessionOptions& time);
  ~PluginProbe();
  PluginProbe(const PluginProbe&) = delete;
  PluginProbe& operator=(const PluginProbe&) = delete;

  // Null for a plugin that is not configured.
  const PluginHooks* HooksOf(std::string_view plugin) const;
  Session& session() const { return *session_; }

  // Plugins of tier `tier` (from 0) whose `hook` is there and switched on, in order. Listed twice
  // in a tier, a plugin is here twice, as the session has it.
  template <class Hook>
  std::vector<const PluginOption*> Voters(size_t tier, Hook PluginHooks::* hook,
                                          Switch needs) const {
    std::vector<const PluginOption*> voters;
    for (const PluginOption& option : config_.tiers[tier].plugins) {
      const PluginHooks* hooks = HooksOf(option.name);
      if (hooks != nullptr && hooks->*hook && option.Enabled(needs)) voters.push_back(&option);
    }
    return voters;
  }
  template <class Hook>
  bool AnyVoter(Hook PluginHooks::* hook, Switch needs) const {
    for (size_t tier = 0; tier < config_.tiers.size(); ++tier)
      if (!Voters(tier, hook, needs).empty()) return true;
    return false;
  }

 private:
  const SchedulerConfig& config_;
  std::string log_text_;  // what plugins say while they open is for `run` to print
  Log log_;
  std::map<std::string, PluginHooks, std::less<>> hooks_;
  std::unique_ptr<Session> session_;
};

}  // namespace krafla
