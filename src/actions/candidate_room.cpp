#include "actions/candidate_room.h"

#include <utility>

namespace krafla {

namespace {

constexpr uint32_t kWord = 64;

// Sums made in another order may differ in the last bits; a node too many is only asked.
constexpr double kSlack = 1;

}  // namespace

CandidateRoom::Group CandidateRoom::GroupOf(TaskId task, const VictimRule& rule) const {
  const Job& job = session_.cluster.jobs[session_.cluster.tasks[task].job];
  if (rule.whose == VictimRule::Whose::kOtherQueues) return {rule.whose, job.queue};
  if (rule.whose == VictimRule::Whose::kOwnJob && job.Count(TaskStatus::kBound) == 0 &&
      job.Count(TaskStatus::kRunning) == 0)
    return {};
  return {VictimRule::Whose::kOtherJobsOfQueue, job.queue};
}

bool CandidateRoom::Counts(const Group& group, const Task& task) const {
  if (!group.queue.valid() || !IsPreemptableStatus(task.status) || !task.preemptable ||
      !task.job.valid())
    return false;
  const QueueId queue = session_.cluster.jobs[task.job].queue;
  if (group.whose != VictimRule::Whose::kOtherQueues) return queue == group.queue;
  return task.status == TaskStatus::kRunning && queue != group.queue &&
         session_.cluster.queues[queue].reclaimable;
}

void CandidateRoom::AddUp(Sums& sums, uint32_t position) {
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.nodes_by_name[position];
  Resource room = cluster.FutureIdle(node);
  sums.candidates[position] = 0;
  for (const TaskId id : cluster.nodes[node].tasks) {
    const Task& task = cluster.tasks[id];
    if (!Counts(sums.group, task)) continue;
    room.Add(cluster.classes[task.cls].request);
    ++sums.candidates[position];
  }
  for (size_t kind = 0; kind < sums.room.size(); ++kind)
    sums.room[kind][position] = room.Get(static_cast<int>(kind));
}

void CandidateRoom::Make(Sums& sums, Group group) {
  const Cluster& cluster = session_.cluster;
  const size_t n = cluster.nodes_by_name.size();
  if (position_of_.empty()) {
    seen_.assign(n, 0);
    position_of_.assign(cluster.nodes.size(), 0);
    for (uint32_t p = 0; p < n; ++p) position_of_[cluster.nodes_by_name[p].value] = p;
  }
  sums.group = group;
  sums.made = true;
  sums.classes.clear();
  sums.candidates.assign(n, 0);
  sums.room.assign(static_cast<size_t>(cluster.kinds.size()), std::vector<double>(n));
  for (uint32_t p = 0; p < n; ++p) AddUp(sums, p);
  sums.synced = session_.node_changes().size();
}

template <class F>
void CandidateRoom::ForEachChanged(size_t since, F&& f) {
  const std::vector<NodeId>& changes = session_.node_changes();
  ++passes_;
  for (size_t i = since; i < changes.size(); ++i) {
    const uint32_t p = position_of_[changes[i].value];
    if (std::exchange(seen_[p], passes_) != passes_) f(p);
  }
}

void CandidateRoom::Synchronize(Sums& sums) {
  const std::vector<NodeId>& changes = session_.node_changes();
  if (changes.size() - sums.synced > session_.cluster.nodes_by_name.size()) {
    for (uint32_t p = 0; p < session_.cluster.nodes_by_name.size(); ++p) AddUp(sums, p);
  } else {
    ForEachChanged(sums.synced, [&](uint32_t p) { AddUp(sums, p); });
  }
  sums.synced = changes.size();
}

bool CandidateRoom::HasRoom(const Sums& sums, ClassId cls, uint32_t position,
                            bool needs_candidates) const {
  if (needs_candidates && sums.candidates[position] == 0) return false;
  const Resource& request = session_.cluster.classes[cls].request;
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (request.Get(kind) > sums.room[static_cast<size_t>(kind)][position] + kSlack) return false;
  }
  return true;
}

std::span<const uint64_t> CandidateRoom::NodesFor(TaskId task, const VictimRule& rule) {
  const Group group = GroupOf(task, rule);
  Sums& sums = group.queue.valid() ? group_ : nobody_;
  current_ = &sums;
  if (!sums.made || sums.group != group) {
    Make(sums, group);
  } else {
    Synchronize(sums);
  }
  const ClassId cls = session_.cluster.tasks[task].cls;
  const uint32_t n = static_cast<uint32_t>(session_.cluster.nodes_by_name.size());
  const std::vector<NodeId>& changes = session_.node_changes();
  ClassBits& kept = sums.classes[cls];
  auto set = [&](uint32_t p) {
    const uint64_t bit = uint64_t{1} << (p % kWord);
    uint64_t& word = kept.bits[p / kWord];
    word = HasRoom(sums, cls, p, rule.needs_candidates()) ? word | bit : word & ~bit;
  };
  if (kept.bits.empty() || changes.size() - kept.synced > n) {
    kept.bits.assign((n + kWord - 1) / kWord, 0);
    for (uint32_t p = 0; p < n; ++p) set(p);
  } else {
    ForEachChanged(kept.synced, set);
  }
  kept.synced = changes.size();
  return kept.bits;
}

}  // namespace krafla
