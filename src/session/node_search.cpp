#include "session/node_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/words_of_bits.h"
#include "session/reason_counts.h"

namespace krafla {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr uint32_t kBlock = NodeRanking::kBlock;
constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
static_assert(kBlock == AmountColumns::kBlock);

uint64_t BitOf(uint32_t position) {
  return uint64_t{1} << position % kBlock;
}

// Calls f with the position of each of a block's nodes, a bit per node.
template <class F>
void ForEachNode(size_t block, uint64_t nodes, F&& f) {
  for (; nodes != 0; nodes &= nodes - 1)
    f(static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes)));
}

// The highest score of a block's nodes.
double BestOfBlock(const double* scores, size_t block, uint64_t nodes) {
  double best = kNone;
  ForEachNode(block, nodes, [&](uint32_t p) { best = std::max(best, scores[p]); });
  return best;
}

// The highest of a region's blocks.
double BestOfRegion(const std::vector<double>& block_best, size_t region) {
  const auto begin = block_best.begin() + static_cast<ptrdiff_t>(region * kBlock);
  return *std::max_element(begin, begin + std::min<ptrdiff_t>(kBlock, block_best.end() - begin));
}

void FindRegions(const std::vector<double>& block_best, std::vector<double>& region_best) {
  region_best.resize((block_best.size() + kBlock - 1) / kBlock);
  for (size_t region = 0; region < region_best.size(); ++region)
    region_best[region] = BestOfRegion(block_best, region);
}

// A block's best was `old` before.
void FollowBlock(const std::vector<double>& block_best, std::vector<double>& region_best,
                 size_t block, double old) {
  double& best = region_best[block / kBlock];
  if (block_best[block] >= best) {
    best = block_best[block];
  } else if (old == best) {
    best = BestOfRegion(block_best, block / kBlock);
  }
}

}  // namespace

// Everything here is by position in nodes_by_name; a bit per node is in words of kBlock.
struct NodeSearch::ClassCache {
  std::shared_ptr<FixedAnswers> fixed;
  std::shared_ptr<SharedScores> shared;  // null: there are none
  std::list<ClassId>::iterator used;     // its place among all

  // Kept while all answers depend on the node alone; good up to `synced` of the session's node
  // changes.
  bool local = false;
  size_t synced = 0;
  uint32_t scores_synced = 0;   // … by the count of the book of scores
  bool fits = false;            // these are good:
  std::vector<uint64_t> later;  // bits: the request fits what will be free
  std::vector<uint64_t> now;    // bits: … and what is free now
  // Where the request fits, and where preemption wanted to know, scores are known.
  std::vector<uint64_t> scored;
  double* score = nullptr;              // the shared ones, or its own
  std::unique_ptr<double[]> own_score;  // memory of which only what is known is ever touched
  // Whether a node passes is asked when it would be the best.
  std::vector<uint64_t> refuses;    // bits: some predicate refuses
  std::vector<uint64_t> passes;     // bits: none does
  std::vector<double> block_best;   // the highest score where the request fits now, but refusals
  std::vector<double> region_best;  // the highest of kBlock blocks
  // For preemption; empty until it asks. The highest known score of nodes that are allowed.
  std::vector<double> allowed_best;
  std::vector<double> allowed_region_best;  // no lower than the highest of kBlock blocks
  std::vector<uint64_t> allowed;            // only where that is not among the fixed answers
  // Why nothing fitted, and up to which change that is known: the next task of the class need not
  // ask again.
  FitError failure;
  size_t failure_at = SIZE_MAX;

  const std::vector<uint64_t>& Allowed() const {
    return fixed->unclear.empty() ? fixed->allowed : allowed;
  }
  uint64_t Fitting(size_t block) const { return now[block] & ~refuses[block]; }
  uint64_t Ranked(size_t block) const { return scored[block] & Allowed()[block]; }
};

NodeSearch::NodeSearch(Session& session)
    : session_(session),
      cluster_(session.cluster),
      fixed_(session),
      scores_(session),
      free_(session.cluster),
      position_of_(session.cluster.nodes.size(), 0),
      prepared_(session.cluster.tasks.size(), false) {
  caches_.Resize(cluster_.classes.size());
  refreshed_.assign(cluster_.nodes_by_name.size(), 0);
  for (uint32_t p = 0; p < cluster_.nodes_by_name.size(); ++p)
    position_of_[cluster_.nodes_by_name[p].value] = p;
}

NodeSearch::~NodeSearch() = default;

Refusal NodeSearch::Prepare(TaskId task) {
  session_.kube.EnsureBuilt();
  prepared_[task.value] = true;
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->prepare)
        if (const Refusal refusal = entry.call->prepare(task); refusal.refused()) return refusal;
  return {};
}

NodeSearch::ClassCache& NodeSearch::CacheOf(ClassId cls) {
  std::unique_ptr<ClassCache>& slot = caches_[cls];
  if (slot == nullptr) {
    slot = NewCache();
    slot->fixed = fixed_.Find(cls);
    slot->shared = scores_.Find(cls);
    slot->used = used_.insert(used_.end(), cls);
  } else {
    fixed_.CatchUp(cls, *slot->fixed);
    used_.splice(used_.end(), used_, slot->used);
  }
  return *slot;
}

// Classes come and go, some with a single job: beyond so many bytes the one that has not been used
// longest makes room.
std::unique_ptr<NodeSearch::ClassCache> NodeSearch::NewCache() {
  constexpr size_t kBytesPerNode = 2;  // but for scores of its own
  constexpr size_t kMaxBytes = 16 << 20;
  const size_t most = std::max<size_t>(8, kMaxBytes / (kBytesPerNode * refreshed_.size() + 1));
  if (used_.size() < most) return std::make_unique<ClassCache>();
  std::unique_ptr<ClassCache> cache = std::move(caches_[used_.front()]);
  used_.pop_front();
  cache->local = false;
  cache->allowed_best.clear();
  cache->failure_at = SIZE_MAX;
  return cache;
}

FreeAmounts& NodeSearch::Free() {
  free_.CatchUp(session_.node_changes(), position_of_);
  return free_;
}

void NodeSearch::Follow(const ClusterChanges& changes) {
  caches_.Resize(cluster_.classes.size());
  prepared_.assign(cluster_.tasks.size(), false);
  role_classes_.clear();
  if (fixed_.TooManyFactChanges()) Forget();
  fixed_.NoteFactChanges(changes.node_facts);
}

void NodeSearch::Forget() {
  for (const ClassId cls : used_) caches_[cls].reset();
  used_.clear();
  companions_.clear();
  fixed_.Forget();
  scores_.Forget();
  free_.Forget();
}

void NodeSearch::Verify() {
  // Of a class without tasks a plugin need not know what its tasks say; nobody asks for it either.
  std::vector<bool> has_tasks(caches_.size(), false);
  for (const Task& task : cluster_.tasks) has_tasks[task.cls.value] = true;
  const std::vector<NodeId>& changes = session_.node_changes();
  for (const ClassId cls : std::vector<ClassId>(used_.begin(), used_.end())) {
    if (!has_tasks[cls.value]) continue;
    ClassCache& cache = CacheOf(cls);
    const FixedAnswers fresh = fixed_.Ask(cls);
    KRAFLA_CHECK(fresh.open == cache.fixed->open && fresh.allowed == cache.fixed->allowed,
                 "what nodes refuse for good has followed");
    for (size_t hook = 0; hook < fresh.by_hook.size(); ++hook)
      for (uint32_t p = 0; p < cluster_.nodes_by_name.size(); ++p)
        KRAFLA_CHECK(fresh.At(hook, p).codes == cache.fixed->At(hook, p).codes &&
                         fresh.At(hook, p).reason == cache.fixed->At(hook, p).reason,
                     "a lasting answer has followed");
    if (!cache.local || !IsNodeLocal(cls) || !ScoresAreNodeLocal(cls)) continue;
    // Nodes that have not changed since: what is known of them is what they would say now.
    session_.kube.EnsureBuilt();
    std::vector<bool> changed(cluster_.nodes_by_name.size(), false);
    for (size_t i = cache.synced; i < changes.size(); ++i)
      changed[position_of_[changes[i].value]] = true;
    const Resource& request = cluster_.classes[cls].request;
    for (uint32_t p = 0; p < changed.size(); ++p) {
      if (changed[p]) continue;
      const NodeId node = cluster_.nodes_by_name[p];
      const bool later = request.LessEqual(cluster_.FutureIdle(node), Missing::kZero);
      const bool now = later && request.LessEqual(cluster_.idle[node], Missing::kZero);
      KRAFLA_CHECK(!cache.fits || (later == ((cache.later[p / kBlock] & BitOf(p)) != 0) &&
                                   now == ((cache.now[p / kBlock] & BitOf(p)) != 0)),
                   "whether a request fits has followed");
      KRAFLA_CHECK(
          (cache.scored[p / kBlock] & BitOf(p)) == 0 || cache.score[p] == LocalScore(cls, node),
          "a score has followed");
    }
    if (cache.synced == changes.size()) VerifyBest(cache);
  }
}

// Of a class that is up to date.
void NodeSearch::VerifyBest(const ClassCache& cache) {
  for (size_t block = 0; block < cache.block_best.size(); ++block) {
    KRAFLA_CHECK((cache.passes[block] & cache.refuses[block]) == 0, "a node passes or it does not");
    KRAFLA_CHECK((cache.Fitting(block) & ~cache.scored[block]) == 0, "whoever fits has a score");
    KRAFLA_CHECK(cache.block_best[block] == BestOfBlock(cache.score, block, cache.Fitting(block)) &&
                     cache.block_best[block] <= cache.region_best[block / kBlock],
                 "the best of a block has followed");
    KRAFLA_CHECK(
        cache.allowed_best.empty() || !cache.fixed->unclear.empty() ||
            (BestOfBlock(cache.score, block, cache.Ranked(block)) <= cache.allowed_best[block] &&
             cache.allowed_best[block] <= cache.allowed_region_best[block / kBlock]),
        "nobody in a block is better than its bound");
  }
}

Refusal NodeSearch::CheckAt(TaskId task, const ClassCache& cache, uint32_t position) {
  const NodeId node = cluster_.nodes_by_name[position];
  size_t hook = 0;
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      Refusal refusal;
      // The part that moves is named first when both refuse: the number of pods is looked at before
      // all else.
      if (entry.call->current) refusal = entry.call->current(task, node);
      refusal.Join(cache.fixed->At(hook++, position));
      if (refusal.refused()) return refusal;
    }
  }
  return {};
}

Refusal NodeSearch::Check(TaskId task, NodeId node) {
  return CheckAt(task, CacheOf(cluster_.tasks[task].cls), position_of_[node.value]);
}

bool NodeSearch::IsNodeLocal(ClassId cls) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->current_is_node_local && !entry.call->current_is_node_local(cls))
        return false;
  return true;
}

// Whether only lasting answers can be of a kind that evictions do not lift. Answers that depend on
// the node alone are such.
bool NodeSearch::IsLiftable(ClassId cls) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->current_is_node_local && !entry.call->current_is_node_local(cls) &&
          !(entry.call->current_is_liftable && entry.call->current_is_liftable(cls)))
        return false;
  return true;
}

bool NodeSearch::IsNodeLocal(TaskId task) {
  return IsNodeLocal(cluster_.tasks[task].cls);
}

bool NodeSearch::ScoresAreNodeLocal(ClassId cls) const {
  for (const auto& tier : session_.scores())
    for (const auto& entry : tier)
      if (entry.call->batch &&
          !(entry.call->batch_is_node_local && entry.call->batch_is_node_local(cls)))
        return false;
  return true;
}

// Summed in the order in which the full evaluation sums: all node scores, then all batch scores.
double NodeSearch::LocalScore(ClassId cls, NodeId node) const {
  double by_node = 0;
  double by_batch = 0;
  for (const auto& tier : session_.scores()) {
    for (const auto& entry : tier) {
      if (entry.call->node) by_node += entry.call->node(cls, node);
      if (entry.call->batch_node) by_batch += entry.call->batch_node(cls, node);
    }
  }
  return by_node + by_batch;
}

// Whether a node passes; remembered until it changes.
bool NodeSearch::Passes(TaskId task, ClassCache& cache, uint32_t p) {
  const size_t block = p / kBlock;
  if ((cache.passes[block] & BitOf(p)) != 0) return true;
  if ((cache.refuses[block] & BitOf(p)) != 0) return false;
  const bool passes = !CheckAt(task, cache, p).refused();
  (passes ? cache.passes : cache.refuses)[block] |= BitOf(p);
  return passes;
}

void NodeSearch::AskScore(TaskId task, ClassCache& cache, uint32_t p) {
  cache.scored[p / kBlock] |= BitOf(p);
  const ClassId cls = cluster_.tasks[task].cls;
  if (cache.shared != nullptr) {
    (void)SharedScore(cls, *cache.shared, p);
  } else {
    cache.score[p] = LocalScore(cls, cluster_.nodes_by_name[p]);
    KRAFLA_CHECK(std::isfinite(cache.score[p]), "only a batch score may say that it cannot tell");
  }
}

// The book has caught up with changes.
double NodeSearch::SharedScore(ClassId cls, SharedScores& shared, uint32_t p) {
  const uint32_t change = scores_.LastChange(p);
  if (!shared.Knows(p, change)) {
    const double score = LocalScore(cls, cluster_.nodes_by_name[p]);
    KRAFLA_CHECK(std::isfinite(score), "only a batch score may say that it cannot tell");
    shared.Set(p, change, score);
  }
  return shared.At(p);
}

// Nothing is known yet.
void NodeSearch::Begin(ClassCache& cache) {
  const size_t n = cluster_.nodes_by_name.size();
  const size_t blocks = (n + kBlock - 1) / kBlock;
  cache.local = true;
  cache.fits = false;
  for (auto* bits : {&cache.later, &cache.now, &cache.scored, &cache.refuses, &cache.passes})
    bits->assign(blocks, 0);
  if (cache.shared == nullptr && cache.own_score == nullptr)
    cache.own_score = std::make_unique_for_overwrite<double[]>(n);
  cache.score = cache.shared != nullptr ? cache.shared->data() : cache.own_score.get();
  cache.block_best.assign(blocks, kNone);
  cache.region_best.assign((blocks + kBlock - 1) / kBlock, kNone);
  if (cache.allowed_best.empty()) return;
  cache.allowed_best.assign(blocks, kNone);
  FindRegions(cache.allowed_best, cache.allowed_region_best);
}

// Which nodes have room, and the scores of those of which they are not known yet.
void NodeSearch::LookAtAll(TaskId task, ClassCache& cache) {
  const FreeAmounts& free = Free();
  const AmountColumns::Question fits_later = free.later().Ask(cluster_.Request(task));
  const AmountColumns::Question fits_now = free.now().Ask(cluster_.Request(task));
  cache.fits = true;
  for (size_t block = 0; block < free.later().blocks(); ++block) {
    const uint64_t later = fits_later.Fits(block);
    cache.later[block] = later;
    cache.now[block] = later == 0 ? 0 : later & fits_now.Fits(block);
    if (later == 0) continue;
    cache.refuses[block] |= later & ~cache.fixed->open[block];
    ForEachNode(block, later & ~cache.scored[block] & ~cache.refuses[block],
                [&](uint32_t p) { AskScore(task, cache, p); });
    cache.block_best[block] = BestOfBlock(cache.score, block, cache.Fitting(block));
    if (!cache.allowed_best.empty())
      cache.allowed_best[block] = BestOfBlock(cache.score, block, cache.Ranked(block));
  }
  FindRegions(cache.block_best, cache.region_best);
  if (!cache.allowed_best.empty()) FindRegions(cache.allowed_best, cache.allowed_region_best);
}

void NodeSearch::LookAgain(TaskId task, ClassCache& cache, uint32_t p) {
  const size_t block = p / kBlock;
  const uint64_t bit = BitOf(p);
  const bool counted = (cache.Fitting(block) & bit) != 0;
  const bool ranked = (cache.scored[block] & bit) != 0;
  // Another class of the same scores may have asked since: then the old one is gone.
  const bool has_old =
      ranked && (cache.shared == nullptr || cache.shared->AskedAt(p) <= cache.scores_synced);
  const double old = has_old ? cache.score[p] : kNone;
  for (auto* bits : {&cache.later, &cache.now, &cache.scored, &cache.refuses, &cache.passes})
    (*bits)[block] &= ~bit;
  const NodeId node = cluster_.nodes_by_name[p];
  const Resource& request = cluster_.Request(task);
  if (cache.fits && request.LessEqual(cluster_.FutureIdle(node), Missing::kZero)) {
    cache.later[block] |= bit;
    if (request.LessEqual(cluster_.idle[node], Missing::kZero)) cache.now[block] |= bit;
    cache.refuses[block] |= bit & ~cache.fixed->open[block];
    if ((cache.refuses[block] & bit) == 0) AskScore(task, cache, p);
  }
  const auto follow = [&](std::vector<double>& best_of, std::vector<double>& region_best,
                          bool before, uint64_t nodes) {
    double& best = best_of[block];
    const double old_best = best;
    if ((nodes & bit) != 0 && cache.score[p] >= best) {
      best = cache.score[p];
    } else if (before && (!has_old || old == best)) {
      best = BestOfBlock(cache.score, block, nodes);
    }
    FollowBlock(best_of, region_best, block, old_best);
  };
  follow(cache.block_best, cache.region_best, counted, cache.Fitting(block));
  if (!cache.allowed_best.empty())
    follow(cache.allowed_best, cache.allowed_region_best, ranked, cache.Ranked(block));
}

// Whether to ask anew what is known is less work than to look again at so many nodes. Those without
// room cost next to nothing when nothing is known yet.
bool NodeSearch::IsBetterBegun(const ClassCache& cache, size_t changes) const {
  const size_t blocks = cache.scored.size();
  if (changes <= blocks / 4) return false;
  size_t known = 0;
  for (const uint64_t nodes : cache.scored) known += static_cast<size_t>(std::popcount(nodes));
  return changes > std::min(blocks / 4 + 3 * known, cluster_.nodes_by_name.size());
}

void NodeSearch::Synchronize(TaskId task, ClassCache& cache, bool fits) {
  const std::vector<NodeId>& changes = session_.node_changes();
  scores_.CatchUp(changes, position_of_);
  // Which nodes are allowed is asked anew by whoever ranks them: nothing to keep up with.
  if (!cache.fixed->unclear.empty()) cache.allowed_best.clear();
  if (!cache.local || IsBetterBegun(cache, changes.size() - cache.synced)) {
    Begin(cache);
  } else {
    ++synchronizations_;
    for (size_t i = cache.synced; i < changes.size(); ++i) {
      const uint32_t p = position_of_[changes[i].value];
      if (std::exchange(refreshed_[p], synchronizations_) != synchronizations_)
        LookAgain(task, cache, p);
    }
  }
  cache.synced = changes.size();
  cache.scores_synced = scores_.changes();
  if (fits && !cache.fits) LookAtAll(task, cache);
}

bool NodeSearch::RefusalsOnlyGrow(TaskId task) {
  return IsNodeLocal(task) && RoleHasOneClass(task);
}

bool NodeSearch::RoleHasOneClass(TaskId task) {
  const Task& t = cluster_.tasks[task];
  std::vector<ClassId>& class_of_role = role_classes_[t.job];
  const Job& job = cluster_.jobs[t.job];
  if (class_of_role.empty()) {
    // All tasks count, also those placed meanwhile: they may have refused nodes for the rest.
    class_of_role.assign(job.roles.size(), ClassId{});
    std::vector<bool> mixed(job.roles.size(), false);
    for (TaskId other : job.tasks) {
      const Task& o = cluster_.tasks[other];
      ClassId& seen = class_of_role[o.role_index];
      if (seen.valid() && seen != o.cls) mixed[o.role_index] = true;
      seen = o.cls;
    }
    for (size_t r = 0; r < mixed.size(); ++r)
      if (mixed[r]) class_of_role[r] = ClassId{};
  }
  return class_of_role[t.role_index].valid();
}

ReasonCode NodeSearch::Insufficient(int kind) {
  if (insufficient_.empty()) insufficient_.assign(static_cast<size_t>(cluster_.kinds.size()), 0);
  ReasonCode& reason = insufficient_[static_cast<size_t>(kind)];
  if (reason == 0) reason = session_.reasons.Intern("Insufficient " + cluster_.kinds.Name(kind));
  return reason;
}

// Those of a block's nodes for which the request is too large, each by the first kind in which it
// is. Gives back the others.
uint64_t NodeSearch::CountShortages(const AmountColumns::Question& question, size_t block,
                                    uint64_t nodes, ReasonCounts& counts) {
  return question.FitsOrLacks(block, nodes, [&](int kind, uint64_t lack) {
    counts.Add(Refusal{Refusal::kUnschedulable, Insufficient(kind)}, block, lack);
  });
}

FitError NodeSearch::Explain(TaskId task, const ClassCache& cache,
                             const RefusalMemory::Nodes* remembered, bool with_resources) {
  const AmountColumns& free = Free().later();
  const AmountColumns::Question question = free.Ask(cluster_.Request(task));
  ReasonCounts counts(cluster_.nodes_by_name.size());
  for (size_t block = 0; block < free.blocks(); ++block) {
    uint64_t nodes = free.NodesOf(block);
    if (remembered != nullptr) {
      for (const auto& [refusal, by] : remembered->said) counts.Add(refusal, block, by[block]);
      nodes &= remembered->left[block];
    }
    if (with_resources) nodes = CountShortages(question, block, nodes, counts);
    ForEachNode(block, nodes, [&](uint32_t p) { counts.Add(CheckAt(task, cache, p), p); });
  }
  return counts.Take();
}

// For a class whose answers are kept and up to date.
const FitError& NodeSearch::ExplainKept(TaskId task, ClassCache& cache) {
  if (cache.failure_at == cache.synced) return cache.failure;
  const AmountColumns& free = Free().later();
  const AmountColumns::Question question = free.Ask(cluster_.Request(task));
  ReasonCounts counts(cluster_.nodes_by_name.size());
  for (size_t block = 0; block < free.blocks(); ++block)
    ForEachNode(block, CountShortages(question, block, free.NodesOf(block), counts),
                [&](uint32_t p) { counts.Add(CheckAt(task, cache, p), p); });
  cache.failure = counts.Take();
  cache.failure_at = cache.synced;
  return cache.failure;
}

uint32_t NodeSearch::BestPosition(TaskId task, std::span<const uint32_t> positions) {
  if (positions.size() == 1) return positions[0];
  std::vector<double> scores;
  Score(task, positions, scores);
  std::vector<NodeId> nodes(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) nodes[i] = cluster_.nodes_by_name[positions[i]];
  if (const NodeId named = session_.BestNode(task, nodes, scores); named.valid())
    return position_of_[named.value];
  if (std::isnan(scores[0])) return kNowhere;
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[best]) best = i;
  return positions[best];
}

NodeSearch::Choice NodeSearch::BestOf(TaskId task, std::span<const uint32_t> idle,
                                      std::span<const uint32_t> future) {
  for (const bool now : {true, false}) {
    const std::span<const uint32_t> positions = now ? idle : future;
    if (positions.empty()) continue;
    const uint32_t best = BestPosition(task, positions);
    if (best != kNowhere) return {.node = cluster_.nodes_by_name[best], .idle = now};
  }
  return {.node = {}, .unscorable = true};
}

NodeSearch::Choice NodeSearch::BestKept(TaskId task, ClassCache& cache) {
  // The first of the best without looking at all: a number per region, then per block of one.
  while (true) {
    const auto region = std::max_element(cache.region_best.begin(), cache.region_best.end());
    if (region == cache.region_best.end() || *region == kNone) break;
    size_t block = static_cast<size_t>(region - cache.region_best.begin()) * kBlock;
    while (cache.block_best[block] != *region) ++block;
    const double best = cache.block_best[block];
    uint64_t nodes = cache.Fitting(block);
    uint32_t p = 0;
    do {
      KRAFLA_CHECK(nodes != 0, "the best of a block is in it");
      p = static_cast<uint32_t>(block * kBlock) + static_cast<uint32_t>(std::countr_zero(nodes));
      nodes &= nodes - 1;
    } while (cache.score[p] != best);
    if (Passes(task, cache, p)) return {cluster_.nodes_by_name[p], true};
    cache.block_best[block] = BestOfBlock(cache.score, block, cache.Fitting(block));
    FollowBlock(cache.block_best, cache.region_best, block, best);
  }
  uint32_t best = kNowhere;
  for (size_t b = 0; b < cache.later.size(); ++b)
    ForEachNode(b, cache.later[b] & ~cache.refuses[b], [&](uint32_t p) {
      if (best != kNowhere && cache.score[p] <= cache.score[best]) return;
      if (Passes(task, cache, p)) best = p;
    });
  if (best == kNowhere) return {};
  return {cluster_.nodes_by_name[best], false};
}

NodeSearch::Choice NodeSearch::FindForAllocate(TaskId task, NodeId only, RefusalMemory* memory,
                                               FitError& error) {
  const Task& t = cluster_.tasks[task];
  const Resource& request = cluster_.Request(task);
  ClassCache& cache = CacheOf(t.cls);
  const size_t n = cluster_.nodes_by_name.size();
  RefusalMemory::Nodes* remembered =
      memory != nullptr ? memory->Find(t.job, t.role_index) : nullptr;
  if (only.valid()) {
    // One node is asked for; its refusal is remembered like any other.
    if (!request.LessEqual(cluster_.FutureIdle(only), Missing::kZero)) return {};
    const uint32_t p = position_of_[only.value];
    if (remembered != nullptr && remembered->Refused(p)) return {};
    if (const Refusal refusal = CheckAt(task, cache, p); refusal.refused()) {
      if (memory != nullptr) memory->FindOrMake(t.job, t.role_index, n).Add(p, refusal);
      return {};
    }
    return {only, request.LessEqual(cluster_.idle[only], Missing::kZero)};
  }

  if (memory == nullptr && IsNodeLocal(t.cls) && ScoresAreNodeLocal(t.cls) &&
      !session_.HasBestNode()) {
    Synchronize(task, cache, true);
    const Choice choice = BestKept(task, cache);
    if (!choice.node.valid()) error = ExplainKept(task, cache);
    return choice;
  }

  const AmountColumns& free = Free().later();
  std::vector<uint32_t> idle;
  std::vector<uint32_t> future;
  const AmountColumns::Question fits_later = free.Ask(request);
  const AmountColumns::Question fits_now = free_.now().Ask(request);
  const auto refuse = [&](size_t block, uint64_t nodes, Refusal refusal) {
    if (memory == nullptr) return;
    if (remembered == nullptr) remembered = &memory->FindOrMake(t.job, t.role_index, n);
    remembered->Add(block, nodes, refusal);
  };
  for (size_t block = 0; block < free.blocks(); ++block) {
    uint64_t nodes = free.NodesOf(block);
    if (remembered != nullptr) nodes &= remembered->left[block];
    nodes = fits_later.FitsOrLacks(block, nodes, [&](int kind, uint64_t lack) {
      refuse(block, lack, {Refusal::kUnschedulable, Insufficient(kind)});
    });
    if (nodes == 0) continue;
    const uint64_t now = fits_now.Fits(block);
    ForEachNode(block, nodes, [&](uint32_t p) {
      if (const Refusal refusal = CheckAt(task, cache, p); refusal.refused()) {
        refuse(block, BitOf(p), refusal);
      } else {
        ((now & BitOf(p)) != 0 ? idle : future).push_back(p);
      }
    });
  }
  if (idle.empty() && future.empty()) {
    error = Explain(task, cache, remembered, true);
    return {};
  }
  return BestOf(task, idle, future);
}

NodeId NodeSearch::FindForBackfill(TaskId task, FitError& error) {
  const ClassCache& cache = CacheOf(cluster_.tasks[task].cls);
  std::vector<uint32_t> positions;
  for (size_t block = 0; block < cache.fixed->open.size(); ++block)
    ForEachNode(block, cache.fixed->open[block], [&](uint32_t p) {
      if (!CheckAt(task, cache, p).refused()) positions.push_back(p);
    });
  if (positions.empty()) {
    error = Explain(task, cache, nullptr, false);
    return {};
  }
  const uint32_t best = BestPosition(task, positions);
  return best == kNowhere ? NodeId{} : cluster_.nodes_by_name[best];
}

void NodeSearch::FindForPreemption(TaskId task, RefusalMemory* memory,
                                   std::vector<uint32_t>& positions) {
  positions.clear();
  const Task& t = cluster_.tasks[task];
  const ClassCache& cache = CacheOf(t.cls);
  const std::vector<bool>* unresolvable = LeftOut(task);
  // Of answers that depend on the node alone only the lasting ones can be of a kind that evictions
  // do not lift.
  const bool node_local = IsNodeLocal(t.cls);
  if (memory != nullptr && node_local && RefusalsOnlyGrow(task)) memory = nullptr;
  RefusalMemory::Nodes* remembered =
      memory != nullptr ? memory->Find(t.job, t.role_index) : nullptr;
  const uint32_t n = static_cast<uint32_t>(cluster_.nodes_by_name.size());
  for (uint32_t p = 0; p < n; ++p) {
    if (unresolvable != nullptr && (*unresolvable)[p]) continue;
    if (remembered != nullptr && remembered->Refused(p)) continue;
    if (node_local && cache.fixed->IsOpen(p)) {
      positions.push_back(p);
      continue;
    }
    const Refusal refusal = CheckAt(task, cache, p);
    if (!refusal.refused_for_preemption()) {
      positions.push_back(p);
    } else if (memory != nullptr) {
      remembered = &memory->FindOrMake(t.job, t.role_index, n);
      remembered->Add(p, refusal);
    }
  }
}

bool NodeSearch::CanRank(TaskId task, const RefusalMemory* memory) {
  const ClassId cls = cluster_.tasks[task].cls;
  // What a memory would leave out is not allowed anyway.
  return IsLiftable(cls) && ScoresAreNodeLocal(cls) && (memory == nullptr || RoleHasOneClass(task));
}

const std::vector<bool>* NodeSearch::LeftOut(TaskId task) const {
  const FitError* earlier = session_.fit_errors.Find(task);
  return earlier != nullptr ? earlier->unresolvable.get() : nullptr;
}

std::optional<NodeRanking> NodeSearch::RankForPreemption(TaskId task, RefusalMemory* memory) {
  if (!CanRank(task, memory)) return std::nullopt;
  ClassCache& cache = CacheOf(cluster_.tasks[task].cls);
  Synchronize(task, cache, false);
  const bool first = cache.allowed_best.empty();
  if (first) cache.allowed_best.assign(cache.scored.size(), kNone);
  if (!cache.fixed->unclear.empty()) {
    cache.allowed = cache.fixed->allowed;
    for (const uint32_t p : cache.fixed->unclear) {
      const uint64_t bit = CheckAt(task, cache, p).refused_for_preemption() ? 0 : BitOf(p);
      cache.allowed[p / kBlock] = (cache.allowed[p / kBlock] & ~BitOf(p)) | bit;
    }
  }
  if (first || !cache.fixed->unclear.empty()) {
    for (size_t block = 0; block < cache.scored.size(); ++block)
      cache.allowed_best[block] = BestOfBlock(cache.score, block, cache.Ranked(block));
    FindRegions(cache.allowed_best, cache.allowed_region_best);
  }
  return NodeRanking{.scores = {cache.score, cluster_.nodes_by_name.size()},
                     .block_best = cache.allowed_best,
                     .region_best = cache.allowed_region_best,
                     .allowed = cache.Allowed(),
                     .left_out = LeftOut(task)};
}

void NodeSearch::ScoreAllowed(TaskId task, std::span<const uint64_t> among) {
  ClassCache& cache = *caches_[cluster_.tasks[task].cls];
  scores_.CatchUp(session_.node_changes(), position_of_);
  const std::span<const uint64_t> allowed = cache.Allowed();
  const std::span<const uint64_t> scored = cache.scored;
  // Mostly all are known.
  ForEachWordNotZero(
      among.size(), [&](size_t block) { return among[block] & allowed[block] & ~scored[block]; },
      [&](size_t block, uint64_t unknown) {
        ForEachNode(block, unknown, [&](uint32_t p) { AskRanked(task, cache, p); });
        return true;
      });
}

void NodeSearch::ScoreAt(TaskId task, std::span<const uint32_t> positions) {
  ClassCache& cache = *caches_[cluster_.tasks[task].cls];
  scores_.CatchUp(session_.node_changes(), position_of_);
  for (const uint32_t p : positions)
    if ((cache.scored[p / kBlock] & BitOf(p)) == 0) AskRanked(task, cache, p);
}

void NodeSearch::AskRanked(TaskId task, ClassCache& cache, uint32_t p) {
  AskScore(task, cache, p);
  const size_t block = p / kBlock;
  if ((cache.Allowed()[block] & BitOf(p)) == 0) return;
  for (double* best : {&cache.allowed_best[block], &cache.allowed_region_best[block / kBlock]})
    *best = std::max(*best, cache.score[p]);
}

void NodeSearch::Score(TaskId task, std::span<const uint32_t> positions,
                       std::vector<double>& scores) {
  const ClassId cls = cluster_.tasks[task].cls;
  scores.resize(positions.size());
  if (ScoresAreNodeLocal(cls)) {
    scores_.CatchUp(session_.node_changes(), position_of_);
    SharedScores* shared = CacheOf(cls).shared.get();
    for (size_t i = 0; i < positions.size(); ++i)
      scores[i] = shared != nullptr ? SharedScore(cls, *shared, positions[i])
                                    : LocalScore(cls, cluster_.nodes_by_name[positions[i]]);
    return;
  }
  std::vector<NodeId> nodes(positions.size());
  std::vector<double> batch(positions.size(), 0);
  for (size_t i = 0; i < positions.size(); ++i) nodes[i] = cluster_.nodes_by_name[positions[i]];
  std::fill(scores.begin(), scores.end(), 0);
  for (const auto& tier : session_.scores()) {
    for (const auto& entry : tier) {
      if (entry.call->node)
        for (size_t i = 0; i < nodes.size(); ++i) scores[i] += entry.call->node(cls, nodes[i]);
      if (entry.call->batch) entry.call->batch(task, nodes, batch);
    }
  }
  for (size_t i = 0; i < scores.size(); ++i) scores[i] += batch[i];
}

}  // namespace krafla
