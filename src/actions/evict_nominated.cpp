#include "actions/evict_nominated.h"

#include <algorithm>
#include <span>

#include "session/statement.h"

namespace krafla {

namespace {

// Victims of a zone lie all over the tables. What evicting one reads first is fetched while those
// before it are evicted.
constexpr size_t kAhead = 4;

void Fetch(const void* begin, size_t bytes) {
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(static_cast<const char*>(begin) + at);
}

void FetchAhead(const Session& s, std::span<const TaskId> victims, size_t i) {
  const Cluster& cluster = s.cluster;
  if (i + 2 * kAhead < victims.size()) Fetch(&cluster.tasks[victims[i + 2 * kAhead]], sizeof(Task));
  if (i + kAhead >= victims.size()) return;
  const NodeId node = cluster.tasks[victims[i + kAhead]].node;
  if (!node.valid()) return;
  Fetch(&cluster.releasing[node], sizeof(Resource));
  if (!s.kube.built()) return;
  Fetch(&s.kube.SumsOf(node), sizeof(KubeView::Sums));
  Fetch(&s.kube.PodsOn(node), sizeof(std::vector<TaskId>));
}

}  // namespace

void EvictNominatedVictims(Session& s) {
  const Victims victims = s.VictimTasks();
  if (victims.tasks.empty()) return;
  const auto& names = s.plugin_names();
  const auto pdb =
      static_cast<size_t>(std::find(names.begin(), names.end(), "pdb") - names.begin());
  const bool pdb_nominates = pdb < names.size() && (victims.permitted_by >> pdb & 1) != 0;
  s.plan.evictions.reserve(s.plan.evictions.size() + victims.tasks.size());
  for (size_t i = 0; i < victims.tasks.size(); ++i) {
    FetchAhead(s, victims.tasks, i);
    const TaskId id = victims.tasks[i];
    const Task& task = s.cluster.tasks[id];
    // Of a pod without a PodGroup nobody would make a new one.
    if (!task.job.valid() || !IsPreemptableStatus(task.status)) continue;
    if (s.log.V(3))
      s.log.Line("pod {} from namespace {} and job {} will be evicted.", s.cluster.Text(task.name),
                 s.cluster.Text(task.ns), s.cluster.JobKey(task.job));
    // A gang leaves a closing zone whole, from ordinary nodes too; only Volcano's pdb nominates for
    // another reason.
    const bool for_budget =
        pdb_nominates && !(task.node.valid() && s.cluster.nodes[task.node].zone != kEmptyStr);
    Statement::EvictForGood(s, id,
                            for_budget ? EvictionReason::kBudget : EvictionReason::kZoneClosed,
                            victims.permitted_by);
  }
}

}  // namespace krafla
