// A plugin: one .cpp in src/plugins that defines Make_<file name>_plugin. The build makes the list.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "config/argument_spec.h"
#include "config/scheduler_config.h"
#include "session/hooks.h"

namespace krafla {

class Session;
struct ClusterChanges;

class Plugin {
 public:
  virtual ~Plugin() = default;
  // The arguments it takes; a configuration with others is refused.
  virtual std::vector<ArgumentSpec> Arguments() const { return {}; }
  // A session begins: look at it, fill in the hooks.
  virtual void Open(Session& session, const PluginOption& option, PluginHooks& hooks) = 0;
  // The next session begins, with what this plugin keeps from the last one: everything it has saved
  // in the undo log is as it was when that began, and the cluster has changed since in this way.
  // False: not possible, a new plugin is made and opened.
  virtual bool Reopen(Session&, const ClusterChanges&) { return false; }
  // All actions have run; job conditions may be written.
  virtual void Close(Session&) {}
};

struct PluginEntry {
  std::string_view name;
  std::unique_ptr<Plugin> (*make)();
};

std::span<const PluginEntry> RegisteredPlugins();

}  // namespace krafla
