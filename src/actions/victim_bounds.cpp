#include "actions/victim_bounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/words_of_bits.h"
#include "model/fetch_tasks.h"
#include "session/block_maxima.h"
#include "session/rows_of_bits.h"

namespace krafla {

namespace {

constexpr uint32_t kBlock = AmountColumns::kBlock;

constexpr double kSlack = CandidatesByNode::kSlack;

// What goes where there will be `room` and now is `idle`. Of large amounts a sum has lost the last
// digits, and more than the slack: as much is allowed for.
double MostFreed(double room, double idle) {
  constexpr double kLost = 4 * std::numeric_limits<double>::epsilon();
  return room - idle + kLost * std::max(std::abs(room), std::abs(idle));
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

void VictimBounds::CatchUp() {
  const NodeChanges& nodes = session_.node_changes();
  const TaskChanges& tasks = session_.task_changes();
  if (position_of_.empty()) {
    const Cluster& cluster = session_.cluster;
    position_of_.resize(cluster.nodes.size());
    for (uint32_t p = 0; p < cluster.nodes_by_name.size(); ++p)
      position_of_[cluster.nodes_by_name[p].value] = p;
    for (size_t t = 0; t < Tiers().size(); ++t) {
      voters_ += Tiers()[t].voters.size();
      for (const VictimLevels* voter : Tiers()[t].voters)
        if (voter != nullptr && voter->exact_level)
          exact_.push_back({.tier = t, .number = exact_.size(), .levels = voter, .highest = {}});
    }
    levels_.resize(cluster.jobs.size() * voters_);
    levels_known_.resize(cluster.jobs.size());
    levels_moved_.resize(cluster.jobs.size());
    nodes_seen_ = nodes.size();
    tasks_seen_ = tasks.size();
    return;
  }
  for (const NodeId node : nodes.From(nodes_seen_)) Changed(node);
  for (const TaskChange& change : tasks.From(tasks_seen_)) NoteLevels(change);
  nodes_seen_ = nodes.size();
  tasks_seen_ = tasks.size();
  for (const JobId job : touched_jobs_) FollowLevels(job);
  touched_jobs_.clear();
}

bool VictimBounds::IsUpToDate() const {
  return nodes_seen_ == session_.node_changes().size() &&
         tasks_seen_ == session_.task_changes().size();
}

// A task of a job has changed, and with it maybe the levels of all of the job's.
void VictimBounds::NoteLevels(TaskChange change) {
  const JobId job = session_.cluster.tasks[change.task].job;
  LevelsMoved& moved = levels_moved_[job.value];
  if (!moved.any()) touched_jobs_.push_back(job);
  bool changed = !levels_known_[job.value];
  levels_known_[job.value] = true;
  size_t at = job.value * voters_;
  for (const VotingTier& tier : Tiers())
    for (const VictimLevels* voter : tier.voters) {
      const int64_t level = LevelOf(voter, change.task);
      changed |= std::exchange(levels_[at++], level) != level;
    }
  moved.changed |= changed;
  moved.may_rise |= change.kind != TaskChange::Kind::kLost;
  moved.may_fall |= change.kind != TaskChange::Kind::kGained;
}

// Once for all its tasks that have changed: when they have another level now, their nodes have
// changed.
void VictimBounds::FollowLevels(JobId job) {
  const LevelsMoved moved = std::exchange(levels_moved_[job.value], {});
  const bool moves_exact_levels = !fallen_.empty();
  if (!moved.changed && !moves_exact_levels) return;
  const Cluster& cluster = session_.cluster;
  ForEachTaskOnANode(cluster, job, [&](TaskId task, NodeId node) {
    const uint32_t position = position_of_[node.value];
    // Who counts there is as before; what is said of this one is not.
    if (moved.changed) {
      changes_.push_back(node);
      if (!tiers_.empty()) candidates_.FollowLevels(position, task);
    }
    if (!moves_exact_levels) return true;
    // What has fallen is still a bound: where its voter decides alone it is looked at again when it
    // matters.
    if (moved.may_rise) {
      ForgetHighest(position);
      may_be_more_.push_back(position);
    } else {
      SetBit(fallen_, position, true);
    }
    return true;
  });
}

void VictimBounds::ForgetHighest(uint32_t position) {
  for (ExactVoter& voter : exact_) voter.highest.Forget(position);
}

void VictimBounds::Changed(NodeId node) {
  changes_.push_back(node);
  if (tiers_.empty()) return;  // nobody has asked yet
  candidates_.Forget(position_of_[node.value]);
  ForgetHighest(position_of_[node.value]);
}

// Nothing that is known of candidates of another queue, or in another state, is good for this one.
// False: what is known is. Sums in another state are kept, since states come back when something is
// taken back; but queues have their turns one after the other, so the memory of one's sums serves
// those of the next.
bool VictimBounds::AskAbout(QueueId queue) {
  if (!candidates_.Begin(queue, asking_)) return false;
  if (std::exchange(queue_, queue) != queue) {
    std::move(sums_.begin(), sums_.end(), std::back_inserter(spare_));
    sums_.clear();
    changes_.clear();
    changes_before_ = 0;
  }
  if (exact_.empty()) return true;
  const size_t nodes = session_.cluster.nodes_by_name.size();
  fallen_.assign((nodes + kBlock - 1) / kBlock, 0);
  for (ExactVoter& voter : exact_) voter.highest.Begin(nodes);
  return true;
}

bool VictimBounds::FindCandidatesOn(uint32_t position, std::vector<TaskId>& candidates) const {
  if (!candidates_.IsKnown(position) || !IsUpToDate()) return false;
  candidates.clear();
  for (size_t c = 0; c < candidates_.Count(position); ++c)
    candidates.push_back(candidates_.At(position, c).task());
  return true;
}

// Amounts are added up in plain columns: this is done for every node where something has changed,
// once for each of the sums. What there will be with them gone is written to `room`, by kind, if it
// is not null.
void VictimBounds::AddUp(Sums& sums, uint32_t position, double* room) {
  const VotingTier& tier = Tiers()[sums.tier];
  const size_t voters = tier.voters.size();
  const uint64_t all_voters = (uint64_t{1} << voters) - 1;
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  // Side by side: so few numbers are cleared faster together.
  struct OfKind {
    double all;
    double passing;
  };
  std::array<OfKind, ResourceKinds::kMax> sum;
  std::fill_n(sum.begin(), kinds, OfKind{});
  bool decided = false;
  bool all_harmless = true;
  bool passing_harmless = true;
  uint64_t somebody = 0;  // a bit per voter who names any
  givers_.clear();
  taken_from_.clear();
#ifdef KRAFLA_VERIFY
  candidates_.Verify(position);
#endif
  for (size_t c = 0; c < candidates_.Count(position); ++c) {
    const CandidatesByNode::Candidate candidate = candidates_.At(position, c);
    uint64_t naming = 0;
    for (size_t v = 0; v < voters; ++v) {
      const bool enough = candidate.Level(sums.first_voter + v) >= sums.needed[2 * v];
      const VictimLevels* voter = tier.voters[v];
      const bool named = enough && (voter == nullptr || !tier.offers_all || !voter->gives_more ||
                                    GivesMore(*voter, candidate));
      naming |= uint64_t{named} << v;
    }
    somebody |= naming;
    for (size_t kind = 0; kind < kinds; ++kind) sum[kind].all += candidate.Amount(kind);
    all_harmless &= candidate.harmless();
    if (naming != all_voters) continue;
    for (size_t kind = 0; kind < kinds; ++kind) sum[kind].passing += candidate.Amount(kind);
    passing_harmless &= candidate.harmless();
    decided |= candidate.first_of_job() && tier.decides;
  }
  const bool nobody = somebody != all_voters;
  // Voters agree on whom all of them name. Where they do not agree on anybody, Volcano may take
  // those whom the last ones name.
  const bool agree = decided || session_.compat.empty_intersection || voters == 1;
  const double* idle = candidates_.FutureIdle(position);
  double* most_freed = &sums.most_freed[position / kBlock * kinds];
  for (size_t kind = 0; kind < kinds; ++kind) {
    const double freed = nobody ? 0 : agree ? sum[kind].passing : sum[kind].all;
    most_freed[kind] = std::max(most_freed[kind], freed);
    sums.most_anywhere[kind] = std::max(sums.most_anywhere[kind], freed);
    if (room != nullptr) {
      room[kind] = idle[kind] + freed;
    } else {
      sums.freed[position * kinds + kind] = freed;
    }
  }
  SetBit(sums.nobody, position, nobody);
  SetBit(sums.decided, position, !nobody && decided);
  SetBit(sums.harmless, position, nobody || (agree ? passing_harmless : all_harmless));
}

// Whether a voter who names only so many of a queue may name one more; then its amounts are taken.
bool VictimBounds::GivesMore(const VictimLevels& voter, CandidatesByNode::Candidate candidate) {
  const std::pair giver(&voter, candidate.queue());
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  const size_t at =
      static_cast<size_t>(std::find(givers_.begin(), givers_.end(), giver) - givers_.begin());
  if (at == givers_.size()) {
    givers_.push_back(giver);
    taken_from_.resize(givers_.size() * kinds, 0);
  }
  const std::span<double> taken = std::span(taken_from_).subspan(at * kinds, kinds);
  if (!voter.gives_more(candidate.queue(), taken)) return false;
  for (size_t kind = 0; kind < kinds; ++kind) taken[kind] += candidate.Amount(kind);
  return true;
}

VictimBounds::Sums& VictimBounds::SumsOf(size_t tier, TaskId task) {
  needed_.clear();
  for (const VictimLevels* voter : Tiers()[tier].voters) {
    needed_.push_back(LevelNeededBy(voter, task));
    needed_.push_back(voter != nullptr && voter->state ? static_cast<int64_t>(voter->state()) : 0);
  }
  const auto found = std::find_if(sums_.begin(), sums_.end(), [&](const auto& sums) {
    return sums->tier == tier && sums->needed == needed_;
  });
  if (found != sums_.end()) {
    CatchUp(**found);
    (*found)->used = ++asked_;
    return **found;
  }
  constexpr size_t kMaxBytes = 32 << 20;
  const size_t bytes = session_.cluster.nodes_by_name.size() *
                       static_cast<size_t>(session_.cluster.kinds.size()) *
                       AmountColumns::kBytesPerNode;
  if (sums_.size() < std::max({size_t{16}, Tiers().size(), kMaxBytes / (bytes + 1)})) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Sums>());
    sums_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    sums_.back()->used = 0;
  }
  // One that is not in use, or else the one that was not asked for longest.
  Sums& sums = **std::min_element(sums_.begin(), sums_.end(),
                                  [](const auto& l, const auto& r) { return l->used < r->used; });
  sums.tier = tier;
  sums.first_voter = 0;
  for (size_t t = 0; t < tier; ++t) sums.first_voter += Tiers()[t].voters.size();
  sums.needed = needed_;
  sums.made = sums.used = ++asked_;
  Begin(sums);
  return sums;
}

void VictimBounds::Begin(Sums& sums) {
  const size_t n = session_.cluster.nodes_by_name.size();
  const size_t blocks = (n + kBlock - 1) / kBlock;
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  // They may have been others before. All nodes are stale, so amounts of single nodes may stay.
  if (AsksRoom(sums.tier)) {
    sums.freed.clear();
    sums.room.Begin(n, asked_steps_);
  } else {
    sums.freed.resize(n * kinds);
  }
  sums.most_freed.assign(blocks * kinds, 0);
  sums.most_anywhere.assign(kinds, 0);
  sums.stale.assign(blocks, ~uint64_t{0});
  for (auto* bits : {&sums.decided, &sums.nobody, &sums.harmless, &sums.known})
    bits->assign(blocks, 0);
  sums.fitting.assign(blocks, ~uint64_t{0});
  sums.synced = changes_.size();
  sums.asked_by = {};
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
  candidates_.Find(block, nodes);
  const bool asks_room = AsksRoom(sums.tier);
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  room_.resize(kBlock * kinds);
  double* room = asks_room ? room_.data() : nullptr;
  for (uint64_t rest = nodes; rest != 0; rest &= rest - 1) {
    AddUp(sums,
          static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(rest)),
          room);
    if (asks_room) room += kinds;
  }
  if (asks_room) sums.room.SetMany(block, nodes, room_);
}

void VictimBounds::Start(TaskId task, const VictimRule& rule) {
  task_ = task;
  rule_ = rule;
  asking_ = rule.asking();
  taken_ = {};
  asked_about_.clear();
  AskTiers();
  changes_before_ = changes_.size();
  may_be_more_.clear();
}

bool VictimBounds::GoOn(TaskId task, std::vector<uint32_t>& changed) {
  task_ = task;
  const std::optional<Resource> missing_before =
      asks_share_ ? std::optional(missing_) : std::nullopt;
  tiers_before_ = tiers_;
  if (AskTiers() || tiers_.size() != tiers_before_.size()) return false;
  // Nobody is let go who would not have been for the task before.
  for (size_t t = 0; t < tiers_.size(); ++t) {
    if (tiers_[t].made != tiers_before_[t].made) return false;
    if (tiers_[t].exactly_needed < tiers_before_[t].exactly_needed) return false;
  }
  if (missing_before && !(asks_share_ && MissesAllOf(*missing_before))) return false;
  for (; changes_before_ < changes_.size(); ++changes_before_)
    changed.push_back(position_of_[changes_[changes_before_].value]);
  changed.insert(changed.end(), may_be_more_.begin(), may_be_more_.end());
  may_be_more_.clear();
  return true;
}

// Whether the queue's share lacks at least as much.
bool VictimBounds::MissesAllOf(const Resource& before) const {
  for (uint64_t mask = before.mask(); mask != 0; mask &= mask - 1) {
    const int kind = std::countr_zero(mask);
    if ((missing_.mask() >> kind & 1) == 0 || missing_.Get(kind) < before.Get(kind)) return false;
  }
  return true;
}

// True: nothing that was known is good any more.
bool VictimBounds::AskTiers() {
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
  const bool begun = AskAbout(queue);
  if (asked_steps_.by_kind.empty()) asked_steps_ = AmountSteps::Of(cluster, kSlack);
  if (!exact_.empty()) fits_idle_ = candidates_.NodesThatFit(cls, asked_steps_);
  tiers_.clear();
  for (size_t t = 0; t < Tiers().size(); ++t)
    if (!Tiers()[t].voters.empty()) {
      TierQuestion& question = tiers_.emplace_back();
      question.sums = &SumsOf(t, task_);
      question.made = question.sums->made;
      for (ExactVoter& voter : exact_)
        if (voter.tier == t) question.exact = &voter;
      if (question.exact != nullptr) {
        question.exactly_needed = question.exact->levels->exactly_needed(task_);
        question.may_have = question.exact->highest.MayHave(question.exactly_needed);
        question.have_more = question.exact->highest.HaveMore(question.exactly_needed);
      }
      question.asks_room = AsksRoom(t);
      if (!question.asks_room) continue;
      question.fits = question.sums->room.Ask(cluster.classes[cls].request, kSlack);
      if (std::exchange(question.sums->asked_by, cls) != cls) FindRoomForAnother(question);
    }
  return begun;
}

// Whether as much goes as is missing in the queue's share.
template <class Freed>
bool VictimBounds::FreesEnough(Freed&& freed) const {
  for (uint64_t mask = missing_.mask(); mask != 0; mask &= mask - 1) {
    const int kind = std::countr_zero(mask);
    if (!LessEqualAmount(missing_.Get(kind) - kSlack, freed(static_cast<size_t>(kind))))
      return false;
  }
  return true;
}

// On any node.
bool VictimBounds::MayFreeEnough(const Sums& sums) const {
  return FreesEnough([&](size_t kind) { return sums.most_anywhere[kind]; });
}

uint64_t VictimBounds::NodesThatFreeEnough(const Sums& sums, size_t block, uint64_t nodes) const {
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  if (!MayFreeEnough(sums) ||
      !FreesEnough([&](size_t kind) { return sums.most_freed[block * kinds + kind]; }))
    return 0;
  for (uint64_t rest = nodes; rest != 0; rest &= rest - 1) {
    const uint32_t p =
        static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(rest));
    const bool enough = FreesEnough([&](size_t kind) {
      return sums.freed.empty() ? MostFreed(sums.room.At(p, kind), candidates_.FutureIdle(p)[kind])
                                : sums.freed[p * kinds + kind];
    });
    if (!enough) nodes &= ~(rest & -rest);
  }
  return nodes;
}

// Those of a block's nodes on which somebody's exact level is high enough, or nobody has to go.
uint64_t VictimBounds::NodesThatNameSomebody(const TierQuestion& tier, size_t block,
                                             uint64_t nodes) const {
  if (tier.exact == nullptr) return nodes;
  nodes &= tier.may_have[block] | fits_idle_[block];
  const uint64_t to_compare = nodes & ~(tier.have_more[block] | fits_idle_[block]);
  return to_compare == 0 ? nodes : nodes & ~NodesWithLess(tier, block, to_compare);
}

// Those of a block's nodes on which all levels are too low, by the number.
uint64_t VictimBounds::NodesWithLess(const TierQuestion& tier, size_t block, uint64_t nodes) const {
  uint64_t less = 0;
  for (; nodes != 0; nodes &= nodes - 1) {
    const uint32_t p =
        static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes));
    if (tier.exact->highest.At(p) < tier.exactly_needed) less |= nodes & -nodes;
  }
  return less;
}

void VictimBounds::FindHighest(size_t block, uint64_t nodes) {
  candidates_.Find(block, nodes);
  for (; nodes != 0; nodes &= nodes - 1)
    FindHighest(static_cast<uint32_t>(block * kBlock) +
                static_cast<uint32_t>(std::countr_zero(nodes)));
}

// The exact levels of the candidates on a node.
void VictimBounds::FindHighest(uint32_t p) {
  KRAFLA_CHECK(candidates_.IsKnown(p), "levels are those of candidates that are known");
  SetBit(fallen_, p, false);
  // Levels are those of jobs. All are asked for at once: by then the first tasks are there.
  const Cluster& cluster = session_.cluster;
  const size_t count = candidates_.Count(p);
  for (size_t c = 0; c < count; ++c) Fetch(&cluster.tasks[candidates_.At(p, c).task()]);
  for (size_t c = 0; c < count; ++c)
    Fetch(&cluster.jobs[cluster.tasks[candidates_.At(p, c).task()].job]);
  for (ExactVoter& voter : exact_) {
    double highest = -std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < count; ++c) {
      const double level = voter.levels->exact_level(candidates_.At(p, c).task());
      candidates_.SetExactLevel(p, c, voter.number, level);
      highest = std::max(highest, level);
    }
    voter.highest.Set(p, highest);
  }
}

bool VictimBounds::AsksRoom(size_t tier) const {
  return Tiers()[tier].voters.size() > 1 ||
         std::none_of(exact_.begin(), exact_.end(),
                      [&](const ExactVoter& voter) { return voter.tier == tier; });
}

// Nothing is known of tasks of this class: it is found out from the sums that are up to date.
void VictimBounds::FindRoomForAnother(TierQuestion& tier) {
  Sums& sums = *tier.sums;
  SetToOthers(sums.known, sums.stale);
  tier.fits.FitsAll(sums.fitting);
}

// Finds out which of a block's nodes have room, and how high levels are there, where that is not
// known yet.
void VictimBounds::FindOut(TierQuestion& tier, size_t block, uint64_t nodes) {
  Sums& sums = *tier.sums;
  if (const uint64_t unknown = nodes & ~sums.known[block]; unknown != 0) {
    BringUpToDate(sums, block, unknown);
    sums.known[block] |= unknown;
    if (tier.asks_room)
      sums.fitting[block] = (sums.fitting[block] & ~unknown) | tier.fits.Fits(block, unknown);
  }
  if (tier.exact != nullptr)
    FindHighest(block, nodes & sums.fitting[block] & tier.exact->highest.Unknown(block));
}

// Later tiers matter where earlier ones have not decided.
void VictimBounds::FindOutTiers(size_t block, uint64_t nodes) {
  for (TierQuestion& tier : tiers_) {
    FindOut(tier, block, nodes);
    nodes &= ~tier.sums->decided[block];
    if (nodes == 0) return;
  }
}

uint64_t VictimBounds::Narrow(size_t block, uint64_t nodes) {
  if (nodes == 0) return 0;
  // A try since then may have left something behind.
  if (!IsUpToDate()) AskTiers();
  FindOutTiers(block, nodes);
  return Judge(block, nodes);
}

// Mostly there is nothing to find out: what is known is combined, for many nodes at a time.
void VictimBounds::NarrowAll(std::span<uint64_t> nodes) {
  asked_about_.assign(nodes.begin(), nodes.end());
  // As FindOutTiers and StillLeft.
  KRAFLA_CHECK(!tiers_.empty(), "somebody votes, or nobody would ask");
  undecided_.assign(nodes.begin(), nodes.end());
  for (auto* row : {&row_, &to_compare_, &to_look_up_}) row->resize(nodes.size());
  for (TierQuestion& tier : tiers_) {
    FindOutAll(tier, undecided_);
    const Sums& sums = *tier.sums;
    if (tier.exact == nullptr) {
      SetToBoth(row_, undecided_, sums.fitting);
    } else {
      FindNamed(RowsOf(tier), undecided_, row_, to_compare_);
      ForEachWordNotZero(
          to_compare_.size(), [&](size_t block) { return to_compare_[block]; },
          [&](size_t block, uint64_t to_compare) {
            row_[block] &= ~NodesWithLess(tier, block, to_compare);
            return true;
          });
    }
    if (asks_share_ && !MayFreeEnough(sums)) {
      TakeOff(row_, sums.harmless);
    } else if (asks_share_) {
      for (size_t block = 0; block < row_.size(); ++block)
        row_[block] = NodesWithShare(sums, block, row_[block]);
    }
    if (&tier == &tiers_.front()) {
      std::copy(row_.begin(), row_.end(), nodes.begin());
    } else {
      AddThese(nodes, row_);
    }
    TakeOff(undecided_, sums.decided);
  }
}

BoundRows VictimBounds::RowsOf(const TierQuestion& tier) const {
  BoundRows rows{
      .known = tier.sums->known, .fitting = tier.sums->fitting, .stale = tier.sums->stale};
  if (tier.exact == nullptr) return rows;
  rows.levels_known = tier.exact->highest.known();
  rows.may_have = tier.may_have;
  rows.have_more = tier.have_more;
  rows.fits_idle = fits_idle_;
  return rows;
}

void VictimBounds::FindOutAll(TierQuestion& tier, std::span<const uint64_t> nodes) {
  FindUnknown(RowsOf(tier), nodes, row_, to_look_up_);
  // All candidates that will be looked at, in one go: mostly few of a block's nodes are.
  candidates_.FindAll(to_look_up_);
  ForEachWordNotZero(
      row_.size(), [&](size_t block) { return row_[block]; },
      [&](size_t block, uint64_t unknown) {
        BlockMaxima::ForEachNode(block, unknown, [&](uint32_t p) {
          candidates_.FetchAt(p);
          if (tier.asks_room) tier.sums->room.FetchAt(p);
        });
        return true;
      });
  ForEachWordNotZero(
      row_.size(), [&](size_t block) { return row_[block]; },
      [&](size_t block, uint64_t unknown) {
        FindOut(tier, block, unknown);
        return true;
      });
}

uint64_t VictimBounds::StillLeft(size_t block, uint64_t nodes) const {
  uint64_t kept = 0;
  for (const TierQuestion& tier : tiers_) {
    const Sums& sums = *tier.sums;
    const uint64_t room = NodesThatNameSomebody(tier, block, nodes & sums.fitting[block]);
    kept |= asks_share_ ? NodesWithShare(sums, block, room) : room;
    nodes &= ~sums.decided[block];
  }
  return kept;
}

bool VictimBounds::IsLeft(uint32_t position) {
  FindOutTiers(position / kBlock, BitOf(position));
  return StillLeft(position / kBlock, BitOf(position)) != 0;
}

bool VictimBounds::MightDo(uint32_t position) {
  const size_t block = position / kBlock;
  const uint64_t bit = uint64_t{1} << position % kBlock;
  bool decided = false;  // by an earlier tier
  bool has_room = false;
  bool nobody = true;
  for (const TierQuestion& tier : tiers_) {
    const Sums& sums = *tier.sums;
    bool nobody_here = (sums.nobody[block] & bit) != 0;
    if (!decided && (sums.fitting[block] & bit) != 0) {
      // Who is named by several voters is not as easily told.
      if (tier.asks_room) return true;
      Named named = NobodyIsNamedOn(tier, position) ? Named{.nobody = true, .have_room = false}
                                                    : NamedOn(tier, position);
      if (named.Do() && HasBit(fallen_, position)) {
        FindHighest(position);
        named = NamedOn(tier, position);
      }
      if (named.Do()) return true;
      has_room |= named.have_room;
      nobody_here = named.nobody;
    }
    decided |= (sums.decided[block] & bit) != 0;
    nobody &= nobody_here;
  }
  taken_.losses_matter |= !nobody;
  uint32_t& first = has_room ? taken_.for_share : taken_.for_votes;
  first = std::min(first, position);
  return false;
}

// Whether nobody has as much as the task needs, and somebody would have to go. Told by a number for
// the node, which another tier may have left: candidates lie elsewhere.
bool VictimBounds::NobodyIsNamedOn(const TierQuestion& tier, uint32_t position) const {
  const bool nobody =
      tier.exact->highest.At(position) < tier.exactly_needed && !HasBit(fits_idle_, position);
#ifdef KRAFLA_VERIFY
  if (nobody) {
    const Named named = NamedOn(tier, position);
    KRAFLA_CHECK(named.nobody && !named.have_room, "nobody is named where levels are too low");
  }
#endif
  return nobody;
}

// What those would leave whom a tier's only voter names.
VictimBounds::Named VictimBounds::NamedOn(const TierQuestion& tier, uint32_t position) const {
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  std::array<double, ResourceKinds::kMax> freed;
  std::fill_n(freed.begin(), kinds, 0);
  Named named;
  for (size_t c = 0; c < candidates_.Count(position); ++c) {
    const CandidatesByNode::Candidate candidate = candidates_.At(position, c);
    if (candidate.ExactLevel(tier.exact->number) < tier.exactly_needed) continue;
    named.nobody = false;
    for (size_t kind = 0; kind < kinds; ++kind) freed[kind] += candidate.Amount(kind);
    named.harmless &= candidate.harmless();
  }
  named.have_share = !asks_share_ || FreesEnough([&](size_t kind) { return freed[kind]; });
  const double* idle = candidates_.FutureIdle(position);
  const Resource& request = session_.cluster.Request(task_);
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    const auto at = static_cast<size_t>(kind);
    named.have_room &= LessEqualAmount(request.Get(kind) - kSlack, idle[at] + freed[at]);
  }
  return named;
}

void VictimBounds::KeepHarmless(std::span<uint64_t> nodes) {
  KRAFLA_CHECK(asking_ == Asking::kPreempt, "what reclaim leaves behind is not kept");
  // Later tiers matter where earlier ones have not decided.
  decided_.assign(nodes.size(), 0);
  row_.resize(nodes.size());
  for (const TierQuestion& tier : tiers_) {
    const Sums& sums = *tier.sums;
    SetToBoth(row_, sums.harmless, sums.known);
    KeepEither(nodes, row_, decided_);
    AddThese(decided_, sums.decided);
  }
}

// What NarrowAll has left was noted when it was asked about.
const VictimBounds::Taken& VictimBounds::taken() {
  const auto is_all_known = [this] {
    return taken_.losses_matter && taken_.for_votes != kNowhere &&
           (!asks_share_ || taken_.for_share != kNowhere);
  };
  for (size_t block = 0; block < asked_about_.size() && !is_all_known(); ++block)
    if (asked_about_[block] != 0) (void)Judge(block, asked_about_[block]);
  asked_about_.clear();
  return taken_;
}

uint64_t VictimBounds::NodesWithShare(const Sums& sums, size_t block, uint64_t nodes) const {
  if (nodes == 0) return 0;
  return NodesThatFreeEnough(sums, block, nodes) | (nodes & ~sums.harmless[block]);
}

// Of a block of which everything is found out: notes what is taken off, gives back the rest.
uint64_t VictimBounds::Judge(size_t block, uint64_t nodes) {
  uint64_t left = nodes;  // not decided by an earlier tier
  uint64_t with_room = 0;
  uint64_t with_share = 0;
  uint64_t nobody = ~uint64_t{0};  // in no tier: and who loses tasks is not let go then either
  for (const TierQuestion& tier : tiers_) {
    const Sums& sums = *tier.sums;
    const uint64_t room = sums.fitting[block] & left;
    const uint64_t named = NodesThatNameSomebody(tier, block, room);
    with_room |= named;
    with_share |= asks_share_ ? NodesWithShare(sums, block, named) : named;
    left &= ~sums.decided[block];
    nobody &= sums.nobody[block] | (room & ~named);
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
