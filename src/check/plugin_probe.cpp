#include "check/plugin_probe.h"

#include <utility>

#include "session/plugin.h"

namespace krafla {

namespace {

using HookTable = std::map<std::string, PluginHooks, std::less<>>;

// A plugin as it is, with a copy of its hooks put aside.
class ObservedPlugin final : public Plugin {
 public:
  ObservedPlugin(std::unique_ptr<Plugin> plugin, HookTable& table)
      : plugin_(std::move(plugin)), table_(table) {}

  std::vector<ArgumentSpec> Arguments() const override { return plugin_->Arguments(); }
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override {
    plugin_->Open(session, option, hooks);
    table_[option.name] = hooks;
  }
  void Close(Session& session) override { plugin_->Close(session); }

 private:
  std::unique_ptr<Plugin> plugin_;
  HookTable& table_;
};

}  // namespace

PluginProbe::PluginProbe(Cluster& cluster, const SchedulerConfig& config,
                         const SessionOptions& time)
    : config_(config) {
  log_.CaptureTo(&log_text_);
  SessionOptions options = time;
  options.make_plugin = [this](std::string_view name) -> std::unique_ptr<Plugin> {
    for (const PluginEntry& entry : RegisteredPlugins())
      if (entry.name == name) return std::make_unique<ObservedPlugin>(entry.make(), hooks_);
    return nullptr;
  };
  session_ = std::make_unique<Session>(cluster, config, options, log_);
}

PluginProbe::~PluginProbe() = default;

const PluginHooks* PluginProbe::HooksOf(std::string_view plugin) const {
  const auto found = hooks_.find(plugin);
  return found == hooks_.end() ? nullptr : &found->second;
}

}  // namespace krafla
