#include "session/doubtful_nodes.h"

namespace krafla {

std::vector<uint64_t> DoubtfulNodes(Session& session, TaskId task,
                                    std::span<const uint64_t> nodes) {
  std::vector<uint64_t> doubtful(nodes.size(), 0);
  std::vector<uint64_t> of_hook;
  for (const auto& tier : session.predicates()) {
    for (const auto& entry : tier) {
      if (!entry.call->current) continue;
      of_hook.assign(nodes.begin(), nodes.end());
      if (entry.call->current_may_refuse) entry.call->current_may_refuse(task, of_hook);
      for (size_t i = 0; i < nodes.size(); ++i) doubtful[i] |= of_hook[i];
    }
  }
  return doubtful;
}

}  // namespace krafla
