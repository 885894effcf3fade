#include "actions/known_in_vain.h"

#include <utility>

namespace krafla {

KnownInVain::KnownInVain(Session& session)
    : session_(session),
      position_of_(session.cluster.nodes.size(), 0),
      seen_(session.cluster.nodes_by_name.size(), 0) {
  const std::vector<NodeId>& nodes = session.cluster.nodes_by_name;
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
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : &found->second;
}

bool KnownInVain::NodesToAskAgain(const Record& record, std::vector<uint32_t>& positions) {
  const Cluster& cluster = session_.cluster;
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
  const std::vector<NodeId>& nodes = session_.node_changes();
  for (size_t i = record.node_changes; i < nodes.size(); ++i)
    if (!add(nodes[i])) return false;
  const std::vector<JobId>& jobs = session_.job_changes();
  for (size_t i = record.job_changes; i < jobs.size(); ++i)
    for (const TaskId task : cluster.jobs[jobs[i]].tasks)
      if (const NodeId node = cluster.tasks[task].node; node.valid() && !add(node)) return false;
  return true;
}

void KnownInVain::Remember(const Key& key, size_t job_changes, std::vector<TraceEvent> furthest) {
  if (records_.size() >= kMaxRecords) records_.clear();
  records_[key] = {session_.node_changes().size(), job_changes, std::move(furthest)};
}

}  // namespace krafla
