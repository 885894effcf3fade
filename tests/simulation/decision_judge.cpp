#include "simulation/decision_judge.h"

#include <fmt/format.h>

#include <cstdlib>

namespace krafla::testing {

namespace {

bool HoldsRoom(TaskStatus status) {
  return status == TaskStatus::kBinding || status == TaskStatus::kBound ||
         status == TaskStatus::kRunning || status == TaskStatus::kReleasing;
}

// "3", or "30%" of `total`, rounded up.
int64_t ReadAmount(const std::string& text, int64_t total) {
  const int64_t number = std::strtoll(text.c_str(), nullptr, 10);
  return text.ends_with('%') ? (number * total + 99) / 100 : number;
}

bool Permitted(const Session& session, const Eviction& eviction, std::string_view plugin) {
  const std::vector<std::string>& names = session.plugin_names();
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == plugin) return (eviction.permitted_by >> i) & 1;
  return false;
}

}  // namespace

void DecisionJudge::Complain(std::string text) {
  if (complaint_.empty()) complaint_ = fmt::format("at {}: {}", FormatRfc3339(now_), text);
}

void DecisionJudge::BeforeCycle(const Cluster& cluster, Timestamp scheduler_now) {
  now_ = scheduler_now;
  pods_.clear();
  jobs_.clear();
  nodes_.clear();
  for (const NodeId id : cluster.nodes_by_name)
    nodes_[std::string(cluster.NodeName(id))] = {.allocatable = cluster.allocatable[id],
                                                 .max_pods = cluster.nodes[id].max_pods};
  for (const JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    jobs_[cluster.JobKey(id)] = {.minimum = job.min_available,
                                 .min_available = job.budget.min_available,
                                 .max_unavailable = job.budget.max_unavailable};
  }
  for (TaskId id{0}; id.value < cluster.tasks.size(); ++id.value) {
    const Task& task = cluster.tasks[id];
    SeenPod pod{.status = task.status,
                .request = cluster.specs[task.spec].request,
                .scheduled = task.scheduled_at,
                .cooldown_ns = task.cooldown_ns,
                .best_effort = cluster.specs[task.spec].request.IsEmpty()};
    if (HoldsRoom(task.status)) {
      pod.node = cluster.Text(task.node_name);
      SeenNode& node = nodes_[pod.node];
      node.used.Add(pod.request);
      ++node.pods;
    }
    if (task.job.valid()) {
      pod.job = cluster.JobKey(task.job);
      SeenJob& job = jobs_.at(pod.job);
      ++job.total;
      job.running += task.status == TaskStatus::kRunning;
      job.finished += task.status == TaskStatus::kSucceeded || task.status == TaskStatus::kFailed;
      job.has_place += task.status == TaskStatus::kBinding || task.status == TaskStatus::kBound ||
                       task.status == TaskStatus::kRunning || task.status == TaskStatus::kSucceeded;
      job.best_effort += pod.best_effort && task.status == TaskStatus::kPending;
    }
    pods_[cluster.TaskKey(id)] = std::move(pod);
  }
}

void DecisionJudge::AfterCycle(const Session& session) {
  binds_ += static_cast<int64_t>(session.plan.binds.size());
  evictions_ += static_cast<int64_t>(session.plan.evictions.size());
  JudgeRoom(session);
  if (promises_.gangs) JudgeGangs(session);
  JudgeEvictions(session);
}

// Nobody is put where there is no room, and nobody who has a place already is put anywhere. A node
// that holds too much may go on doing so. What is being evicted holds its room until it is gone.
void DecisionJudge::JudgeRoom(const Session& session) {
  const Cluster& cluster = session.cluster;
  std::set<std::string> bound;
  for (const Bind& bind : session.plan.binds) {
    const std::string key = cluster.TaskKey(bind.task);
    const std::string name(cluster.NodeName(bind.node));
    const SeenPod& pod = pods_.at(key);
    if (!bound.insert(key).second) Complain(fmt::format("{} is bound twice", key));
    if (pod.status != TaskStatus::kPending)
      Complain(fmt::format("{} is bound, and was {} before", key, ToString(pod.status)));
    if (!nodes_.contains(name)) {
      Complain(fmt::format("{} is bound to {}, which is not there", key, name));
      continue;
    }
    SeenNode& node = nodes_.at(name);
    node.used.Add(pod.request);
    ++node.pods;
    for (int kind = 0; kind < cluster.kinds.size(); ++kind)
      if (kind != ResourceKinds::kPods && pod.request.Get(kind) > kTolerance &&
          node.used.Get(kind) > node.allocatable.Get(kind) + kTolerance)
        Complain(fmt::format("{} is bound to {}: {} of {} {} would be used", key, name,
                             node.used.Get(kind), node.allocatable.Get(kind),
                             cluster.kinds.Name(kind)));
    if (node.pods > node.max_pods)
      Complain(
          fmt::format("{} is bound to {}, which has {} pods already", key, name, node.max_pods));
  }
}

void DecisionJudge::JudgeGangs(const Session& session) {
  std::map<std::string, int64_t> bound;
  for (const Bind& bind : session.plan.binds)
    ++bound[pods_.at(session.cluster.TaskKey(bind.task)).job];
  for (const auto& [key, count] : bound) {
    const SeenJob& job = jobs_.at(key);
    if (job.has_place + count + job.best_effort < job.minimum)
      Complain(fmt::format("{} pods of {} are bound, which had {} and needs {}", count, key,
                           job.has_place, job.minimum));
  }
}

void DecisionJudge::JudgeEvictions(const Session& session) {
  const Cluster& cluster = session.cluster;
  std::set<std::string> evicted;
  for (const Eviction& eviction : session.plan.evictions) {
    const std::string key = cluster.TaskKey(eviction.task);
    const SeenPod& pod = pods_.at(key);
    if (!evicted.insert(key).second) Complain(fmt::format("{} is evicted twice", key));
    if (pod.status != TaskStatus::kBound && pod.status != TaskStatus::kRunning)
      Complain(fmt::format("{} is evicted, and was {} before", key, ToString(pod.status)));
    const bool closing = eviction.reason == EvictionReason::kZoneClosed;
    if (!closing) JudgeBeneficiary(session, eviction);
    if (!closing && promises_.cooldowns) JudgeCooldown(key, pod);
    SeenJob& job = jobs_.at(pod.job);
    if (pod.status == TaskStatus::kRunning) --job.running;
    // Budgets are tdm's: they bind a drain, and who was decided about in tdm's tier.
    if (promises_.budgets && (closing || Permitted(session, eviction, "tdm")))
      JudgeBudget(key, job);
  }
}

void DecisionJudge::JudgeBeneficiary(const Session& session, const Eviction& eviction) {
  const Cluster& cluster = session.cluster;
  const std::string key = cluster.TaskKey(eviction.task);
  if (!eviction.for_task.valid()) return Complain(fmt::format("{} is evicted for nobody", key));
  const std::string for_key = cluster.TaskKey(eviction.for_task);
  if (pods_.at(for_key).status != TaskStatus::kPending)
    Complain(fmt::format("{} is evicted for {}, which does not wait", key, for_key));
  const Task& task = cluster.tasks[eviction.for_task];
  if (task.status != TaskStatus::kPipelined || task.node != eviction.node)
    Complain(fmt::format("{} is evicted for {}, which does not get its place", key, for_key));
}

void DecisionJudge::JudgeCooldown(const std::string& key, const SeenPod& pod) {
  if (pod.status != TaskStatus::kRunning || pod.cooldown_ns < 0 || !pod.scheduled.Present()) return;
  const int64_t age = now_.ns - pod.scheduled.ns;
  if (age < pod.cooldown_ns)
    Complain(fmt::format("{} is evicted {} s after it was placed, its cooldown is {} s", key,
                         age / Timestamp::kNsPerSecond, pod.cooldown_ns / Timestamp::kNsPerSecond));
}

// After this eviction, which the counts include.
void DecisionJudge::JudgeBudget(const std::string& key, SeenJob& job) {
  if (!job.max_unavailable.empty()) {
    const int64_t unavailable = job.total - job.finished - job.running;
    if (unavailable > ReadAmount(job.max_unavailable, job.total))
      Complain(fmt::format("{} goes: {} of {} unavailable, {} may be", key, unavailable, job.total,
                           job.max_unavailable));
  } else if (!job.min_available.empty() && job.running < ReadAmount(job.min_available, job.total)) {
    Complain(fmt::format("{} goes: {} run, {} must", key, job.running, job.min_available));
  }
}

}  // namespace krafla::testing
