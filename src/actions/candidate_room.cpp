#include "actions/candidate_room.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "model/future_idle.h"
#include "session/node_search.h"
#include "session/rows_of_bits.h"
#include "session/words_hash.h"

namespace krafla {

namespace {

constexpr uint32_t kWord = 64;

// Sums made in another order may differ in the last bits; a node too many is only asked.
constexpr double kSlack = 1;

// Requests that are kept of a group.
constexpr size_t kMaxRequests = 256;
// None has been given to a class yet.
constexpr uint32_t kNoNumber = UINT32_MAX;

}  // namespace

struct CandidateRoom::Tables {
  AmountSteps steps;
  std::vector<uint32_t> position_of;  // by NodeId
  std::vector<uint32_t> seen;         // by position: the last pass over changes that met it
  uint32_t passes = 0;
  std::vector<std::unique_ptr<Sums>> groups;
  uint64_t asked = 0;
  // Requests are numbered as they come up.
  std::unordered_map<std::vector<uint64_t>, uint32_t, WordsHash> numbers;
  std::vector<uint32_t> number_of;  // by ClassId
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

const CandidateRoom::ByKind& CandidateRoom::AddUp(Sums& sums, uint32_t position) {
  const Cluster& cluster = session_.cluster;
  const NodeId node = cluster.nodes_by_name[position];
  const FutureIdleOf future_idle(cluster, node);
  const int kinds = cluster.kinds.size();
  for (int kind = 0; kind < kinds; ++kind)
    room_.amounts[static_cast<size_t>(kind)] = future_idle.Get(kind);
  sums.all_candidates -= std::exchange(sums.candidates[position], 0);
  uint64_t& with_candidates = sums.with_candidates[position / kWord];
  const uint64_t bit = uint64_t{1} << position % kWord;
  with_candidates &= ~bit;
  if (!sums.group.queue.valid()) return room_;
  for (const TaskId id : cluster.nodes[node].tasks) {
    if (!evictable_.Counts(sums.group.side(), id)) continue;
    const Resource& request = evictable_.RequestOf(id);
    for (int kind = 0; kind < kinds; ++kind)
      room_.amounts[static_cast<size_t>(kind)] += request.Get(kind);
    with_candidates |= bit;
    ++sums.candidates[position];
    ++sums.all_candidates;
  }
  return room_;
}

CandidateRoom::Sums& CandidateRoom::SumsOf(const Group& group) {
  Tables& tables = session_.node_search().Companion<Tables>();
  evictable_.CatchUp();
  const auto found = std::find_if(tables.groups.begin(), tables.groups.end(),
                                  [&](const auto& sums) { return sums->group == group; });
  if (found != tables.groups.end()) {
    (*found)->used = ++tables.asked;
    Synchronize(**found);
    return **found;
  }
  // A new one has never been used. Beyond so many, the one that was not asked for longest hands its
  // memory over.
  if (tables.groups.size() < std::max<size_t>(1, session_.node_search().limits().groups))
    tables.groups.push_back(std::make_unique<Sums>());
  Sums& sums = **std::min_element(tables.groups.begin(), tables.groups.end(),
                                  [](const auto& l, const auto& r) { return l->used < r->used; });
  sums.used = ++tables.asked;
  Make(sums, group);
  return sums;
}

void CandidateRoom::Make(Sums& sums, const Group& group) {
  const Cluster& cluster = session_.cluster;
  const size_t n = cluster.nodes_by_name.size();
  Tables& tables = session_.node_search().Companion<Tables>();
  if (tables.steps.by_kind.size() != static_cast<size_t>(cluster.kinds.size()))
    tables.steps = AmountSteps::Of(cluster, kSlack);
  if (tables.position_of.empty()) {
    tables.seen.assign(n, 0);
    tables.position_of.assign(cluster.nodes.size(), 0);
    for (uint32_t p = 0; p < n; ++p) tables.position_of[cluster.nodes_by_name[p].value] = p;
  }
  sums.group = group;
  sums.requests.clear();
  sums.candidates.assign(n, 0);
  sums.all_candidates = 0;
  sums.with_candidates.assign((n + kWord - 1) / kWord, 0);
  AddUpAll(sums);
  sums.synced = session_.node_changes().size();
}

void CandidateRoom::AddUpAll(Sums& sums) {
  if (sums.group.queue.valid()) evictable_.MakeAll();
  const std::vector<NodeId>& nodes = session_.cluster.nodes_by_name;
  const AmountSteps& steps = session_.node_search().Companion<Tables>().steps;
  sums.room.Make(nodes.size(), steps, [&](uint32_t p) -> const ByKind& {
    evictable_.FetchAhead<false>(sums.group.side(), nodes.size(), p,
                                 [&](size_t at) { return nodes[at]; });
    return AddUp(sums, p);
  });
}

template <class F>
void CandidateRoom::ForEachChanged(size_t since, F&& f) {
  Tables& tables = session_.node_search().Companion<Tables>();
  ++tables.passes;
  for (const NodeId node : session_.node_changes().From(since)) {
    const uint32_t p = tables.position_of[node.value];
    if (std::exchange(tables.seen[p], tables.passes) != tables.passes) f(p);
  }
}

void CandidateRoom::Synchronize(Sums& sums) {
  const NodeChanges& changes = session_.node_changes();
  if (changes.size() - sums.synced > session_.cluster.nodes_by_name.size()) {
    AddUpAll(sums);
  } else {
    changed_.clear();
    ForEachChanged(sums.synced, [&](uint32_t p) { changed_.push_back(p); });
    const auto node = [&](size_t at) { return session_.cluster.nodes_by_name[changed_[at]]; };
    for (size_t i = 0; i < changed_.size(); ++i) {
      evictable_.FetchAhead<false>(sums.group.side(), changed_.size(), i, node);
      if (i + 2 < changed_.size()) {
        FetchFutureIdle(session_.cluster, node(i + 2));
        sums.room.FetchAt(changed_[i + 2]);
      }
      sums.room.Set(changed_[i], AddUp(sums, changed_[i]));
    }
  }
  sums.synced = changes.size();
}

// The same for classes that ask for the same.
uint32_t CandidateRoom::RequestOf(ClassId cls) {
  Tables& tables = session_.node_search().Companion<Tables>();
  const Cluster& cluster = session_.cluster;
  if (tables.number_of.size() < cluster.classes.size())
    tables.number_of.resize(cluster.classes.size(), kNoNumber);
  uint32_t& number = tables.number_of[cls.value];
  if (number != kNoNumber) return number;
  const Resource& request = cluster.classes[cls].request;
  std::vector<uint64_t> words = {request.mask()};
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1)
    words.push_back(std::bit_cast<uint64_t>(request.Get(std::countr_zero(rest))));
  const auto next = static_cast<uint32_t>(tables.numbers.size());
  number = tables.numbers.try_emplace(std::move(words), next).first->second;
  return number;
}

std::span<const uint64_t> CandidateRoom::NodesFor(TaskId task, const VictimRule& rule) {
  Sums& sums = SumsOf(GroupOf(task, rule));
  current_ = &sums;
  const ClassId cls = session_.cluster.tasks[task].cls;
  const Resource& request = session_.cluster.classes[cls].request;
  const NodeChanges& changes = session_.node_changes();
  const uint32_t number = RequestOf(cls);
  if (sums.requests.size() >= kMaxRequests && !sums.requests.contains(number))
    sums.requests.clear();
  RequestBits& kept = sums.requests[number];
  const size_t blocks = sums.room.blocks();
  if (kept.bits.empty() || changes.size() - kept.synced > blocks / 4) {
    kept.bits.resize(blocks);
    const AmountColumns::Question question = sums.room.Ask(request, kSlack);
    question.FitsAll(kept.bits);
    if (sums.group.needs_candidates) KeepThese(kept.bits, sums.with_candidates);
  } else {
    ForEachChanged(kept.synced, [&](uint32_t p) {
      const bool has_room = (!sums.group.needs_candidates || sums.candidates[p] > 0) &&
                            sums.room.FitsAt(request, p, kSlack);
      const uint64_t bit = uint64_t{1} << (p % kWord);
      uint64_t& word = kept.bits[p / kWord];
      word = has_room ? word | bit : word & ~bit;
    });
  }
  kept.synced = changes.size();
  return kept.bits;
}

}  // namespace krafla
