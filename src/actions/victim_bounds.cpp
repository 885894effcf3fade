#include "actions/victim_bounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace krafla {

namespace {

constexpr uint32_t kBlock = AmountColumns::kBlock;

// Sums made in another order may differ in the last bits; a node too many is only asked.
constexpr double kSlack = 1;

void SetBit(std::vector<uint64_t>& bits, uint32_t position, bool value) {
  const uint64_t bit = uint64_t{1} << position % kBlock;
  uint64_t& word = bits[position / kBlock];
  word = value ? word | bit : word & ~bit;
}

}  // namespace

bool VictimBounds::Know(TaskId task, const VictimRule& rule) const {
  const Task& t = session_.cluster.tasks[task];
  const Job& job = session_.cluster.jobs[t.job];
  if (rule.whose == VictimRule::Whose::kOwnJob) return false;
  // Candidates of its own job, and best-effort ones for a best-effort task, would have to be told
  // apart from the queue's others.
  if (rule.whose == VictimRule::Whose::kOtherJobsOfQueue &&
      (t.best_effort || job.Count(TaskStatus::kBound) + job.Count(TaskStatus::kRunning) > 0))
    return false;
  const auto& tiers = session_.voting_tiers(rule.asking());
  return std::any_of(tiers.begin(), tiers.end(),
                     [](const VotingTier& tier) { return !tier.voters.empty(); });
}

// As CandidacyOf, for any task of the queue.
bool VictimBounds::Counts(const Task& task, QueueId queue) const {
  if (!IsPreemptableStatus(task.status) || !task.preemptable || !task.job.valid()) return false;
  const QueueId its = session_.cluster.jobs[task.job].queue;
  if (asking_ == Asking::kPreempt) return its == queue;
  return task.status == TaskStatus::kRunning && its != queue &&
         session_.cluster.queues[its].reclaimable;
}

void VictimBounds::CatchUp() {
  const std::vector<NodeId>& nodes = session_.node_changes();
  const std::vector<TaskChange>& tasks = session_.task_changes();
  if (position_of_.empty()) {
    const Cluster& cluster = session_.cluster;
    position_of_.resize(cluster.nodes.size());
    for (uint32_t p = 0; p < cluster.nodes_by_name.size(); ++p)
      position_of_[cluster.nodes_by_name[p].value] = p;
    for (const VotingTier& tier : Tiers()) voters_ += tier.voters.size();
    levels_.resize(cluster.jobs.size() * voters_);
    levels_known_.resize(cluster.jobs.size());
    nodes_seen_ = nodes.size();
    tasks_seen_ = tasks.size();
    return;
  }
  for (; nodes_seen_ < nodes.size(); ++nodes_seen_) Changed(nodes[nodes_seen_]);
  for (; tasks_seen_ < tasks.size(); ++tasks_seen_) NoteLevels(tasks[tasks_seen_].task);
}

bool VictimBounds::IsUpToDate() const {
  return nodes_seen_ == session_.node_changes().size() &&
         tasks_seen_ == session_.task_changes().size();
}

// A task of a job has changed: when that gives the job's tasks another level, their nodes have
// changed.
void VictimBounds::NoteLevels(TaskId task) {
  const Cluster& cluster = session_.cluster;
  const JobId job = cluster.tasks[task].job;
  bool changed = !levels_known_[job.value];
  levels_known_[job.value] = true;
  size_t at = job.value * voters_;
  for (const VotingTier& tier : Tiers())
    for (const VictimLevels* voter : tier.voters) {
      const int64_t level = voter != nullptr ? voter->level(task) : 0;
      changed |= std::exchange(levels_[at++], level) != level;
    }
  if (!changed) return;
  for (const TaskId other : cluster.jobs[job].tasks)
    if (const NodeId node = cluster.tasks[other].node; node.valid()) Changed(node);
}

void VictimBounds::Changed(NodeId node) {
  changes_.push_back(node);
  if (!is_gathered_.empty()) SetBit(is_gathered_, position_of_[node.value], false);
}

// Nothing that was gathered for another queue, or in another state, is good for this one.
void VictimBounds::GatherFor(QueueId queue) {
  bool same = gathered_for_ == queue && !is_gathered_.empty();
  size_t at = 0;
  states_.resize(voters_);
  for (const VotingTier& tier : Tiers())
    for (const VictimLevels* voter : tier.voters) {
      const uint64_t state = voter != nullptr && voter->state ? voter->state() : 0;
      same &= std::exchange(states_[at++], state) == state;
    }
  if (same) return;
  const size_t nodes = session_.cluster.nodes_by_name.size();
  gathered_for_ = queue;
  is_gathered_.assign((nodes + kBlock - 1) / kBlock, 0);
  gathered_.resize(nodes);
  future_idle_.resize(nodes * static_cast<size_t>(session_.cluster.kinds.size()));
}

void VictimBounds::Gather(uint32_t position) {
  SetBit(is_gathered_, position, true);
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.nodes_by_name[position];
  const int kinds = cluster.kinds.size();
  double* idle = &future_idle_[position * static_cast<size_t>(kinds)];
  for (int kind = 0; kind < kinds; ++kind)
    idle[kind] = cluster.idle[node].Get(kind) + cluster.releasing[node].Get(kind) -
                 cluster.pipelined[node].Get(kind);
  Gathered& here = gathered_[position];
  here.tasks.clear();
  here.candidates.clear();
  here.levels.clear();
  here.amounts.clear();
  jobs_.clear();
  for (const TaskId id : cluster.nodes[node].tasks) {
    const Task& task = cluster.tasks[id];
    if (!Counts(task, gathered_for_)) continue;
    const bool first = std::find(jobs_.begin(), jobs_.end(), task.job) == jobs_.end();
    if (first) jobs_.push_back(task.job);
    here.tasks.push_back(id);
    const Resource& request = cluster.classes[task.cls].request;
    for (int kind = 0; kind < kinds; ++kind) here.amounts.push_back(request.Get(kind));
    here.candidates.push_back(
        {.first_of_job = first,
         .harmless = asking_ == Asking::kReclaim || !session_.TriedInVainMatters(id)});
    for (const VotingTier& tier : Tiers())
      for (const VictimLevels* voter : tier.voters)
        here.levels.push_back(voter != nullptr ? voter->level(id)
                                               : std::numeric_limits<int64_t>::max());
  }
}

const std::vector<TaskId>* VictimBounds::CandidatesOn(uint32_t position) const {
  if ((is_gathered_[position / kBlock] >> position % kBlock & 1) == 0 || !IsUpToDate())
    return nullptr;
  return &gathered_[position].tasks;
}

// Amounts are added up in plain columns: this is done for every node where something has changed,
// once for each of the sums.
void VictimBounds::AddUp(Sums& sums, uint32_t position) {
  if ((is_gathered_[position / kBlock] >> position % kBlock & 1) == 0) Gather(position);
  const VotingTier& tier = Tiers()[sums.tier];
  const size_t voters = tier.voters.size();
  const uint64_t all_voters = (uint64_t{1} << voters) - 1;
  const size_t kinds = sums.room.kinds();
  std::array<double, ResourceKinds::kMax> all;
  std::array<double, ResourceKinds::kMax> passing;
  std::fill_n(all.begin(), kinds, 0);
  std::fill_n(passing.begin(), kinds, 0);
  bool decided = false;
  bool all_harmless = true;
  bool passing_harmless = true;
  uint64_t somebody = 0;  // a bit per voter who names any
  const Gathered& here = gathered_[position];
  for (size_t c = 0; c < here.candidates.size(); ++c) {
    const Candidate& candidate = here.candidates[c];
    const int64_t* level = here.levels.data() + c * voters_ + sums.first_voter;
    const double* amounts = here.amounts.data() + c * kinds;
    uint64_t naming = 0;
    for (size_t v = 0; v < voters; ++v) naming |= uint64_t{level[v] >= sums.needed[2 * v]} << v;
    somebody |= naming;
    for (size_t kind = 0; kind < kinds; ++kind) all[kind] += amounts[kind];
    all_harmless &= candidate.harmless;
    if (naming != all_voters) continue;
    for (size_t kind = 0; kind < kinds; ++kind) passing[kind] += amounts[kind];
    passing_harmless &= candidate.harmless;
    decided |= candidate.first_of_job && tier.decides;
  }
  const bool nobody = somebody != all_voters;
  // Voters agree on whom all of them name. Where they do not agree on anybody, Volcano may take
  // those whom the last ones name.
  const bool agree = decided || session_.compat.empty_intersection;
  const double* goes = agree ? passing.data() : all.data();
  const double* idle = &future_idle_[position * kinds];
  double* freed = &sums.freed[position * kinds];
  double* most_freed = &sums.most_freed[position / kBlock * kinds];
  for (size_t kind = 0; kind < kinds; ++kind) {
    freed[kind] = nobody ? 0 : goes[kind];
    most_freed[kind] = std::max(most_freed[kind], freed[kind]);
    sums.room.Set(position, kind, idle[kind] + freed[kind]);
  }
  SetBit(sums.nobody, position, nobody);
  SetBit(sums.decided, position, !nobody && decided);
  SetBit(sums.harmless, position, nobody || (agree ? passing_harmless : all_harmless));
}

VictimBounds::Sums& VictimBounds::SumsOf(QueueId queue, size_t tier, TaskId task) {
  needed_.clear();
  for (const VictimLevels* voter : Tiers()[tier].voters) {
    needed_.push_back(voter != nullptr ? voter->needed(task) : 0);
    needed_.push_back(voter != nullptr && voter->state ? static_cast<int64_t>(voter->state()) : 0);
  }
  const auto found = std::find_if(sums_.begin(), sums_.end(), [&](const auto& sums) {
    return sums->queue == queue && sums->tier == tier && sums->needed == needed_;
  });
  if (found != sums_.end()) {
    CatchUp(**found);
    (*found)->used = ++asked_;
    return **found;
  }
  constexpr size_t kMaxBytes = 32 << 20;
  const size_t bytes = session_.cluster.nodes_by_name.size() *
                       static_cast<size_t>(session_.cluster.kinds.size()) *
                       (AmountColumns::kBytesPerNode + sizeof(double));
  if (sums_.size() >= std::max<size_t>(16, kMaxBytes / (bytes + 1)))
    sums_.erase(std::min_element(sums_.begin(), sums_.end(),
                                 [](const auto& l, const auto& r) { return l->used < r->used; }));
  Sums& sums = *sums_.emplace_back(std::make_unique<Sums>());
  sums.queue = queue;
  sums.tier = tier;
  sums.first_voter = 0;
  for (size_t t = 0; t < tier; ++t) sums.first_voter += Tiers()[t].voters.size();
  sums.needed = needed_;
  sums.used = ++asked_;
  Begin(sums);
  return sums;
}

void VictimBounds::Begin(Sums& sums) {
  const size_t n = session_.cluster.nodes_by_name.size();
  if (asked_steps_.by_kind.empty()) asked_steps_ = AmountSteps::Of(session_.cluster, kSlack);
  sums.room.Begin(n, asked_steps_);
  sums.freed.resize(n * sums.room.kinds());
  sums.most_freed.resize(sums.room.blocks() * sums.room.kinds());
  sums.stale.assign(sums.room.blocks(), ~uint64_t{0});
  sums.decided.resize(sums.stale.size());
  sums.nobody.resize(sums.stale.size());
  sums.harmless.resize(sums.stale.size());
  sums.fitting.resize(sums.stale.size());
  sums.synced = changes_.size();
}

void VictimBounds::CatchUp(Sums& sums) {
  for (; sums.synced < changes_.size(); ++sums.synced) {
    const uint32_t p = position_of_[changes_[sums.synced].value];
    SetBit(sums.stale, p, true);
    SetBit(sums.known, p, false);
  }
}

void VictimBounds::BringUpToDate(Sums& sums, size_t block, uint64_t nodes) {
  nodes &= sums.stale[block];
  sums.stale[block] &= ~nodes;
  for (; nodes != 0; nodes &= nodes - 1) {
    const uint32_t p =
        static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes));
    AddUp(sums, p);
  }
}

void VictimBounds::Start(TaskId task, const VictimRule& rule) {
  task_ = task;
  rule_ = rule;
  asking_ = rule.asking();
  taken_ = {};
  AskTiers();
}

void VictimBounds::AskTiers() {
  CatchUp();
  const Cluster& cluster = session_.cluster;
  const QueueId queue = cluster.jobs[cluster.tasks[task_].job].queue;
  const ClassId cls = cluster.tasks[task_].cls;
  // Evictions in other queues do not help its own.
  std::optional<Resource> missing;
  if (asking_ == Asking::kPreempt && rule_.checks_everything)
    missing = session_.ShareMissing(queue, task_);
  asks_share_ = missing && !missing->IsEmpty();
  if (asks_share_) missing_ = *missing;
  GatherFor(queue);
  tiers_.clear();
  for (size_t t = 0; t < Tiers().size(); ++t)
    if (!Tiers()[t].voters.empty()) {
      TierQuestion& question = tiers_.emplace_back();
      question.sums = &SumsOf(queue, t, task_);
      question.fits = question.sums->room.Ask(cluster.classes[cls].request, kSlack);
      if (std::exchange(question.sums->asked_by, cls) != cls)
        question.sums->known.assign(question.sums->stale.size(), 0);
    }
}

// Those of a block's nodes on which as much goes as is missing in the queue's share.
uint64_t VictimBounds::NodesThatFreeEnough(const Sums& sums, size_t block, uint64_t nodes) const {
  const size_t kinds = sums.room.kinds();
  const auto is_enough = [&](const double* freed) {
    for (uint64_t mask = missing_.mask(); mask != 0; mask &= mask - 1) {
      const int kind = std::countr_zero(mask);
      if (!LessEqualAmount(missing_.Get(kind) - kSlack, freed[kind])) return false;
    }
    return true;
  };
  if (!is_enough(&sums.most_freed[block * kinds])) return 0;
  for (uint64_t rest = nodes; rest != 0; rest &= rest - 1) {
    const size_t p = block * kBlock + static_cast<size_t>(std::countr_zero(rest));
    if (!is_enough(&sums.freed[p * kinds])) nodes &= ~(rest & -rest);
  }
  return nodes;
}

uint64_t VictimBounds::NodesWithRoom(const TierQuestion& tier, size_t block, uint64_t nodes) {
  Sums& sums = *tier.sums;
  if (const uint64_t unknown = nodes & ~sums.known[block]; unknown != 0) {
    BringUpToDate(sums, block, unknown);
    sums.known[block] |= unknown;
    sums.fitting[block] = (sums.fitting[block] & ~unknown) | tier.fits.Fits(block, unknown);
  }
  return sums.fitting[block];
}

uint64_t VictimBounds::Narrow(size_t block, uint64_t nodes) {
  if (nodes == 0) return 0;
  // A try since then may have left something behind.
  if (!IsUpToDate()) AskTiers();
  return NarrowBlock(block, nodes);
}

void VictimBounds::NarrowAll(std::span<uint64_t> nodes) {
  for (size_t block = 0; block < nodes.size(); ++block)
    if (nodes[block] != 0) nodes[block] = NarrowBlock(block, nodes[block]);
}

uint64_t VictimBounds::NarrowBlock(size_t block, uint64_t nodes) {
  uint64_t left = nodes;  // not decided by an earlier tier
  uint64_t with_room = 0;
  uint64_t with_share = 0;
  uint64_t nobody = ~uint64_t{0};  // in no tier: and who loses tasks is not let go then either
  for (const TierQuestion& tier : tiers_) {
    const uint64_t room = NodesWithRoom(tier, block, nodes) & left;
    with_room |= room;
    with_share |= asks_share_ ? NodesThatFreeEnough(*tier.sums, block, room) |
                                    (room & ~tier.sums->harmless[block])
                              : room;
    left &= ~tier.sums->decided[block];
    nobody &= tier.sums->nobody[block];
  }
  const auto note = [&](uint32_t& first, uint64_t bits) {
    if (bits != 0)
      first = std::min(first, static_cast<uint32_t>(block * kBlock) +
                                  static_cast<uint32_t>(std::countr_zero(bits)));
  };
  taken_.losses_matter |= (nodes & ~with_share & ~nobody) != 0;
  note(taken_.for_votes, nodes & ~with_room);
  note(taken_.for_share, with_room & ~with_share);
  return with_share;
}

}  // namespace krafla
