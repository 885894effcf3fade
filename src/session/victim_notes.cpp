#include "session/victim_notes.h"

#include <algorithm>

namespace krafla {

VictimNotes::VictimNotes(Session& session, std::string_view plugin) : session_(session) {
  const std::vector<std::string>& names = session.plugin_names();
  const auto it = std::find(names.begin(), names.end(), plugin);
  KRAFLA_CHECK(it != names.end(), std::string(plugin));
  plugin_ = static_cast<uint8_t>(it - names.begin());
}

std::string ListOf(const Cluster& cluster, std::span<const TaskId> tasks) {
  std::string text = "[";
  for (TaskId task : tasks) {
    if (text.size() > 1) text += ' ';
    text += cluster.TaskKey(task);
  }
  return text += ']';
}

}  // namespace krafla
