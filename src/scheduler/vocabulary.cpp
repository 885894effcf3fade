#include "scheduler/vocabulary.h"

#include <string>

#include "session/action.h"
#include "session/plugin.h"

namespace krafla {

Vocabulary BuiltInVocabulary() {
  Vocabulary vocabulary;
  for (const PluginEntry& entry : RegisteredPlugins())
    vocabulary.plugins.push_back({std::string(entry.name), entry.make()->Arguments()});
  for (const ActionEntry& entry : RegisteredActions())
    vocabulary.actions.push_back({std::string(entry.name), entry.make()->Arguments()});
  return vocabulary;
}

}  // namespace krafla
