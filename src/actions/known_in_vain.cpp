#include "actions/known_in_vain.h"

#include <utility>

#include "base/words_of_bits.h"
#include "model/fetch_tasks.h"

namespace krafla {

void KnownInVain::MakeTables() {
  const std::vector<NodeId>& nodes = session_.cluster.nodes_by_name;
  position_of_.assign(session_.cluster.nodes.size(), 0);
  seen_.assign(nodes.size(), 0);
  task_seen_.resize(session_.cluster.tasks.size());
  job_seen_.assign(session_.cluster.jobs.size(), 0);
  for (uint32_t p = 0; p < nodes.size(); ++p) position_of_[nodes[p].value] = p;
}

size_t KnownInVain::Hash::operator()(const Key& key) const {
  uint64_t hash = key.size();
  for (const uint64_t word : key) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

bool KnownInVain::MakeKey(TaskId task, const VictimRule& rule, const void* left_out,
                          Key& key) const {
  const Cluster& cluster = session_.cluster;
  const Task& t = cluster.tasks[task];
  const Job& job = cluster.jobs[t.job];
  key.clear();
  const bool job_matters = job.Count(TaskStatus::kBound) + job.Count(TaskStatus::kRunning) > 0;
  // Jobs of which nobody runs do not differ in who is a candidate.
  key.push_back(uint64_t{t.cls.value} << 32 | job.queue.value);
  key.push_back(static_cast<uint64_t>(rule.whose) << 32 | (job_matters ? t.job.value : UINT32_MAX));
  key.push_back(reinterpret_cast<uintptr_t>(left_out));
  return session_.VotesDependOn(rule.asking(), task, key);
}

KnownInVain::Record* KnownInVain::Find(const Key& key) {
  if (filter_.empty() || !HasBit(filter_, Hash{}(key) % kFilterBits)) return nullptr;
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : &found->second;
}

bool KnownInVain::ChangedNodes(Since since, bool losses_matter, std::vector<uint32_t>& positions) {
  const Cluster& cluster = session_.cluster;
  if (seen_.empty()) MakeTables();
  positions.clear();
  ++call_;
  // Looking at more changes than there are nodes is no gain over asking all.
  size_t looked_at = 0;
  const size_t limit = cluster.nodes_by_name.size();
  auto add = [&](NodeId node) {
    const uint32_t p = position_of_[node.value];
    if (std::exchange(seen_[p], call_) != call_) positions.push_back(p);
    return ++looked_at <= limit;
  };
  for (const NodeId node : session_.node_changes().From(since.node_changes))
    if (!add(node)) return false;
  CompareTasks(since.task_changes);
  for (const auto& [id, change] : compared_) {
    if (change == Net::kSame || (change == Net::kLess && !losses_matter)) continue;
    const JobId job = cluster.tasks[id].job;
    if (std::exchange(job_seen_[job.value], call_) == call_) continue;
    if (!ForEachTaskOnANode(cluster, job, [&](TaskId, NodeId node) { return add(node); }))
      return false;
  }
  return true;
}

// How tasks are now, compared with then: losses and gains take turns, so the first change says how
// the task was and the last how it is.
void KnownInVain::CompareTasks(size_t since) {
  using Kind = TaskChange::Kind;
  compared_.clear();
  for (const auto [id, kind] : session_.task_changes().From(since)) {
    auto& [stamp, slot] = task_seen_[id.value];
    if (stamp != call_) {
      stamp = call_;
      slot = static_cast<uint32_t>(compared_.size());
      compared_.push_back({id, kind == Kind::kLost     ? Net::kLess
                               : kind == Kind::kGained ? Net::kMore
                                                       : Net::kOther});
      continue;
    }
    Net& net = compared_[slot].second;
    if (kind == Kind::kOther || net == Net::kOther) {
      net = Net::kOther;
    } else if (net == Net::kSame) {
      net = kind == Kind::kLost ? Net::kLess : Net::kMore;
    } else {
      const bool turns = (net == Net::kLess) == (kind == Kind::kGained);
      net = turns ? Net::kSame : Net::kOther;
    }
  }
}

bool KnownInVain::NodesToAskAgain(const Record& record, std::vector<uint32_t>& positions) {
  if (!NodesThatMayDiffer(record, positions)) return false;
  for (const uint32_t p : record.always)
    if (std::exchange(seen_[p], call_) != call_) positions.push_back(p);
  return true;
}

bool KnownInVain::NodesThatMayDiffer(const Record& record, std::vector<uint32_t>& positions) {
  if (record.open.empty()) return ChangedNodes(record.since, record.losses_matter, positions);
  if (!ChangedNodes(record.asked, record.losses_matter, changed_)) return false;
  open_.clear();
  for (const uint32_t p : record.open)
    if (seen_[p] == call_) open_.push_back(p);
  if (!ChangedNodes(record.since, record.losses_matter, positions)) return false;
  for (const uint32_t p : open_)
    if (std::exchange(seen_[p], call_) != call_) positions.push_back(p);
  return true;
}

// A node that a predicate has refused may have had room; so may one that said no for the queue's
// share, but that is in the key, and says no again when nobody goes. Any other that said no had
// none, and has none as long as it does not change.
bool KnownInVain::NoneHasRoom(Record& record, TaskId task) const {
  if (!record.always.empty()) return false;
  const NodeChanges& changes = session_.node_changes();
  const size_t end = changes.size();
  for (size_t& at = record.without_room; at < end; ++at) {
    const NodeId node = changes[at];
    const bool comes_again = at + 1 < end && changes[at + 1] == node;
    if (!comes_again && VictimsSuffice(session_, task, node, {})) return false;
  }
  return true;
}

void KnownInVain::Remember(const Key& key, Since statement_began, Since search_began,
                           const std::vector<uint32_t>* asked, bool losses_matter,
                           const std::vector<uint32_t>& always, std::vector<TraceEvent> furthest) {
  if (records_.size() >= kMaxRecords) {
    records_.clear();
    filter_.clear();
  }
  filter_.resize(kFilterBits / 64);
  SetBit(filter_, Hash{}(key) % kFilterBits, true);
  Record& record = records_[key];
  record.losses_matter = losses_matter;
  record.always = always;
  record.furthest = std::move(furthest);
  open_.assign(record.open.begin(), record.open.end());  // what was open before
  record.open.clear();
  const Since now = Now();
  // Tasks that the search itself has changed count: nodes that were asked before that may say
  // otherwise now.
  record.said_no = {now.node_changes, search_began.task_changes};
  const bool left_nothing = now == search_began;
  if (!left_nothing || statement_began == now || !ChangedNodes(statement_began, true, changed_)) {
    record.since = {now.node_changes, search_began.task_changes};
    record.without_room = search_began.node_changes;
    return;
  }
  record.since = statement_began;
  record.without_room = statement_began.node_changes;
  record.asked = now;
  if (asked == nullptr) {
    record.open = changed_;
    return;
  }
  auto keep_open = [&](const std::vector<uint32_t>& positions) {
    for (const uint32_t p : positions)
      if (std::exchange(seen_[p], 0) == call_) record.open.push_back(p);
  };
  keep_open(*asked);
  keep_open(open_);  // those not asked: their answer has not changed
}

}  // namespace krafla
