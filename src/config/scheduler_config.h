// A scheduler configuration file, read and checked: actions, tiers of plugins with their switches
// and arguments, arguments of actions, and the compatibility block. A plain value;
// ReadSchedulerConfig fills it.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "config/argument_spec.h"
#include "config/compatibility.h"
#include "config/eviction_limits.h"

namespace krafla {

// The plugin switches of the configuration file (enableJobOrder, …), by what they switch.
enum class Switch : uint8_t {
  kJobOrder,
  kHierarchy,
  kJobReady,
  kJobPipelined,
  kTaskOrder,
  kPreemptable,
  kReclaimable,
  kPreemptive,
  kQueueOrder,
  kClusterOrder,
  kPredicate,
  kBestNode,
  kNodeOrder,
  kTargetJob,
  kReservedNodes,
  kJobEnqueued,
  kVictim,
  kJobStarving,
  kOverused,
  kAllocatable,
  kHyperNodeOrder,
  kSubJobReady,
  kSubJobPipelined,
  kSubJobOrder,
  kHyperNodeGradient,
  kCount,
};
using SwitchSet = std::bitset<static_cast<size_t>(Switch::kCount)>;

// All switches on but kHierarchy and kClusterOrder: what an absent switch means.
SwitchSet DefaultSwitches();

// One argument as written. Typed getters return nothing when the key is absent or, in lenient mode,
// when its text is not of the type (the reader has already complained).
struct Argument {
  std::string key;
  std::string text;  // the scalar as written, unquoted; JSON text for lists and maps
  Location location;
};

class Arguments {
 public:
  std::vector<Argument> items;

  const Argument* Find(std::string_view key) const;
  std::optional<int64_t> GetInt(std::string_view key) const;
  std::optional<double> GetFloat(std::string_view key) const;
  std::optional<bool> GetBool(std::string_view key) const;
  std::optional<int64_t> GetDurationNs(std::string_view key) const;
  std::optional<std::string_view> GetString(std::string_view key) const;
};

struct PluginOption {
  std::string name;
  SwitchSet enabled = DefaultSwitches();
  Arguments arguments;
  Location location;

  bool Enabled(Switch s) const { return enabled.test(static_cast<size_t>(s)); }
};

struct Tier {
  std::vector<PluginOption> plugins;
};

struct ActionOption {
  std::string name;
  Location location;
};

struct ActionArguments {
  std::string action;
  Arguments arguments;
};

struct SchedulerConfig {
  std::vector<ActionOption> actions;
  std::vector<Tier> tiers;
  std::vector<ActionArguments> configurations;
  Compatibility compatibility;
  // `serve` evicts through the eviction API, which asks PodDisruptionBudgets, instead of deleting.
  bool eviction_api = false;
  EvictionLimits eviction_limits;
  // Of a lenient reading: the plugin that shared the cluster among queues, is not built, and whose
  // place `proportion` has taken. Empty: none.
  std::string replaced_share_plugin;

  bool HasAction(std::string_view name) const;
  // The arguments of an action, empty when none are configured.
  const Arguments& ArgumentsOf(std::string_view action) const;
};

struct ConfigReadOptions {
  std::string file_name;  // for messages
  bool lenient = false;   // unknown names become warnings, bad values take their defaults
  std::optional<std::string> profile;  // --compatibility: replaces the file's profile
};

// Reads the text of a configuration file. Problems go to `diagnostics`, all of them; the value is
// meaningful only when there were no errors.
SchedulerConfig ReadSchedulerConfig(std::string_view text, const Vocabulary& vocabulary,
                                    const ConfigReadOptions& options, Diagnostics& diagnostics);

// The configuration in force when none is given: Volcano's default.
std::string_view DefaultSchedulerConfigText();

}  // namespace krafla
