#include "actions/candidate_room.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "session/node_search.h"

namespace krafla {

namespace {

constexpr uint32_t kWord = 64;

// Sums made in another order may differ in the last bits; a node too many is only asked.
constexpr double kSlack = 1;

// Groups that are kept: one or two for each of the queues that starve.
constexpr size_t kMaxGroups = 32;

}  // namespace

struct CandidateRoom::Tables {
  std::vector<uint32_t> position_of;  // by NodeId
  std::vector<uint32_t> seen;         // by position: the last pass over changes that met it
  uint32_t passes = 0;
  std::vector<std::unique_ptr<Sums>> groups;
  uint64_t asked = 0;
};

CandidateRoom::Group CandidateRoom::GroupOf(TaskId task, const VictimRule& rule) const {
  const Job& job = session_.cluster.jobs[session_.cluster.tasks[task].job];
  const bool needs_candidates = rule.needs_candidates();
  if (rule.whose == VictimRule::Whose::kOtherQueues)
    return {rule.whose, job.queue, needs_candidates};
  if (rule.whose == VictimRule::Whose::kOwnJob && job.Count(TaskStatus::kBound) == 0 &&
      job.Count(TaskStatus::kRunning) == 0)
    return {.needs_candidates = needs_candidates};
  return {VictimRule::Whose::kOtherJobsOfQueue, job.queue, needs_candidates};
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

CandidateRoom::Sums& CandidateRoom::SumsOf(const Group& group) {
  Tables& tables = session_.node_search().Companion<Tables>();
  const auto found = std::find_if(tables.groups.begin(), tables.groups.end(),
                                  [&](const auto& sums) { return sums->group == group; });
  if (found != tables.groups.end()) {
    (*found)->used = ++tables.asked;
    Synchronize(**found);
    return **found;
  }
  if (tables.groups.size() >= kMaxGroups)
    tables.groups.erase(
        std::min_element(tables.groups.begin(), tables.groups.end(),
                         [](const auto& l, const auto& r) { return l->used < r->used; }));
  Sums& sums = *tables.groups.emplace_back(std::make_unique<Sums>());
  sums.used = ++tables.asked;
  Make(sums, group);
  return sums;
}

void CandidateRoom::Make(Sums& sums, const Group& group) {
  const Cluster& cluster = session_.cluster;
  const size_t n = cluster.nodes_by_name.size();
  Tables& tables = session_.node_search().Companion<Tables>();
  if (tables.position_of.empty()) {
    tables.seen.assign(n, 0);
    tables.position_of.assign(cluster.nodes.size(), 0);
    for (uint32_t p = 0; p < n; ++p) tables.position_of[cluster.nodes_by_name[p].value] = p;
  }
  sums.group = group;
  sums.classes.clear();
  sums.candidates.assign(n, 0);
  sums.room.assign(static_cast<size_t>(cluster.kinds.size()), std::vector<double>(n));
  for (uint32_t p = 0; p < n; ++p) AddUp(sums, p);
  sums.synced = session_.node_changes().size();
}

template <class F>
void CandidateRoom::ForEachChanged(size_t since, F&& f) {
  const std::vector<NodeId>& changes = session_.node_changes();
  Tables& tables = session_.node_search().Companion<Tables>();
  ++tables.passes;
  for (size_t i = since; i < changes.size(); ++i) {
    const uint32_t p = tables.position_of[changes[i].value];
    if (std::exchange(tables.seen[p], tables.passes) != tables.passes) f(p);
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

bool CandidateRoom::HasRoom(const Sums& sums, ClassId cls, uint32_t position) const {
  if (sums.group.needs_candidates && sums.candidates[position] == 0) return false;
  const Resource& request = session_.cluster.classes[cls].request;
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (request.Get(kind) > sums.room[static_cast<size_t>(kind)][position] + kSlack) return false;
  }
  return true;
}

std::span<const uint64_t> CandidateRoom::NodesFor(TaskId task, const VictimRule& rule) {
  Sums& sums = SumsOf(GroupOf(task, rule));
  current_ = &sums;
  const ClassId cls = session_.cluster.tasks[task].cls;
  const uint32_t n = static_cast<uint32_t>(session_.cluster.nodes_by_name.size());
  const std::vector<NodeId>& changes = session_.node_changes();
  ClassBits& kept = sums.classes[cls];
  auto set = [&](uint32_t p) {
    const uint64_t bit = uint64_t{1} << (p % kWord);
    uint64_t& word = kept.bits[p / kWord];
    word = HasRoom(sums, cls, p) ? word | bit : word & ~bit;
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
