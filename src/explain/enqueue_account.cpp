#include "explain/enqueue_account.h"

#include <utility>

#include "explain/amount_words.h"
#include "explain/held_amounts.h"
#include "fair_share/job_reservation.h"

namespace krafla {

EnqueueAccount EnqueueAccountOf(const Cluster& cluster, QueueId queue) {
  EnqueueAccount account;
  account.allocated = AllocatedOf(cluster, queue);
  for (NodeId node : cluster.nodes_by_name) account.used.Add(cluster.used[node]);
  for (JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    const bool own = job.queue == queue;
    if (own) account.above_minimum.Add(ElasticResources(job));
    if (!job.min_resources) continue;
    const bool waits = job.phase == JobPhase::kInqueue;
    if (!waits && !RunsAtMinimum(job)) continue;
    const Resource missing =
        WithoutGatedPods(cluster, job, UnallocatedMinResources(job, cluster.kinds));
    if (own) account.kept.Add(missing);
    // In the cluster a job that waits keeps its whole minimum, whatever it holds already.
    account.kept_in_cluster.Add(waits ? WithoutGatedPods(cluster, job, *job.min_resources)
                                      : missing);
  }
  return account;
}

void AddEnqueueNumbers(const Session& s, JobId id, const EnqueueAccount& account, Gate& gate) {
  const Cluster& c = s.cluster;
  const Job& job = c.jobs[id];
  if (!job.min_resources) return;
  const Queue& queue = c.queues[job.queue];
  const QueueReport& report = s.queue_reports[job.queue];
  ExplanationTable table{
      .name = "amounts",
      .columns = {"resource", "asks for", "queue holds", "above minimum", "kept for others",
                  "deserves", "capability", "cluster has", "used", "kept in cluster"}};
  for (int kind = 0; kind < c.kinds.size(); ++kind) {
    if (!job.min_resources->Has(kind) || job.min_resources->Get(kind) <= 0) continue;
    const std::string& name = c.kinds.Name(kind);
    std::vector<Cell> row{name};
    const auto add = [&](const std::string& key, double amount) {
      gate.numbers.push_back({key + "." + name, amount});
      row.emplace_back(AmountText(amount, kind));
    };
    add("minResources", job.min_resources->Get(kind));
    add("allocated", account.allocated.Get(kind));
    add("aboveMinimum", account.above_minimum.Get(kind));
    add("kept", account.kept.Get(kind));
    if (report.known) {
      add("deserved", report.deserved.Get(kind));
    } else {
      row.emplace_back("-");
    }
    if (queue.capability && queue.capability->Get(kind) > 0) {
      add("capability", queue.capability->Get(kind));
    } else {
      row.emplace_back("-");
    }
    add("total", c.total.Get(kind));
    add("used", account.used.Get(kind));
    add("keptInCluster", account.kept_in_cluster.Get(kind));
    table.rows.push_back(std::move(row));
  }
  if (!table.rows.empty()) gate.tables.push_back(std::move(table));
}

}  // namespace krafla
