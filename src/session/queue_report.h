// What a queue was due and what it had, for output. Filled by the plugin that shares the cluster
// among queues, when the session opens and again when it closes.
#pragma once

#include "base/strong_id.h"
#include "model/ids.h"
#include "model/resource.h"

namespace krafla {

struct QueueReport {
  Resource deserved;
  Resource allocated;
  double share = 0;    // allocated of deserved, in the kind where that is most
  bool known = false;  // false: no job uses the queue, or nobody shares among queues
};

using QueueReports = Table<QueueId, QueueReport>;

}  // namespace krafla
