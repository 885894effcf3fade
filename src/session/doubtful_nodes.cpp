#include "session/doubtful_nodes.h"

namespace krafla {

std::span<uint64_t> DoubtfulNodes::Find(const Session& session, TaskId task, RowOfBits nodes) {
  doubtful_.assign(nodes.size(), 0);
  for (const auto& tier : session.predicates()) {
    for (const auto& entry : tier) {
      if (!entry.call->current) continue;
      of_hook_.assign(nodes.begin(), nodes.end());
      if (entry.call->current_may_refuse) entry.call->current_may_refuse(task, of_hook_);
      AddThese(doubtful_, of_hook_);
    }
  }
  return doubtful_;
}

}  // namespace krafla
