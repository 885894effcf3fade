#include "session/made_room_for.h"

namespace krafla {

JobId MadeRoomFor(const Cluster& cluster, const Eviction& eviction) {
  if (!eviction.for_task.valid()) return {};
  const JobId job = cluster.tasks[eviction.for_task].job;
  return job != cluster.tasks[eviction.task].job ? job : JobId{};
}

}  // namespace krafla
