#include "actions/candidates_by_node.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "model/future_idle.h"

namespace krafla {

namespace {

constexpr uint32_t kBlock = AmountColumns::kBlock;
constexpr int64_t kEnough = 0;
constexpr size_t kChunk = 8192;  // words

}  // namespace

int64_t LevelOf(const VictimLevels* voter, TaskId candidate) {
  return voter != nullptr && voter->level ? voter->level(candidate) : kEnough;
}

int64_t LevelNeededBy(const VictimLevels* voter, TaskId task) {
  return voter != nullptr && voter->needed ? voter->needed(task) : kEnough;
}

// Nothing that was looked up for another queue, or in another state, is good for this one.
bool CandidatesByNode::Begin(QueueId queue, Asking asking) {
  bool same = side_.queue == queue && side_.asking == asking && !is_known_.empty();
  size_t voters = 0;
  size_t exact = 0;
  for (const VotingTier& tier : session_.voting_tiers(asking))
    for (const VictimLevels* voter : tier.voters) {
      if (voters == states_.size()) states_.push_back(0);
      const uint64_t state = voter != nullptr && voter->state ? voter->state() : 0;
      same &= std::exchange(states_[voters++], state) == state;
      if (voter != nullptr && voter->exact_level) ++exact;
    }
  if (same) return false;
  const size_t nodes = session_.cluster.nodes_by_name.size();
  const auto kinds = static_cast<size_t>(session_.cluster.kinds.size());
  side_ = {.asking = asking, .queue = queue};
  is_known_.assign((nodes + kBlock - 1) / kBlock, 0);
  layout_.exact_levels = Candidate::kLevels + voters;
  layout_.amounts = layout_.exact_levels + exact;
  layout_.words = layout_.amounts + kinds;
  // The chunks of the last ones serve these.
  on_.assign(nodes, {});
  chunks_used_ = 0;
  free_words_ = 0;
  future_idle_.resize(nodes * kinds);
  return true;
}

void CandidatesByNode::Find(size_t block, uint64_t nodes) {
  std::array<uint32_t, kBlock> positions;
  size_t count = 0;
  for (nodes &= ~is_known_[block]; nodes != 0; nodes &= nodes - 1)
    positions[count++] =
        static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes));
  FindAt({positions.data(), count});
}

void CandidatesByNode::FindAll(std::span<const uint64_t> nodes) {
  positions_.clear();
  ForEachWordNotZero(
      nodes.size(), [&](size_t block) { return nodes[block] & ~is_known_[block]; },
      [&](size_t block, uint64_t unknown) {
        for (; unknown != 0; unknown &= unknown - 1)
          positions_.push_back(static_cast<uint32_t>(block * kBlock) +
                               static_cast<uint32_t>(std::countr_zero(unknown)));
        return true;
      });
  FindAt(positions_);
}

// Everything is asked for some nodes ahead.
void CandidatesByNode::FindAt(std::span<const uint32_t> positions) {
  const size_t count = positions.size();
  if (count == 0) return;
  evictable_.CatchUp();
  const Cluster& cluster = session_.cluster;
  const auto node = [&](size_t at) { return cluster.nodes_by_name[positions[at]]; };
  for (size_t i = 0; i < count; ++i) {
    evictable_.FetchAhead<true>(side_, count, i, node);
    if (i + 2 < count) FetchFutureIdle(cluster, node(i + 2));
    // Whether trying in vain matters is asked of the node's pods.
    if (i + 3 < count) session_.kube.FetchNode(node(i + 3));
    if (i + 1 < count) session_.kube.FetchPods(node(i + 1));
    FindAt(positions[i]);
  }
}

void CandidatesByNode::FindAt(uint32_t position) {
  SetBit(is_known_, position, true);
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.nodes_by_name[position];
  const int kinds = cluster.kinds.size();
  double* idle = &future_idle_[position * static_cast<size_t>(kinds)];
  const FutureIdleOf future_idle(cluster, node);
  for (int kind = 0; kind < kinds; ++kind) idle[kind] = future_idle.Get(kind);
  FollowIdle(position);
  found_.clear();
  for (const TaskId id : cluster.nodes[node].tasks)
    if (evictable_.Counts(side_, id)) found_.push_back(id);
  OnNode& here = on_[position];
  Reserve(here, found_.size());
  here.count = static_cast<uint32_t>(found_.size());
  jobs_.clear();
  uint64_t* words = here.words;
  for (const TaskId id : found_) {
    const Task& task = cluster.tasks[id];
    const bool first = std::find(jobs_.begin(), jobs_.end(), task.job) == jobs_.end();
    if (first) jobs_.push_back(task.job);
    const bool harmless = IsHarmless(id);
    *words++ = id.value | uint64_t{cluster.jobs[task.job].queue.value} << 32;
    *words++ = (first ? Candidate::kFirstOfJob : 0) | (harmless ? Candidate::kHarmless : 0);
    words = WriteLevels(id, words);
#ifdef KRAFLA_VERIFY
    std::fill(words, words + layout_.amounts - layout_.exact_levels,
              std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN()));
#endif
    words += layout_.amounts - layout_.exact_levels;
    const Resource& request = cluster.classes[task.cls].request;
    for (int kind = 0; kind < kinds; ++kind) *words++ = std::bit_cast<uint64_t>(request.Get(kind));
  }
}

void CandidatesByNode::Verify(uint32_t position) const {
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.nodes_by_name[position];
  const FutureIdleOf future_idle(cluster, node);
  for (int kind = 0; kind < cluster.kinds.size(); ++kind)
    KRAFLA_CHECK(FutureIdle(position)[kind] == future_idle.Get(kind),
                 "what will be free has followed");
  evictable_.CatchUp();
  size_t at = 0;
  std::vector<uint64_t> levels(layout_.exact_levels - Candidate::kLevels);
  for (const TaskId id : cluster.nodes[node].tasks) {
    if (!evictable_.Counts(side_, id)) continue;
    KRAFLA_CHECK(at < Count(position), "nobody has come");
    const Candidate candidate = At(position, at++);
    KRAFLA_CHECK(candidate.task() == id, "who counts has followed");
    KRAFLA_CHECK(candidate.harmless() == IsHarmless(id), "what a try would leave has followed");
    (void)WriteLevels(id, levels.data());
    for (size_t voter = 0; voter < levels.size(); ++voter)
      KRAFLA_CHECK(candidate.Level(voter) == static_cast<int64_t>(levels[voter]),
                   "levels have followed");
  }
  KRAFLA_CHECK(at == Count(position), "nobody has gone");
}

bool CandidatesByNode::IsHarmless(TaskId task) const {
  return side_.asking == Asking::kReclaim || !session_.TriedInVainMatters(task);
}

// Gives back where the next word goes.
uint64_t* CandidatesByNode::WriteLevels(TaskId task, uint64_t* words) const {
  for (const VotingTier& tier : session_.voting_tiers(side_.asking))
    for (const VictimLevels* voter : tier.voters)
      *words++ = static_cast<uint64_t>(LevelOf(voter, task));
  return words;
}

void CandidatesByNode::FollowLevels(uint32_t position, TaskId task) {
  if (!IsKnown(position)) return;
  uint64_t* words = on_[position].words;
  for (size_t c = 0; c < Count(position); ++c, words += layout_.words)
    if (Candidate(words, &layout_).task() == task) WriteLevels(task, words + Candidate::kLevels);
}

// Mostly candidates become fewer. A node that has more takes twice as much as it had, so that what
// is left behind is never more than what is in use.
void CandidatesByNode::Reserve(OnNode& here, size_t count) {
  if (count <= here.capacity) return;
  here.capacity = static_cast<uint32_t>(std::max<size_t>(count, 2 * size_t{here.capacity}));
  const size_t words = here.capacity * layout_.words;
  if (words > free_words_) {
    if (chunks_used_ == chunks_.size()) chunks_.emplace_back();
    Chunk& chunk = chunks_[chunks_used_++];
    if (chunk.size < words) {
      chunk.size = std::max(words, kChunk);
      chunk.words = std::make_unique_for_overwrite<uint64_t[]>(chunk.size);
    }
    free_words_ = chunk.size;
    free_ = chunk.words.get();
  }
  here.words = free_;
  free_ += words;
  free_words_ -= words;
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
