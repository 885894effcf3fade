#include "simulation/decision_judge.h"

#include <fmt/format.h>

#include <algorithm>
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

// The first of these that names one.
int64_t CooldownOf(const Cluster& cluster, const Task& task) {
  if (task.cooldown_ns >= 0 || !task.job.valid()) return task.cooldown_ns;
  const Job& job = cluster.jobs[task.job];
  if (job.cooldown_ns >= 0 || !job.queue.valid()) return job.cooldown_ns;
  return cluster.queues[job.queue].cooldown_ns;
}

bool Contains(const std::vector<Timestamp>& times, Timestamp at) {
  return std::find(times.begin(), times.end(), at) != times.end();
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
                .cooldown_ns = CooldownOf(cluster, task),
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
  ReadSettings(session.config);
  JudgeMemory(session.memory);
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
    if (!closing && promises_.cooldowns) JudgeEvictionsOf(key, pod);
    SeenJob& job = jobs_.at(pod.job);
    if (pod.status == TaskStatus::kRunning) --job.running;
    // Budgets are tdm's: they bind a drain, and who was decided about in tdm's tier.
    if (promises_.budgets && (closing || Permitted(session, eviction, "tdm"))) {
      if (job.HasBudget()) {
        JudgeBudget(key, pod.job, job);
      } else {
        JudgeWithoutBudget(session, key, pod.job, job);
      }
    }
    ++job.evicted;
    Decided& decided = decided_[key];
    decided = {.at = now_, .job = pod.job, .for_job = {}, .zone = {}};
    if (eviction.for_task.valid()) {
      const std::string& other = pods_.at(cluster.TaskKey(eviction.for_task)).job;
      if (other != pod.job) decided.for_job = other;
    } else if (closing && eviction.node.valid()) {
      decided.zone = cluster.Text(cluster.nodes[eviction.node].zone);
    }
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
  int64_t cooldown_ns = pod.cooldown_ns >= 0 ? pod.cooldown_ns : settings_.default_cooldown_ns;
  if (pod.status != TaskStatus::kRunning || cooldown_ns < 0 || !pod.scheduled.Present()) return;
  // Each time the job made room for others its cooldown has become longer.
  if (cooldown_ns < settings_.max_cooldown_ns && settings_.backoff > 1) {
    double raised = static_cast<double>(cooldown_ns);
    for (int64_t n = EvictionsOf(pod.job); n > 0; --n) raised *= settings_.backoff;
    cooldown_ns = raised < static_cast<double>(settings_.max_cooldown_ns)
                      ? static_cast<int64_t>(raised)
                      : settings_.max_cooldown_ns;
  }
  const int64_t age = now_.ns - pod.scheduled.ns;
  if (age < cooldown_ns)
    Complain(fmt::format("{} is evicted {} s after it was placed, its cooldown is {} s", key,
                         age / Timestamp::kNsPerSecond, cooldown_ns / Timestamp::kNsPerSecond));
}

void DecisionJudge::JudgeEvictionsOf(const std::string& key, const SeenPod& pod) {
  if (settings_.max_evictions == 0) return;
  if (const int64_t count = EvictionsOf(pod.job); count >= settings_.max_evictions)
    Complain(fmt::format("{} goes, whose job made room for others {} times of late, {} it may", key,
                         count, settings_.max_evictions));
}

// After this eviction, which the counts include. Evicted pods that are gone and have no successor
// yet are missing.
void DecisionJudge::JudgeBudget(const std::string& key, const std::string& job_key, SeenJob& job) {
  const int64_t total = job.total + GoneOf(job_key);
  if (!job.max_unavailable.empty()) {
    const int64_t unavailable = total - job.finished - job.running;
    if (unavailable > ReadAmount(job.max_unavailable, total))
      Complain(fmt::format("{} goes: {} of {} unavailable, {} may be", key, unavailable, total,
                           job.max_unavailable));
  } else if (!job.min_available.empty() && job.running < ReadAmount(job.min_available, total)) {
    Complain(fmt::format("{} goes: {} run, {} must", key, job.running, job.min_available));
  }
}

// One in an evict period, whoever took it; or the whole gang at once.
void DecisionJudge::JudgeWithoutBudget(const Session& session, const std::string& key,
                                       const std::string& job_key, const SeenJob& job) {
  const auto history = losses_.find(job_key);
  if (history != losses_.end() && !history->second.taken.empty() &&
      IsWithin(history->second.taken.back(), settings_.evict_period_ns))
    Complain(fmt::format("{} goes: its job has no budget and lost somebody at {}", key,
                         FormatRfc3339(history->second.taken.back())));
  if (job.evicted == 0) return;
  std::set<std::string> going;
  for (const Eviction& eviction : session.plan.evictions)
    going.insert(session.cluster.TaskKey(eviction.task));
  for (const auto& [pod_key, pod] : pods_)
    if (pod.job == job_key && nodes_.contains(pod.node) && !going.contains(pod_key) &&
        (pod.status == TaskStatus::kRunning || pod.status == TaskStatus::kBound))
      return Complain(
          fmt::format("{} goes with others of its job, which has no budget, and {} "
                      "stays",
                      key, pod_key));
}

// ---- what became of evictions

void DecisionJudge::On(const SimEvent& event) {
  const bool taken = event.kind == SimEventKind::kPodEvicted;
  if (taken || event.kind == SimEventKind::kEvictFailed) {
    const auto it = decided_.find(event.pod);
    if (it == decided_.end()) return Complain(fmt::format("nobody evicted {}", event.pod));
    const Decided decided = it->second;
    decided_.erase(it);
    refused_count_ += taken ? 0 : 1;
    const auto note = [&](History& history) {
      if (!taken) history.refused.emplace_back(decided.at, event.pod);
      if (taken && !Contains(history.taken, decided.at)) history.taken.push_back(decided.at);
    };
    note(losses_[decided.job]);
    if (!decided.for_job.empty()) note(room_[decided.job]);
    if (!decided.zone.empty()) note(zones_emptied_[decided.zone]);
  }
  if (event.kind == SimEventKind::kPodGone) gone_[event.job][event.pod] = now_;
  if (event.kind == SimEventKind::kPodCreated) gone_[event.job].erase(event.pod);
}

void DecisionJudge::ReadSettings(const SchedulerConfig& config) {
  settings_ = {};
  for (const Tier& tier : config.tiers) {
    for (const PluginOption& plugin : tier.plugins) {
      const krafla::Arguments& has = plugin.arguments;
      if (plugin.name == "cdp") {
        settings_.has_cdp = true;
        settings_.default_cooldown_ns = has.GetDurationNs("cdp.default-cooldown").value_or(-1);
        settings_.max_evictions = has.GetInt("cdp.max-evictions").value_or(0);
        settings_.backoff = has.GetFloat("cdp.backoff").value_or(1);
        settings_.eviction_period_ns =
            has.GetDurationNs("cdp.eviction-period").value_or(settings_.eviction_period_ns);
        settings_.max_cooldown_ns =
            has.GetDurationNs("cdp.max-cooldown").value_or(settings_.eviction_period_ns);
      }
      if (plugin.name == "tdm") {
        settings_.has_tdm = true;
        settings_.evict_period_ns =
            has.GetDurationNs("tdm.evict.period").value_or(settings_.evict_period_ns);
      }
    }
  }
}

// What the scheduler remembers stays as long ago as it was.
void DecisionJudge::ClockWasSet(int64_t by_ns) {
  const auto shift = [&](Timestamp& at) { at = Shifted(at, by_ns); };
  for (auto& [pod, decided] : decided_) shift(decided.at);
  for (auto* histories : {&losses_, &room_, &zones_emptied_})
    for (auto& [name, history] : *histories) {
      for (Timestamp& at : history.taken) shift(at);
      for (auto& [at, pod] : history.refused) shift(at);
    }
  for (auto& [job, pods] : gone_)
    for (auto& [pod, at] : pods) shift(at);
}

bool DecisionJudge::IsWithin(Timestamp at, int64_t period_ns) const {
  return at <= now_ && now_.ns - at.ns < period_ns;
}

int64_t DecisionJudge::EvictionsOf(const std::string& job) const {
  const auto history = room_.find(job);
  if (history == room_.end()) return 0;
  return std::count_if(history->second.taken.begin(), history->second.taken.end(),
                       [&](Timestamp at) { return IsWithin(at, settings_.eviction_period_ns); });
}

int64_t DecisionJudge::GoneOf(const std::string& job) const {
  const auto gone = gone_.find(job);
  if (gone == gone_.end()) return 0;
  return std::count_if(gone->second.begin(), gone->second.end(), [&](const auto& pod) {
    return IsWithin(pod.second, settings_.evict_period_ns);
  });
}

// What was decided now counts until it is known better. What was decided before was either taken,
// or refused and the pod still counts as leaving.
void DecisionJudge::ExpectTrue(std::string_view what, const std::string& name,
                               const History& history, Timestamp at) {
  if (at == now_ || Contains(history.taken, at)) return;
  for (const auto& [when, pod] : history.refused) {
    if (when != at) continue;
    const auto seen = pods_.find(pod);
    const bool stays = seen != pods_.end() && (seen->second.status == TaskStatus::kRunning ||
                                               seen->second.status == TaskStatus::kBound);
    if (!stays) return;
  }
  Complain(fmt::format("{} {} at {} is remembered and was refused", what, name, FormatRfc3339(at)));
}

void DecisionJudge::JudgeMemory(const CycleMemory& memory) {
  for (const CycleMemory::JobLoss& loss : memory.job_losses)
    ExpectTrue("a loss of", loss.job, losses_[loss.job], loss.at);
  for (const CycleMemory::JobEvictions& evictions : memory.job_evictions)
    for (const Timestamp at : evictions.times)
      ExpectTrue("an eviction of", evictions.job, room_[evictions.job], at);
  for (const CycleMemory::ZoneEviction& zone : memory.last_evictions)
    ExpectTrue("an eviction from", zone.zone, zones_emptied_[zone.zone], zone.at);

  // And nothing that was taken is forgotten for another's refusal.
  if (settings_.has_cdp && (settings_.max_evictions > 0 || settings_.backoff > 1))
    for (const auto& [job, history] : room_)
      for (const Timestamp at : history.taken)
        if (jobs_.contains(job) && IsWithin(at, settings_.eviction_period_ns)) {
          const CycleMemory::JobEvictions* known = memory.FindJobEvictions(job);
          if (known == nullptr || !Contains(known->times, at))
            Complain(fmt::format("an eviction of {} at {} is forgotten", job, FormatRfc3339(at)));
        }
  if (!settings_.has_tdm) return;
  for (const auto& [zone, history] : zones_emptied_)
    if (!history.taken.empty() && IsWithin(history.taken.back(), settings_.evict_period_ns)) {
      const Timestamp* known = memory.LastEviction(zone);
      if (known == nullptr || *known < history.taken.back())
        Complain(fmt::format("an eviction from {} at {} is forgotten", zone,
                             FormatRfc3339(history.taken.back())));
    }
}

}  // namespace krafla::testing
