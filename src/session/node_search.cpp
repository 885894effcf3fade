#include "session/node_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace krafla {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr uint32_t kBlock = NodeRanking::kBlock;
constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();

}  // namespace

std::vector<Refusal>* RefusalMemory::Find(JobId job, uint16_t role) {
  auto it = by_role_.find(uint64_t{job.value} << 16 | role);
  return it == by_role_.end() ? nullptr : &it->second;
}

std::vector<Refusal>& RefusalMemory::FindOrMake(JobId job, uint16_t role, size_t nodes) {
  std::vector<Refusal>& refused = by_role_[uint64_t{job.value} << 16 | role];
  if (refused.empty()) refused.resize(nodes);
  return refused;
}

// Everything here is by position in nodes_by_name.
struct NodeSearch::ClassCache {
  std::vector<std::vector<Refusal>> fixed;  // per predicate hook, in tier order
  std::vector<bool> open;                   // no hook refuses for good
  size_t facts_synced = 0;                  // good up to here of fact_changes_
  uint32_t used_in = 0;                     // the last cycle that asked

  // Kept while all answers depend on the node alone; good up to `synced` of the session's node
  // changes.
  enum Fit : uint8_t { kNo, kIdle, kFuture };
  bool local = false;
  size_t synced = 0;
  std::vector<Refusal> verdict;
  std::vector<uint8_t> fit;
  std::vector<double> score;
  std::vector<double> idle_score;   // score where fit is kIdle, else -infinity
  std::vector<double> block_best;   // maxima of idle_score per kBlock
  std::vector<double> region_best;  // maxima of those
  // For preemption; empty until it asks.
  std::vector<uint64_t> allowed;     // bits: the verdict is none that evictions cannot lift
  std::vector<double> allowed_best;  // maxima of score over allowed nodes per kBlock
  uint32_t idle_count = 0;
  uint32_t future_count = 0;
  // Why nothing fitted, and up to which change that is known: the next task of the class need not
  // ask again.
  FitError failure;
  size_t failure_at = SIZE_MAX;
  std::vector<Refusal> why;  // of each node, of that failure
};

namespace {

// After the value at `at` has changed: the maxima per kBlock values follow.
void KeepMaximum(const std::vector<double>& values, size_t at, double old,
                 std::vector<double>& maxima) {
  double& best = maxima[at / kBlock];
  if (values[at] >= best) {
    best = values[at];
  } else if (old == best) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(at / kBlock * kBlock);
    best = *std::max_element(begin, begin + std::min<ptrdiff_t>(kBlock, values.end() - begin));
  }
}

}  // namespace

NodeSearch::NodeSearch(Session& session)
    : session_(session),
      cluster_(session.cluster),
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
  if (slot) {
    slot->used_in = cycle_;
    if (slot->facts_synced != fact_changes_.size()) AskAgain(cls, *slot);
    return *slot;
  }
  slot = std::make_unique<ClassCache>();
  slot->used_in = cycle_;
  AskAll(cls, *slot);
  return *slot;
}

void NodeSearch::AskAll(ClassId cls, ClassCache& cache) {
  cache.facts_synced = fact_changes_.size();
  cache.fixed.clear();
  const size_t n = cluster_.nodes_by_name.size();
  cache.open.assign(n, true);
  std::vector<Refusal> by_id(cluster_.nodes.size());
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      std::vector<Refusal>& fixed = cache.fixed.emplace_back(n);
      if (!entry.call->fixed) continue;
      std::fill(by_id.begin(), by_id.end(), Refusal{});
      entry.call->fixed(cls, by_id);
      for (uint32_t p = 0; p < n; ++p) {
        fixed[p] = by_id[cluster_.nodes_by_name[p].value];
        if (fixed[p].refused()) cache.open[p] = false;
      }
    }
  }
}

// Only nodes whose facts have changed since. They are among the session's node changes too, so that
// everything else that is kept about them follows.
void NodeSearch::AskAgain(ClassId cls, ClassCache& cache) {
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      if (!entry.call->fixed || entry.call->fixed_at) continue;
      AskAll(cls, cache);
      return;
    }
  }
  for (; cache.facts_synced < fact_changes_.size(); ++cache.facts_synced) {
    const NodeId node = fact_changes_[cache.facts_synced];
    const uint32_t p = position_of_[node.value];
    cache.open[p] = true;
    size_t hook = 0;
    for (const auto& tier : session_.predicates()) {
      for (const auto& entry : tier) {
        Refusal& fixed = cache.fixed[hook++][p];
        fixed = entry.call->fixed_at ? entry.call->fixed_at(cls, node) : Refusal{};
        if (fixed.refused()) cache.open[p] = false;
      }
    }
  }
}

void NodeSearch::Follow(const ClusterChanges& changes) {
  ++cycle_;
  caches_.Resize(cluster_.classes.size());
  prepared_.assign(cluster_.tasks.size(), false);
  role_classes_.clear();
  constexpr size_t kMaxFactChanges = 1 << 16;
  if (fact_changes_.size() > kMaxFactChanges) Forget();
  fact_changes_.insert(fact_changes_.end(), changes.node_facts.begin(), changes.node_facts.end());
  DropUnused();
}

void NodeSearch::Forget() {
  for (std::unique_ptr<ClassCache>& cache : caches_) cache.reset();
  companions_.clear();
  fact_changes_.clear();
}

// Classes come and go: what is kept for those that have not come up of late is given up when it is
// much.
void NodeSearch::DropUnused() {
  constexpr size_t kBytesPerNode = 64;
  constexpr size_t kMaxBytes = 64 << 20;
  const size_t most = std::max<size_t>(8, kMaxBytes / (kBytesPerNode * refreshed_.size() + 1));
  size_t count = 0;
  for (const std::unique_ptr<ClassCache>& cache : caches_) count += cache != nullptr ? 1 : 0;
  if (count <= most) return;
  for (std::unique_ptr<ClassCache>& cache : caches_)
    if (cache != nullptr && cache->used_in + 1 < cycle_) cache.reset();
}

void NodeSearch::Verify() {
  // Of a class without tasks a plugin need not know what its tasks say; nobody asks for it either.
  std::vector<bool> has_tasks(caches_.size(), false);
  for (const Task& task : cluster_.tasks) has_tasks[task.cls.value] = true;
  for (uint32_t c = 0; c < caches_.size(); ++c) {
    const ClassId cls(c);
    if (caches_[cls] == nullptr || !has_tasks[c]) continue;
    ClassCache& cache = CacheOf(cls);
    ClassCache fresh;
    AskAll(cls, fresh);
    KRAFLA_CHECK(fresh.open == cache.open, "what nodes refuse for good has followed");
    for (size_t hook = 0; hook < fresh.fixed.size(); ++hook)
      for (size_t p = 0; p < fresh.fixed[hook].size(); ++p)
        KRAFLA_CHECK(fresh.fixed[hook][p].codes == cache.fixed[hook][p].codes &&
                         fresh.fixed[hook][p].reason == cache.fixed[hook][p].reason,
                     "a lasting answer has followed");
    if (!cache.local || !IsNodeLocal(cls, cache) || !ScoresAreNodeLocal(cls)) continue;
    // Nodes that have not changed since: their scores are those they would get now.
    session_.kube.EnsureBuilt();
    std::vector<bool> changed(cache.score.size(), false);
    const std::vector<NodeId>& changes = session_.node_changes();
    for (size_t i = cache.synced; i < changes.size(); ++i)
      changed[position_of_[changes[i].value]] = true;
    for (uint32_t p = 0; p < changed.size(); ++p)
      KRAFLA_CHECK(changed[p] || cache.score[p] == LocalScore(cls, cluster_.nodes_by_name[p]),
                   "a score has followed");
  }
}

Refusal NodeSearch::CheckAt(TaskId task, ClassCache& cache, uint32_t position) {
  const NodeId node = cluster_.nodes_by_name[position];
  size_t hook = 0;
  for (const auto& tier : session_.predicates()) {
    for (const auto& entry : tier) {
      Refusal refusal;
      // The part that moves is named first when both refuse: the number of pods is looked at before
      // all else.
      if (entry.call->current) refusal = entry.call->current(task, node);
      refusal.Join(cache.fixed[hook++][position]);
      if (refusal.refused()) return refusal;
    }
  }
  return {};
}

Refusal NodeSearch::Check(TaskId task, NodeId node) {
  return CheckAt(task, CacheOf(cluster_.tasks[task].cls), position_of_[node.value]);
}

bool NodeSearch::IsNodeLocal(ClassId cls, const ClassCache&) const {
  for (const auto& tier : session_.predicates())
    for (const auto& entry : tier)
      if (entry.call->current_is_node_local && !entry.call->current_is_node_local(cls))
        return false;
  return true;
}

bool NodeSearch::IsNodeLocal(TaskId task) {
  const ClassId cls = cluster_.tasks[task].cls;
  return IsNodeLocal(cls, CacheOf(cls));
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

void NodeSearch::Refresh(TaskId task, ClassCache& cache, uint32_t p) {
  const NodeId node = cluster_.nodes_by_name[p];
  const Task& t = cluster_.tasks[task];
  cache.verdict[p] = CheckAt(task, cache, p);
  const double old_score = cache.score[p];
  cache.score[p] = LocalScore(t.cls, node);
  KRAFLA_CHECK(std::isfinite(cache.score[p]), "only a batch score may say that it cannot tell");
  if (!cache.allowed.empty()) RefreshRank(cache, p, old_score);
  const uint8_t before = cache.fit[p];
  uint8_t fit = ClassCache::kNo;
  if (!cache.verdict[p].refused()) {
    const Resource& request = cluster_.classes[t.cls].request;
    if (request.LessEqual(cluster_.FutureIdle(node), Missing::kZero)) {
      fit = request.LessEqual(cluster_.idle[node], Missing::kZero) ? ClassCache::kIdle
                                                                   : ClassCache::kFuture;
    }
  }
  cache.idle_count += (fit == ClassCache::kIdle) - (before == ClassCache::kIdle);
  cache.future_count += (fit == ClassCache::kFuture) - (before == ClassCache::kFuture);
  cache.fit[p] = fit;
  const double idle_score = fit == ClassCache::kIdle ? cache.score[p] : kNone;
  const double old = cache.idle_score[p];
  cache.idle_score[p] = idle_score;
  const double old_best = cache.block_best[p / kBlock];
  KeepMaximum(cache.idle_score, p, old, cache.block_best);
  KeepMaximum(cache.block_best, p / kBlock, old_best, cache.region_best);
}

void NodeSearch::RefreshRank(ClassCache& cache, uint32_t p, double old_score) {
  const size_t block = p / kBlock;
  const uint64_t bit = uint64_t{1} << (p % kBlock);
  double& best = cache.allowed_best[block];
  const bool was_best = (cache.allowed[block] & bit) != 0 && old_score == best;
  if (cache.verdict[p].refused_for_preemption()) {
    cache.allowed[block] &= ~bit;
  } else {
    cache.allowed[block] |= bit;
    if (cache.score[p] >= best) {
      best = cache.score[p];
      return;
    }
  }
  if (!was_best) return;
  best = kNone;
  for (uint64_t rest = cache.allowed[block]; rest != 0; rest &= rest - 1)
    best =
        std::max(best, cache.score[block * kBlock + static_cast<size_t>(std::countr_zero(rest))]);
}

void NodeSearch::Synchronize(TaskId task, ClassCache& cache) {
  const std::vector<NodeId>& changes = session_.node_changes();
  const size_t n = cluster_.nodes_by_name.size();
  if (!cache.local || changes.size() - cache.synced > n) {
    cache.local = true;
    cache.verdict.assign(n, {});
    cache.fit.assign(n, ClassCache::kNo);
    cache.score.assign(n, 0);
    cache.idle_score.assign(n, kNone);
    cache.block_best.assign((n + kBlock - 1) / kBlock, kNone);
    cache.region_best.assign((cache.block_best.size() + kBlock - 1) / kBlock, kNone);
    if (!cache.allowed.empty()) {
      std::fill(cache.allowed.begin(), cache.allowed.end(), 0);
      std::fill(cache.allowed_best.begin(), cache.allowed_best.end(), kNone);
    }
    cache.idle_count = cache.future_count = 0;
    for (uint32_t p = 0; p < n; ++p) Refresh(task, cache, p);
  } else {
    ++synchronizations_;
    for (size_t i = cache.synced; i < changes.size(); ++i) {
      const uint32_t p = position_of_[changes[i].value];
      if (refreshed_[p] == synchronizations_) continue;
      refreshed_[p] = synchronizations_;
      Refresh(task, cache, p);
    }
  }
  cache.synced = changes.size();
}

bool NodeSearch::RefusalsOnlyGrow(TaskId task) {
  const Task& t = cluster_.tasks[task];
  if (!IsNodeLocal(t.cls, CacheOf(t.cls))) return false;
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

Refusal NodeSearch::Insufficient(TaskId task, NodeId node) {
  const int kind = cluster_.Request(task).FirstNotLessEqual(cluster_.FutureIdle(node));
  if (kind < 0) return {};
  if (insufficient_.empty()) insufficient_.assign(static_cast<size_t>(cluster_.kinds.size()), 0);
  ReasonCode& reason = insufficient_[static_cast<size_t>(kind)];
  if (reason == 0) reason = session_.reasons.Intern("Insufficient " + cluster_.kinds.Name(kind));
  return {Refusal::kUnschedulable, reason};
}

namespace {

FitError CountReasons(std::span<const Refusal> why) {
  FitError error;
  error.nodes = static_cast<int>(why.size());
  bool any = false;
  ReasonCode last = 0;
  size_t slot = 0;  // of the last reason: neighbours tend to say the same
  for (const Refusal& refusal : why) {
    any = any || refusal.unresolvable();
    if (refusal.reason == 0) continue;
    if (refusal.reason != last) {
      last = refusal.reason;
      const auto it = std::find_if(error.reasons.begin(), error.reasons.end(),
                                   [&](const auto& r) { return r.first == last; });
      slot = static_cast<size_t>(it - error.reasons.begin());
      if (it == error.reasons.end()) error.reasons.emplace_back(last, 0);
    }
    ++error.reasons[slot].second;
  }
  if (!any) return error;
  std::vector<bool> unresolvable(why.size(), false);
  for (size_t p = 0; p < why.size(); ++p) unresolvable[p] = why[p].unresolvable();
  error.unresolvable = std::make_shared<const std::vector<bool>>(std::move(unresolvable));
  return error;
}

}  // namespace

FitError NodeSearch::Explain(TaskId task, ClassCache& cache, const std::vector<Refusal>* remembered,
                             bool with_resources) {
  const uint32_t n = static_cast<uint32_t>(cluster_.nodes_by_name.size());
  std::vector<Refusal> why(n);
  for (uint32_t p = 0; p < n; ++p) {
    Refusal& refusal = why[p];
    if (remembered != nullptr && (*remembered)[p].refused()) {
      refusal = (*remembered)[p];
    } else {
      if (with_resources) refusal = Insufficient(task, cluster_.nodes_by_name[p]);
      if (!refusal.refused()) refusal = CheckAt(task, cache, p);
    }
  }
  return CountReasons(why);
}

// For a class whose answers are kept and up to date: only nodes that have changed since the last
// failure are asked why.
const FitError& NodeSearch::ExplainKept(TaskId task, ClassCache& cache) {
  if (cache.failure_at == cache.synced) return cache.failure;
  const uint32_t n = static_cast<uint32_t>(cluster_.nodes_by_name.size());
  const auto ask = [&](uint32_t p) {
    cache.why[p] = Insufficient(task, cluster_.nodes_by_name[p]);
    if (!cache.why[p].refused()) cache.why[p] = cache.verdict[p];
  };
  const std::vector<NodeId>& changes = session_.node_changes();
  if (cache.failure_at == SIZE_MAX || cache.synced - cache.failure_at > n) {
    cache.why.assign(n, {});
    for (uint32_t p = 0; p < n; ++p) ask(p);
  } else {
    for (size_t i = cache.failure_at; i < cache.synced; ++i) ask(position_of_[changes[i].value]);
  }
  cache.failure = CountReasons(cache.why);
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

NodeSearch::Choice NodeSearch::FindForAllocate(TaskId task, NodeId only, RefusalMemory* memory,
                                               FitError& error) {
  const Task& t = cluster_.tasks[task];
  const Resource& request = cluster_.Request(task);
  ClassCache& cache = CacheOf(t.cls);
  if (only.valid()) {
    // One node is asked for; its refusal is remembered like any other.
    if (!request.LessEqual(cluster_.FutureIdle(only), Missing::kZero)) return {};
    const uint32_t p = position_of_[only.value];
    if (memory != nullptr) {
      const std::vector<Refusal>* remembered = memory->Find(t.job, t.role_index);
      if (remembered != nullptr && (*remembered)[p].refused()) return {};
    }
    if (const Refusal refusal = CheckAt(task, cache, p); refusal.refused()) {
      if (memory != nullptr)
        memory->FindOrMake(t.job, t.role_index, cluster_.nodes_by_name.size())[p] = refusal;
      return {};
    }
    return {only, request.LessEqual(cluster_.idle[only], Missing::kZero)};
  }

  const bool node_local = IsNodeLocal(t.cls, cache);
  if (memory == nullptr && node_local && ScoresAreNodeLocal(t.cls) && !session_.HasBestNode()) {
    Synchronize(task, cache);
    if (cache.idle_count > 0) {
      // The first of the best, without looking at all: a number per region, then within one, then
      // within one block of it.
      const auto region = std::max_element(cache.region_best.begin(), cache.region_best.end());
      size_t block = static_cast<size_t>(region - cache.region_best.begin()) * kBlock;
      while (cache.block_best[block] != *region) ++block;
      size_t p = block * kBlock;
      while (cache.idle_score[p] != *region) ++p;
      return {cluster_.nodes_by_name[p], true};
    }
    if (cache.future_count > 0) {
      size_t best = cache.fit.size();
      for (size_t p = 0; p < cache.fit.size(); ++p)
        if (cache.fit[p] == ClassCache::kFuture &&
            (best == cache.fit.size() || cache.score[p] > cache.score[best]))
          best = p;
      return {cluster_.nodes_by_name[best], false};
    }
    error = ExplainKept(task, cache);
    return {};
  }

  std::vector<Refusal>* remembered =
      memory != nullptr ? memory->Find(t.job, t.role_index) : nullptr;
  const uint32_t n = static_cast<uint32_t>(cluster_.nodes_by_name.size());
  std::vector<uint32_t> idle;
  std::vector<uint32_t> future;
  std::vector<std::pair<uint32_t, Refusal>> refused;
  for (uint32_t p = 0; p < n; ++p) {
    if (remembered != nullptr && (*remembered)[p].refused()) continue;
    const NodeId node = cluster_.nodes_by_name[p];
    Refusal refusal = Insufficient(task, node);
    if (!refusal.refused()) refusal = CheckAt(task, cache, p);
    if (refusal.refused()) {
      if (memory != nullptr) refused.emplace_back(p, refusal);
      continue;
    }
    (request.LessEqual(cluster_.idle[node], Missing::kZero) ? idle : future).push_back(p);
  }
  if (!refused.empty()) {
    remembered = &memory->FindOrMake(t.job, t.role_index, n);
    for (const auto& [p, refusal] : refused) (*remembered)[p] = refusal;
  }
  if (idle.empty() && future.empty()) {
    error = Explain(task, cache, remembered, true);
    return {};
  }
  return BestOf(task, idle, future);
}

NodeId NodeSearch::FindForBackfill(TaskId task, FitError& error) {
  ClassCache& cache = CacheOf(cluster_.tasks[task].cls);
  std::vector<uint32_t> positions;
  for (uint32_t p = 0; p < cluster_.nodes_by_name.size(); ++p)
    if (cache.open[p] && !CheckAt(task, cache, p).refused()) positions.push_back(p);
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
  ClassCache& cache = CacheOf(t.cls);
  const FitError* earlier = session_.fit_errors.Find(task);
  const std::vector<bool>* unresolvable =
      earlier != nullptr && earlier->unresolvable ? earlier->unresolvable.get() : nullptr;
  // Of answers that depend on the node alone only the lasting ones can be of a kind that evictions
  // do not lift.
  const bool node_local = IsNodeLocal(t.cls, cache);
  if (memory != nullptr && node_local && RefusalsOnlyGrow(task)) memory = nullptr;
  std::vector<Refusal>* remembered =
      memory != nullptr ? memory->Find(t.job, t.role_index) : nullptr;
  const uint32_t n = static_cast<uint32_t>(cluster_.nodes_by_name.size());
  for (uint32_t p = 0; p < n; ++p) {
    if (unresolvable != nullptr && (*unresolvable)[p]) continue;
    if (remembered != nullptr && (*remembered)[p].refused()) continue;
    if (node_local && cache.open[p]) {
      positions.push_back(p);
      continue;
    }
    const Refusal refusal = CheckAt(task, cache, p);
    if (!refusal.refused_for_preemption()) {
      positions.push_back(p);
    } else if (memory != nullptr) {
      remembered = &memory->FindOrMake(t.job, t.role_index, n);
      (*remembered)[p] = refusal;
    }
  }
}

bool NodeSearch::CanRank(TaskId task, const RefusalMemory* memory) {
  const ClassId cls = cluster_.tasks[task].cls;
  return IsNodeLocal(cls, CacheOf(cls)) && ScoresAreNodeLocal(cls) &&
         (memory == nullptr || RefusalsOnlyGrow(task));
}

const std::vector<bool>* NodeSearch::LeftOut(TaskId task) const {
  const FitError* earlier = session_.fit_errors.Find(task);
  return earlier != nullptr ? earlier->unresolvable.get() : nullptr;
}

std::optional<NodeRanking> NodeSearch::RankForPreemption(TaskId task, RefusalMemory* memory) {
  if (!CanRank(task, memory)) return std::nullopt;
  ClassCache& cache = CacheOf(cluster_.tasks[task].cls);
  if (cache.allowed.empty()) {
    cache.allowed.assign((cluster_.nodes_by_name.size() + kBlock - 1) / kBlock, 0);
    cache.allowed_best.assign(cache.allowed.size(), kNone);
    Synchronize(task, cache);
    for (uint32_t p = 0; p < cluster_.nodes_by_name.size(); ++p)
      RefreshRank(cache, p, cache.score[p]);
  } else {
    Synchronize(task, cache);
  }
  return NodeRanking{.scores = cache.score,
                     .block_best = cache.allowed_best,
                     .allowed = cache.allowed,
                     .left_out = LeftOut(task)};
}

void NodeSearch::Score(TaskId task, std::span<const uint32_t> positions,
                       std::vector<double>& scores) {
  const ClassId cls = cluster_.tasks[task].cls;
  ClassCache& cache = CacheOf(cls);
  scores.resize(positions.size());
  if (ScoresAreNodeLocal(cls) && IsNodeLocal(cls, cache)) {
    Synchronize(task, cache);
    for (size_t i = 0; i < positions.size(); ++i) scores[i] = cache.score[positions[i]];
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
