// A guard that also holds when a zone closes (D26). Whoever plans to empty a zone asks the guards
// while it plans: if they were only asked afterwards, one pod they hold could be planned again and
// again, and hold up all others, and a gang that was to go whole could lose half of its members
// from the list.
#pragma once

#include <vector>

#include "session/session.h"

namespace krafla {

class DrainGuard {
 public:
  virtual ~DrainGuard() = default;
  // Takes off the list whom this guard would not let go. Asked again about a part of what it left
  // it takes nobody off: a plan made of that part stands.
  virtual void Spare(std::vector<TaskId>& tasks) = 0;
};

// The guards among the plugins of an open session.
std::vector<DrainGuard*> DrainGuardsOf(Session& session);

}  // namespace krafla
