#include "session/node_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/words_of_bits.h"
#include "session/fetch_placing.h"
#include "session/fitting_nodes.h"
#include "session/reason_counts.h"

namespace krafla {

namespace {

constexpr uint32_t kBlock = BlockMaxima::kBlock;
constexpr uint32_t kNowhere = FittingNodes::kNowhere;
static_assert(kBlock == AmountColumns::kBlock && kBlock == NodeRanking::kBlock);

template <class F>
void ForEachNode(size_t block, uint64_t nodes, F&& f) {
  BlockMaxima::ForEachNode(block, nodes, f);
}

}  // namespace

// Everything here is by position in nodes_by_name; a bit per node is in words of kBlock.
struct NodeSearch::ClassCache {
  std::shared_ptr<FixedAnswers> fixed;
  std::shared_ptr<SharedScores> scores;
  std::list<ClassId>::iterator used;  // its place among all
  std::vector<uint64_t> allowed;      // only where that is not among the fixed answers
  // Null unless somebody has looked for a node for allocate, and all answers depend on the node
  // alone.
  std::unique_ptr<FittingNodes> fitting;
  std::list<ClassId>::iterator fitting_used;  // its place among those that have them

  const std::vector<uint64_t>& Allowed() const {
    return fixed->unclear.empty() ? fixed->allowed : allowed;
  }
};

NodeSearch::NodeSearch(Session& session, NodeSearchLimits limits)
    : session_(session),
      cluster_(session.cluster),
      limits_(limits),
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
    MakeRoomForClass();
    slot = std::make_unique<ClassCache>();
    slot->fixed = fixed_.Find(cls);
    slot->scores = scores_.Find(cls);
    slot->used = used_.insert(used_.end(), cls);
  } else {
    fixed_.CatchUp(cls, *slot->fixed);
    used_.splice(used_.end(), used_, slot->used);
  }
  return *slot;
}

// Classes come and go, some with a single job. Mostly they share answers and scores, so that a
// class costs next to nothing; beyond so many bytes the half that has not been used longest is
// given up. Counted when there are a quarter more than when they were counted last.
void NodeSearch::MakeRoomForClass() {
  constexpr size_t kFew = 64;
  if (used_.size() < std::max(kFew, counted_ + counted_ / 4)) return;
  const size_t nodes = cluster_.nodes_by_name.size();
  size_t bytes = 0;
  std::unordered_set<const void*> seen;
  for (const ClassId cls : used_) {
    const ClassCache& cache = *caches_[cls];
    bytes += cache.allowed.size() * sizeof(uint64_t);
    if (seen.insert(cache.scores.get()).second) bytes += SharedScores::kBytesPerNode * nodes;
    if (!seen.insert(cache.fixed.get()).second) continue;
    for (const auto& answers : cache.fixed->by_hook) bytes += answers.size() * sizeof(Refusal);
  }
  if (bytes > limits_.classes) {
    for (size_t left = used_.size() / 2; left > 0; --left) {
      ClassCache& cache = *caches_[used_.front()];
      if (cache.fitting != nullptr) fitting_used_.erase(cache.fitting_used);
      caches_[used_.front()].reset();
      used_.pop_front();
    }
  }
  counted_ = used_.size();
}

// Beyond so many bytes the class whose fitting nodes have not been asked for longest hands them
// over.
FittingNodes& NodeSearch::FittingOf(ClassId cls, ClassCache& cache) {
  if (cache.fitting != nullptr) {
    fitting_used_.splice(fitting_used_.end(), fitting_used_, cache.fitting_used);
    return *cache.fitting;
  }
  const size_t most = std::max<size_t>(8, limits_.fitting / (cluster_.nodes_by_name.size() + 1));
  if (fitting_used_.size() < most) {
    cache.fitting = std::make_unique<FittingNodes>();
  } else {
    cache.fitting = std::move(caches_[fitting_used_.front()]->fitting);
    fitting_used_.pop_front();
    cache.fitting->begun = false;
    cache.fitting->failure_at = SIZE_MAX;
  }
  cache.fitting_used = fitting_used_.insert(fitting_used_.end(), cls);
  return *cache.fitting;
}

FreeAmounts& NodeSearch::Free() {
  free_.CatchUp(session_.node_changes(), position_of_);
  return free_;
}

void NodeSearch::Follow(const ClusterChanges& changes) {
  caches_.Resize(cluster_.classes.size());
  prepared_.assign(cluster_.tasks.size(), false);
  role_classes_.clear();
  last_role_classes_ = nullptr;
  if (fixed_.TooManyFactChanges()) Forget();
  fixed_.NoteFactChanges(changes.node_facts);
}

void NodeSearch::Forget() {
  for (const ClassId cls : used_) caches_[cls].reset();
  used_.clear();
  fitting_used_.clear();
  counted_ = 0;
  companions_.clear();
  fixed_.Forget();
  scores_.Forget();
  free_.Forget();
}

void NodeSearch::Verify() {
  // Of a class without tasks a plugin need not know what its tasks say; nobody asks for it either.
  std::vector<bool> has_tasks(caches_.size(), false);
  for (const Task& task : cluster_.tasks) has_tasks[task.cls.value] = true;
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
    // Nodes that have not changed since: what is known of them is what they would say now.
    session_.kube.EnsureBuilt();
    if (ScoresAreNodeLocal(cls)) VerifyScores(cls, *cache.scores);
    if (cache.fitting != nullptr && IsNodeLocal(cls) && ScoresAreNodeLocal(cls))
      VerifyFitting(cls, cache);
  }
}

// By position: which nodes have changed since so much of the list.
std::vector<bool> NodeSearch::ChangedSince(size_t synced) const {
  std::vector<bool> changed(cluster_.nodes_by_name.size(), false);
  for (const NodeId node : session_.node_changes().From(synced))
    changed[position_of_[node.value]] = true;
  return changed;
}

void NodeSearch::VerifyScores(ClassId cls, SharedScores& scores) {
  CatchUp(scores);
  for (uint32_t p = 0; p < cluster_.nodes_by_name.size(); ++p) {
    if (!scores.Knows(p)) continue;
    double score = 0;
    LocalScores(cls, {&cluster_.nodes_by_name[p], 1}, {&score, 1});
    KRAFLA_CHECK(scores.At(p) == score, "a score has followed");
  }
  const auto highest = [&](size_t block) {
    return scores.scores().HighestOf(block, scores.known()[block]);
  };
  const BlockMaxima& best = scores.best();
  for (size_t block = 0; block < best.size(); ++block)
    KRAFLA_CHECK(
        highest(block) <= best.Of(block) && best.Of(block) <= best.regions()[block / kBlock],
        "no known score of a block is higher than its bound");
  scores.Tighten(std::vector<uint64_t>(best.size(), 1));
  for (size_t block = 0; block < best.size(); ++block)
    KRAFLA_CHECK(highest(block) == best.Of(block), "the best known score of a block has followed");
}

void NodeSearch::VerifyFitting(ClassId cls, const ClassCache& cache) const {
  const FittingNodes& kept = *cache.fitting;
  if (!kept.begun) return;
  const std::vector<bool> changed = ChangedSince(kept.synced);
  const Resource& request = cluster_.classes[cls].request;
  for (uint32_t p = 0; p < changed.size(); ++p) {
    if (changed[p]) continue;
    const NodeId node = cluster_.nodes_by_name[p];
    const bool later = request.LessEqual(cluster_.FutureIdle(node), Missing::kZero);
    const bool now = later && request.LessEqual(cluster_.idle[node], Missing::kZero);
    KRAFLA_CHECK(later == ((kept.later[p / kBlock] & BitOf(p)) != 0) &&
                     now == ((kept.now[p / kBlock] & BitOf(p)) != 0),
                 "whether a request fits has followed");
  }
  if (kept.synced != session_.node_changes().size()) return;
  const SharedScores& scores = *cache.scores;
  for (size_t block = 0; block < kept.later.size(); ++block) {
    KRAFLA_CHECK((kept.passes[block] & kept.refuses[block]) == 0, "a node passes or it does not");
    KRAFLA_CHECK((kept.Later(block) & ~scores.known()[block]) == 0, "whoever fits has a score");
  }
  kept.VerifyBest(scores.scores());
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

// Summed in the order in which the full evaluation sums: all node scores, then all batch scores.
void NodeSearch::LocalScores(ClassId cls, std::span<const NodeId> nodes,
                             std::span<double> scores) const {
  KRAFLA_CHECK(nodes.size() <= kBlock, "a block of nodes at a time");
  std::array<double, kBlock> by_batch;
  const std::span<double> batch = std::span(by_batch).first(nodes.size());
  std::fill(scores.begin(), scores.end(), 0);
  std::fill(batch.begin(), batch.end(), 0);
  for (const auto& tier : session_.scores()) {
    for (const auto& entry : tier) {
      if (entry.call->node_each) {
        entry.call->node_each(cls, nodes, scores);
      } else if (entry.call->node) {
        for (size_t i = 0; i < nodes.size(); ++i) scores[i] += entry.call->node(cls, nodes[i]);
      }
      if (entry.call->batch_each) entry.call->batch_each(cls, nodes, batch);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] += batch[i];
}

// Whether a node passes; remembered until it changes.
bool NodeSearch::Passes(TaskId task, ClassCache& cache, uint32_t p) {
  FittingNodes& kept = *cache.fitting;
  const size_t block = p / kBlock;
  if ((kept.passes[block] & BitOf(p)) != 0) return true;
  if ((kept.refuses[block] & BitOf(p)) != 0) return false;
  const bool passes = !CheckAt(task, cache, p).refused();
  (passes ? kept.passes : kept.refuses)[block] |= BitOf(p);
  return passes;
}

void NodeSearch::CatchUp(SharedScores& scores) {
  scores_.Follow(session_.node_changes(), position_of_);
  scores_.CatchUp(scores);
}

// The scores have caught up with changes.
void NodeSearch::AskScores(ClassId cls, SharedScores& scores, std::span<const uint32_t> positions) {
  std::array<NodeId, kBlock> nodes;
  std::array<double, kBlock> found;
  while (!positions.empty()) {
    const std::span<const uint32_t> some =
        positions.first(std::min<size_t>(positions.size(), kBlock));
    for (size_t i = 0; i < some.size(); ++i) {
      nodes[i] = cluster_.nodes_by_name[some[i]];
      session_.kube.FetchSums(nodes[i]);  // what a score looks at lies all over the memory
    }
    LocalScores(cls, std::span(nodes).first(some.size()), std::span(found).first(some.size()));
    scores.Set(some, std::span(found).first(some.size()));
    positions = positions.subspan(some.size());
  }
}

// Which nodes have room, and the scores of those of which they are not known yet. Who passes is
// known as far as it is good.
void NodeSearch::LookAtAll(TaskId task, ClassCache& cache) {
  const FreeAmounts& free = Free();
  const AmountColumns::Question fits_later = free.later().Ask(cluster_.Request(task));
  const AmountColumns::Question fits_now = free.now().Ask(cluster_.Request(task));
  const ClassId cls = cluster_.tasks[task].cls;
  FittingNodes& kept = *cache.fitting;
  SharedScores& scores = *cache.scores;
  const size_t blocks = scores.known().size();
  kept.later.resize(blocks);
  kept.now.resize(blocks);
  fits_later.FitsAll(kept.later);
  fits_now.FitsAll(kept.now);
  KeepThese(kept.now, kept.later);
  row_.assign(kept.later.begin(), kept.later.end());
  TakeOff(row_, cache.fixed->open);
  AddThese(kept.refuses, row_);
  row_.assign(kept.later.begin(), kept.later.end());
  TakeOff(row_, kept.refuses);
  AskUnknownOf(cls, scores, row_);
  kept.FollowAll(scores.scores());
}

void NodeSearch::LookAgain(TaskId task, ClassCache& cache, uint32_t p) {
  FittingNodes& kept = *cache.fitting;
  SharedScores& scores = *cache.scores;
  const size_t block = p / kBlock;
  const uint64_t bit = BitOf(p);
  kept.Forget(p);
  const NodeId node = cluster_.nodes_by_name[p];
  const Resource& request = cluster_.Request(task);
  if (request.LessEqual(cluster_.FutureIdle(node), Missing::kZero)) {
    kept.later[block] |= bit;
    if (request.LessEqual(cluster_.idle[node], Missing::kZero)) kept.now[block] |= bit;
    kept.refuses[block] |= bit & ~cache.fixed->open[block];
    if ((kept.refuses[block] & bit) == 0 && !scores.Knows(p))
      AskScores(cluster_.tasks[task].cls, scores, {&p, 1});
  }
  kept.Follow(p, scores.scores());
}

// Brings up to date which nodes fit.
void NodeSearch::Synchronize(TaskId task, ClassCache& cache) {
  const NodeChanges& changes = session_.node_changes();
  CatchUp(*cache.scores);
  FittingNodes& kept = FittingOf(cluster_.tasks[task].cls, cache);
  const auto news = changes.From(kept.begun ? kept.synced : 0);
  if (!kept.begun || news.size() > cluster_.nodes_by_name.size() ||
      kept.IsBetterBegun(news.size(), cache.fixed->open)) {
    kept.Begin(cache.fixed->open.size());
    LookAtAll(task, cache);
  } else if (kept.IsBetterAsked(news.size())) {
    for (const NodeId node : news) kept.ForgetAnswers(position_of_[node.value]);
    LookAtAll(task, cache);
  } else {
    ++synchronizations_;
    for (const NodeId node : news) {
      const uint32_t p = position_of_[node.value];
      if (std::exchange(refreshed_[p], synchronizations_) != synchronizations_)
        LookAgain(task, cache, p);
    }
  }
  kept.synced = changes.size();
}

Refusal NodeSearch::Insufficient(int kind) {
  if (insufficient_.empty()) insufficient_.assign(static_cast<size_t>(cluster_.kinds.size()), 0);
  ReasonCode& reason = insufficient_[static_cast<size_t>(kind)];
  if (reason == 0) reason = session_.reasons.Intern("Insufficient " + cluster_.kinds.Name(kind));
  return {Refusal::kUnschedulable, reason};
}

// Takes off some nodes those that are too small, now and later.
void NodeSearch::CountShortages(TaskId task, std::span<uint64_t> nodes, ReasonCounts& counts) {
  shortages_.Take(Free().later().Ask(cluster_.Request(task)), nodes,
                  [&](int kind, RowOfBits lacking) { counts.AddRow(Insufficient(kind), lacking); });
}

FitError NodeSearch::Explain(TaskId task, const ClassCache& cache,
                             const RefusalMemory::Nodes* remembered, bool with_resources) {
  ReasonCounts counts(cluster_.nodes_by_name.size());
  row_.resize(cache.fixed->open.size());
  Free().later().AllNodes(row_);
  if (remembered != nullptr) {
    for (const auto& [refusal, nodes] : remembered->said) counts.AddRow(refusal, nodes);
    KeepThese(row_, remembered->left);
  }
  if (with_resources) CountShortages(task, row_, counts);
  ForEachWordNotZero(
      row_.size(), [&](size_t block) { return row_[block]; },
      [&](size_t block, uint64_t nodes) {
        ForEachNode(block, nodes, [&](uint32_t p) { counts.Add(CheckAt(task, cache, p), p); });
        return true;
      });
  return counts.Take();
}

// For a class whose fitting nodes are up to date.
const FitError& NodeSearch::ExplainKept(TaskId task, ClassCache& cache) {
  FittingNodes& kept = *cache.fitting;
  if (kept.failure_at == kept.synced) return kept.failure;
  kept.failure = Explain(task, cache, nullptr, true);
  kept.failure_at = kept.synced;
  return kept.failure;
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

// Of nodes given as bits; nowhere: there are none, or none can be called the best.
uint32_t NodeSearch::BestAmong(TaskId task, ClassCache& cache, std::span<const uint64_t> nodes) {
  const ClassId cls = cluster_.tasks[task].cls;
  if (!ScoresAreNodeLocal(cls) || session_.HasBestNode()) {
    std::vector<uint32_t> positions;
    for (size_t block = 0; block < nodes.size(); ++block)
      ForEachNode(block, nodes[block], [&](uint32_t p) { positions.push_back(p); });
    return positions.empty() ? kNowhere : BestPosition(task, positions);
  }
  SharedScores& scores = *cache.scores;
  CatchUp(scores);
  row_.assign(nodes.begin(), nodes.end());
  AskUnknownOf(cls, scores, row_);
  scores.Tighten(nodes);
  // The block that may have the best comes first: most others then need not be looked into.
  const BlockMaxima& bound = scores.best();
  size_t best_block = nodes.size();
  for (size_t block = 0; block < nodes.size(); ++block)
    if (nodes[block] != 0 && (best_block == nodes.size() || bound.Of(block) > bound.Of(best_block)))
      best_block = block;
  if (best_block == nodes.size()) return kNowhere;
  const ScoreColumn& score = scores.scores();
  double best = score.HighestOf(best_block, nodes[best_block]);
  for (size_t block = 0; block < nodes.size(); ++block) {
    // Of equal ones the first.
    const auto comes_later = [&](double highest) {
      return highest < best || (highest == best && block >= best_block);
    };
    if (nodes[block] == 0 || comes_later(bound.Of(block))) continue;
    const double highest = score.HighestOf(block, nodes[block]);
    if (comes_later(highest)) continue;
    best = highest;
    best_block = block;
  }
  return score.FirstThatHas(best_block, nodes[best_block], best);
}

NodeSearch::Choice NodeSearch::BestKept(TaskId task, ClassCache& cache) {
  FittingNodes& kept = *cache.fitting;
  const ScoreColumn& score = cache.scores->scores();
  for (uint32_t p = kept.Best(score); p != kNowhere; p = kept.Best(score)) {
    const NodeId node = cluster_.nodes_by_name[p];
    FetchForPlacing(session_, node);
    if (Passes(task, cache, p)) return {node, true};
    kept.Follow(p, score);
  }
  uint32_t best = kNowhere;
  for (size_t b = 0; b < kept.later.size(); ++b)
    ForEachNode(b, kept.Later(b), [&](uint32_t p) {
      if (best != kNowhere && score[p] <= score[best]) return;
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
    Synchronize(task, cache);
    const Choice choice = BestKept(task, cache);
    if (!choice.node.valid()) error = ExplainKept(task, cache);
    return choice;
  }

  // Bits: fits, and in the end: is not refused.
  std::vector<uint64_t>& future = future_;
  future.resize(cache.fixed->open.size());
  const auto known_refusals = [&]() -> RefusalMemory::Nodes& {
    if (remembered == nullptr) remembered = &memory->FindOrMake(t.job, t.role_index, n);
    return *remembered;
  };
  if (memory == nullptr) {
    Free().later().Ask(request).FitsAll(future);
  } else {
    Free().later().AllNodes(future);
    if (remembered != nullptr) KeepThese(future, remembered->left);
    shortages_.Take(Free().later().Ask(request), future, [&](int kind, RowOfBits lacking) {
      known_refusals().Add(lacking, Insufficient(kind));
    });
  }
  if (AnyBit(future)) {
    // Mostly nearly all pass, and that can be told of 64 nodes at once; the others are asked one by
    // one, because who refuses and why is remembered.
    const std::span<uint64_t> asked = doubtful_.Find(session_, task, future);
    row_.assign(future.begin(), future.end());
    TakeOff(row_, cache.fixed->open);
    AddThese(asked, row_);
#ifdef KRAFLA_VERIFY
    for (size_t block = 0; block < future.size(); ++block)
      ForEachNode(block, future[block] & ~asked[block], [&](uint32_t p) {
        KRAFLA_CHECK(!CheckAt(task, cache, p).refused(), "who is not asked passes");
      });
#endif
    // What is said of whole domains need not be asked node by node, if that is many nodes.
    constexpr size_t kMany = 64;
    SetToBoth(row_, asked, cache.fixed->open);
    const PredicateHook* hook = CountBits(row_) >= kMany ? TheOneThatSpeaksOfMany() : nullptr;
    if (hook != nullptr) {
      hook->current_of_many(task, row_, [&](Refusal refusal, RowOfBits nodes) {
#ifdef KRAFLA_VERIFY
        for (size_t block = 0; block < nodes.size(); ++block)
          ForEachNode(block, nodes[block], [&](uint32_t p) {
            const Refusal its = CheckAt(task, cache, p);
            KRAFLA_CHECK(its.codes == refusal.codes && its.reason == refusal.reason,
                         "a node says what is said of its domain");
          });
#endif
        if (memory != nullptr) known_refusals().Add(nodes, refusal);
        TakeOff(future, nodes);
        TakeOff(asked, nodes);
      });
    }
    for (size_t block = 0; block < asked.size(); ++block)
      ForEachNode(block, asked[block], [&](uint32_t p) {
        const Refusal refusal = CheckAt(task, cache, p);
        if (!refusal.refused()) return;
        if (memory != nullptr) known_refusals().Add(p, refusal);
        SetBit(future, p, false);
      });
  }
  if (!AnyBit(future)) {
    error = Explain(task, cache, remembered, true);
    return {};
  }
  idle_.resize(future.size());
  free_.now().Ask(request).FitsAll(idle_);
  KeepThese(idle_, future);
  TakeOff(future, idle_);
  for (const bool now : {true, false}) {
    const uint32_t best = BestAmong(task, cache, now ? idle_ : future);
    if (best != kNowhere) return {.node = cluster_.nodes_by_name[best], .idle = now};
  }
  return {.node = {}, .unscorable = true};
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

NodeRanking NodeSearch::RankForPreemption(TaskId task) {
  ClassCache& cache = CacheOf(cluster_.tasks[task].cls);
  scores_.Follow(session_.node_changes(), position_of_);
  if (!cache.fixed->unclear.empty()) {
    cache.allowed = cache.fixed->allowed;
    for (const uint32_t p : cache.fixed->unclear) {
      const uint64_t bit = CheckAt(task, cache, p).refused_for_preemption() ? 0 : BitOf(p);
      cache.allowed[p / kBlock] = (cache.allowed[p / kBlock] & ~BitOf(p)) | bit;
    }
  }
  return {.scores = &cache.scores->scores(),
          .block_best = cache.scores->best().blocks(),
          .region_best = cache.scores->best().regions(),
          .allowed = cache.Allowed(),
          .left_out = LeftOut(task),
          .by_node = cache.fixed->unclear.empty() || IsNodeLocal(task)};
}

void NodeSearch::ScoreAllowed(TaskId task, std::span<const uint64_t> among) {
  const ClassId cls = cluster_.tasks[task].cls;
  SharedScores& scores = *caches_[cls]->scores;
  CatchUp(scores);
  row_.resize(among.size());
  SetToBoth(row_, among, caches_[cls]->Allowed());
  AskUnknownOf(cls, scores, row_);
  scores.Tighten(among);
}

// Asks for the scores of some nodes, a bit each, of which they are not known.
void NodeSearch::AskUnknownOf(ClassId cls, SharedScores& scores, std::span<uint64_t> nodes) {
  TakeOff(nodes, scores.known());
  unknown_.clear();
  ForEachWordNotZero(
      nodes.size(), [&](size_t block) { return nodes[block]; },
      [&](size_t block, uint64_t unknown) {
        ForEachNode(block, unknown, [&](uint32_t p) { unknown_.push_back(p); });
        return true;
      });
  AskScores(cls, scores, unknown_);
}

uint32_t NodeSearch::TimesForgotten(TaskId task) const {
  return caches_[cluster_.tasks[task].cls]->scores->times_begun();
}

void NodeSearch::ScoreAt(TaskId task, std::span<const uint32_t> positions) {
  const ClassId cls = cluster_.tasks[task].cls;
  SharedScores& scores = *caches_[cls]->scores;
  CatchUp(scores);
  AskUnknown(cls, scores, positions);
}

void NodeSearch::AskUnknown(ClassId cls, SharedScores& scores,
                            std::span<const uint32_t> positions) {
  unknown_.clear();
  std::copy_if(positions.begin(), positions.end(), std::back_inserter(unknown_),
               [&](uint32_t p) { return !scores.Knows(p); });
  AskScores(cls, scores, unknown_);
}

void NodeSearch::Score(TaskId task, std::span<const uint32_t> positions,
                       std::vector<double>& scores) {
  const ClassId cls = cluster_.tasks[task].cls;
  scores.resize(positions.size());
  if (ScoresAreNodeLocal(cls)) {
    SharedScores& known = *CacheOf(cls).scores;
    CatchUp(known);
    AskUnknown(cls, known, positions);
    for (size_t i = 0; i < positions.size(); ++i) scores[i] = known.At(positions[i]);
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
