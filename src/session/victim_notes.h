// What a plugin that votes on victims leaves behind: whom it spared and why, in the decision trace;
// what it answered, in the log.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "session/session.h"

namespace krafla {

class VictimNotes {
 public:
  // `plugin`: its name in the configuration.
  VictimNotes(Session& session, std::string_view plugin);

  void Spared(TaskId task, VetoCode why) {
    session_.trace.Add({.kind = TraceKind::kVeto,
                        .plugin = plugin_,
                        .code = static_cast<uint16_t>(why),
                        .a = task.value});
  }

 private:
  Session& session_;
  uint8_t plugin_;  // index into Session::plugin_names()
};

// "[ns/a ns/b]", for log lines.
std::string ListOf(const Cluster& cluster, std::span<const TaskId> tasks);

}  // namespace krafla
