#include "actions/candidates_by_node.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "model/fetch_tasks.h"

namespace krafla {

namespace {

constexpr uint32_t kBlock = AmountColumns::kBlock;
constexpr int64_t kEnough = 0;

}  // namespace

int64_t LevelOf(const VictimLevels* voter, TaskId candidate) {
  return voter != nullptr && voter->level ? voter->level(candidate) : kEnough;
}

int64_t LevelNeededBy(const VictimLevels* voter, TaskId task) {
  return voter != nullptr && voter->needed ? voter->needed(task) : kEnough;
}

// Nothing that was looked up for another queue, or in another state, is good for this one.
bool CandidatesByNode::Begin(QueueId queue, Asking asking) {
  bool same = queue_ == queue && asking_ == asking && !is_known_.empty();
  size_t at = 0;
  for (const VotingTier& tier : session_.voting_tiers(asking))
    for (const VictimLevels* voter : tier.voters) {
      if (at == states_.size()) states_.push_back(0);
      const uint64_t state = voter != nullptr && voter->state ? voter->state() : 0;
      same &= std::exchange(states_[at++], state) == state;
    }
  if (same) return false;
  const size_t nodes = session_.cluster.nodes_by_name.size();
  queue_ = queue;
  asking_ = asking;
  is_known_.assign((nodes + kBlock - 1) / kBlock, 0);
  on_.resize(nodes);
  future_idle_.resize(nodes * static_cast<size_t>(session_.cluster.kinds.size()));
  return true;
}

// As CandidacyOf, for any task of the queue.
bool CandidatesByNode::Counts(const Task& task) const {
  if (!IsPreemptableStatus(task.status) || !task.preemptable || !task.job.valid()) return false;
  const QueueId its = session_.cluster.jobs[task.job].queue;
  if (asking_ == Asking::kPreempt) return its == queue_;
  return task.status == TaskStatus::kRunning && its != queue_ &&
         session_.cluster.queues[its].reclaimable;
}

void CandidatesByNode::Find(size_t block, uint64_t nodes) {
  std::array<uint32_t, kBlock> positions;
  size_t count = 0;
  for (nodes &= ~is_known_[block]; nodes != 0; nodes &= nodes - 1)
    positions[count++] =
        static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes));
  const Cluster& cluster = session_.cluster;
  for (size_t i = 0; i < count; ++i) {
    FetchTasksAhead<true>(cluster, count, i,
                          [&](size_t at) { return cluster.nodes_by_name[positions[at]]; });
    FindAt(positions[i]);
  }
}

void CandidatesByNode::FindAt(uint32_t position) {
  SetBit(is_known_, position, true);
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.nodes_by_name[position];
  const int kinds = cluster.kinds.size();
  double* idle = &future_idle_[position * static_cast<size_t>(kinds)];
  for (int kind = 0; kind < kinds; ++kind)
    idle[kind] = cluster.idle[node].Get(kind) + cluster.releasing[node].Get(kind) -
                 cluster.pipelined[node].Get(kind);
  FollowIdle(position);
  OnNode& here = on_[position];
  here.tasks.clear();
  here.candidates.clear();
  here.levels.clear();
  here.amounts.clear();
  jobs_.clear();
  for (const TaskId id : cluster.nodes[node].tasks) {
    const Task& task = cluster.tasks[id];
    if (!Counts(task)) continue;
    const bool first = std::find(jobs_.begin(), jobs_.end(), task.job) == jobs_.end();
    if (first) jobs_.push_back(task.job);
    here.tasks.push_back(id);
    const Resource& request = cluster.classes[task.cls].request;
    for (int kind = 0; kind < kinds; ++kind) here.amounts.push_back(request.Get(kind));
    here.candidates.push_back(
        {.first_of_job = first,
         .harmless = asking_ == Asking::kReclaim || !session_.TriedInVainMatters(id),
         .queue = cluster.jobs[task.job].queue});
    for (const VotingTier& tier : session_.voting_tiers(asking_))
      for (const VictimLevels* voter : tier.voters) here.levels.push_back(LevelOf(voter, id));
  }
}

void CandidatesByNode::FollowIdle(uint32_t position) {
  if (idle_.nodes() == 0) return;
  const double* idle = FutureIdle(position);
  for (size_t kind = 0; kind < idle_.kinds(); ++kind) idle_.Set(position, kind, idle[kind]);
  if (fits_for_.valid())
    SetBit(fits_, position,
           idle_.FitsAt(session_.cluster.classes[fits_for_].request, position, kSlack));
}

std::span<const uint64_t> CandidatesByNode::NodesThatFit(ClassId cls, const AmountSteps& steps) {
  if (idle_.nodes() == 0 && !on_.empty()) {
    idle_.Begin(on_.size(), steps);
    for (uint32_t p = 0; p < on_.size(); ++p)
      if (IsKnown(p)) FollowIdle(p);
  }
  if (std::exchange(fits_for_, cls) != cls) {
    fits_.resize(idle_.blocks());
    idle_.Ask(session_.cluster.classes[cls].request, kSlack).FitsAll(fits_);
  }
  return fits_;
}

}  // namespace krafla
