#include "session/drain_guard.h"

namespace krafla {

std::vector<DrainGuard*> DrainGuardsOf(Session& session) {
  std::vector<DrainGuard*> guards;
  for (const std::string& name : session.plugin_names())
    if (auto* guard = dynamic_cast<DrainGuard*>(session.FindPlugin(name))) guards.push_back(guard);
  return guards;
}

}  // namespace krafla
