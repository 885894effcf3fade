#include "model/queue_amounts.h"

#include <algorithm>
#include <vector>

namespace krafla {

void AddToParents(const Cluster& cluster, AmountByQueue& amounts) {
  const QueueId root = cluster.FindQueue("root");
  if (!root.valid()) return;
  const AmountByQueue own = amounts;
  std::vector<QueueId> above;
  for (const QueueId id : cluster.queues_by_name) {
    if (id == root || own[id].IsEmpty()) continue;
    above.assign(1, id);
    while (above.back() != root) {
      const StrId parent = cluster.queues[above.back()].parent;
      const QueueId named = parent == kEmptyStr ? root : cluster.FindQueue(cluster.Text(parent));
      const bool again = std::find(above.begin(), above.end(), named) != above.end();
      above.push_back(!named.valid() || again ? root : named);
      amounts[above.back()].Add(own[id]);
    }
  }
}

AmountByQueue AllocatedByQueue(const Cluster& cluster) {
  AmountByQueue amounts(cluster.queues.size());
  for (const Job& job : cluster.jobs)
    if (job.queue.valid()) amounts[job.queue].Add(job.allocated);
  AddToParents(cluster, amounts);
  return amounts;
}

}  // namespace krafla
