// The names a configuration is made of: switches of plugins, the vocabulary, Volcano's own lists.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/argument_spec.h"
#include "config/scheduler_config.h"

namespace krafla {

struct SwitchName {
  Switch value;
  std::string_view key;  // in Volcano's spelling, for suggestions
};

// Every switch, in the order of the enumeration.
std::span<const SwitchName> SwitchNames();

// The switch of a key in either spelling (enableJobOrder, enabledJobOrder); null for other keys.
const SwitchName* FindSwitch(std::string_view key);

// Every plugin and action Volcano has at the version we follow. A name that is here and not in the
// vocabulary is no misspelling.
std::span<const std::string_view> VolcanoPlugins();
std::span<const std::string_view> VolcanoActions();
// Those of its plugins that share the cluster among queues and are not built here, with names that
// later versions use.
std::span<const std::string_view> VolcanoSharePlugins();

// Null when the name is unknown.
const VocabularyEntry* FindEntry(std::span<const VocabularyEntry> entries, std::string_view name);

std::vector<std::string_view> NamesOf(std::span<const VocabularyEntry> entries);

}  // namespace krafla
