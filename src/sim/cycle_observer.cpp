#include "sim/cycle_observer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "session/zone_drainer.h"

namespace krafla {

namespace {

// A reason or a share is told again at the earliest after this time.
constexpr int64_t kAtMostEveryNs = 60 * Timestamp::kNsPerSecond;

// Numbers change all the time; it is another reason when the words are others.
uint64_t HashWithoutNumbers(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text)
    if (c < '0' || c > '9') hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

// Whether anything in this configuration evicts pods because their zone is closed.
bool SomebodyEmptiesZones(const SchedulerConfig& config) {
  const bool by_action =
      std::any_of(config.actions.begin(), config.actions.end(), [&](const ActionOption& action) {
        return action.name == "shuffle" ||
               (action.name == "preempt" && config.compatibility.victims_in_preempt);
      });
  const bool by_tdm = std::any_of(config.tiers.begin(), config.tiers.end(), [](const Tier& tier) {
    return std::any_of(tier.plugins.begin(), tier.plugins.end(), [](const PluginOption& plugin) {
      return plugin.name == "tdm" && plugin.Enabled(Switch::kVictim);
    });
  });
  return by_action && by_tdm;
}

}  // namespace

void CycleObserver::OnPhases(const Session& session, const std::vector<JobPhaseChange>& phases) {
  for (const JobPhaseChange& change : phases) {
    const Job& job = session.cluster.jobs[change.job];
    const SimJobId id = world_.FindJob(job.ns, job.name);
    if (!id.valid()) continue;
    events_.BeginJob(SimEventKind::kJobPhase, id).text = ToString(change.after);
    events_.Send();
  }
}

void CycleObserver::OnCycle(Session& session) {
  LookAtJobs(session);
  LookAtShares(session);
  if (!zones_.ClosedWithGuests().empty()) LookAtHeldDrains(session);
}

// ---- jobs

void CycleObserver::LookAtJobs(Session& session) {
  const Cluster& cluster = session.cluster;
  std::optional<WhyWaiting> why;
  for (const JobId id : session.JobsToVisit()) {
    const Job& job = cluster.jobs[id];
    if (job.Waiting() > 0) LookAtPipelined(session, job);
    if (job.Count(TaskStatus::kPending) + job.Waiting() == 0) continue;
    const SimJobId sim_id = world_.FindJob(job.ns, job.name);
    if (sim_id.valid()) LookAtWaiting(session, id, world_.job(sim_id), why);
  }
}

void CycleObserver::LookAtPipelined(const Session& session, const Job& job) {
  const Cluster& cluster = session.cluster;
  for (const TaskId id : job.tasks) {
    const Task& task = cluster.tasks[id];
    if (task.status != TaskStatus::kPipelined || !task.node.valid()) continue;
    const SimPodId pod_id = world_.FindPod(task.ns, task.name);
    if (!pod_id.valid()) continue;
    SimPod& pod = world_.pod(pod_id);
    const StrId node = cluster.nodes[task.node].name;
    if (pod.pipelined_to == node) continue;
    // A pod that finds another place in every cycle is not told of in every cycle.
    if (pod.pipelined_to.valid() && now_.ns - pod.pipelined_at.ns < kAtMostEveryNs) continue;
    pod.pipelined_to = node;
    pod.pipelined_at = now_;
    SimEvent& event = events_.BeginPod(SimEventKind::kPodPipelined, pod_id);
    event.node = world_.Text(node);
    event.zone = world_.Text(cluster.nodes[task.node].zone);
    events_.Send();
  }
}

// A number that stands for the words of the reason, at a fraction of the price of writing them.
uint64_t CycleObserver::WaitingFor(const Session& session, JobId id) {
  const Job& job = session.cluster.jobs[id];
  uint64_t hash = job.IsReady() ? 3 : 1;
  if (const std::string* refusal = session.EnqueueRefusal(id))
    return hash + HashWithoutNumbers(*refusal);
  hash += job.Waiting() > 0 ? 4 : 0;
  hash += HashWithoutNumbers(session.eviction_limit.WhyHeldBack(id));
  hash += HashWithoutNumbers(session.surplus_wait.Why(id));
  for (const TaskId task : job.tasks) {
    const FitError* const error = session.fit_errors.Find(task);
    if (error == nullptr) continue;
    hash += HashWithoutNumbers(error->message);
    for (const auto& [code, count] : error->reasons)
      hash += HashWithoutNumbers(session.reasons.Text(code));
    break;
  }
  return hash;
}

void CycleObserver::LookAtWaiting(const Session& session, JobId id, SimJob& job,
                                  std::optional<WhyWaiting>& why) {
  if (job.waiting_for != 0 && now_.ns - job.waiting_seen.ns < kAtMostEveryNs) return;
  job.waiting_seen = now_;
  const uint64_t waiting_for = WaitingFor(session, id);
  if (waiting_for == job.waiting_for) return;
  job.waiting_for = waiting_for;
  const Job& row = session.cluster.jobs[id];
  SimEvent& event = events_.BeginJob(SimEventKind::kJobWaiting, world_.FindJob(row.ns, row.name));
  event.text = session.WaitingReason(id);
  if (!why) why.emplace(session);
  for (const WhyWaiting::Answer& answer : why->Of(id))
    event.text.append("; ").append(answer.action).append(": ").append(answer.reason);
  events_.Send();
}

// ---- queues

void CycleObserver::LookAtShares(const Session& session) {
  const Cluster& cluster = session.cluster;
  cluster_total_ = cluster.total;
  for (const QueueId id : cluster.queues_by_name) {
    const StrId name = cluster.queues[id].name;
    const auto [it, is_new] = share_of_.try_emplace(name, static_cast<uint32_t>(shares_.size()));
    if (is_new) shares_.push_back({.queue = name});
    const QueueReport& report = session.queue_reports[id];
    shares_[it->second].deserved_now = report.known ? report.deserved : Resource{};
    LookAtShare(it->second);
  }
}

void CycleObserver::OnShareDue(uint32_t index) {
  shares_[index].due_planned = false;
  LookAtShare(index);
}

void CycleObserver::LookAtShare(uint32_t index) {
  Share& share = shares_[index];
  const Resource& allocated = world_.AllocatedTo(share.queue);
  if (!share.told && allocated.IsEmpty() && share.deserved_now.IsEmpty()) return;
  if (share.told && allocated.SameAs(share.allocated) && share.deserved_now.SameAs(share.deserved))
    return;
  if (share.told && now_.ns - share.at.ns < kAtMostEveryNs) {
    if (!share.due_planned) {
      share.due_planned = true;
      queue_.Plan(After(share.at, kAtMostEveryNs), TimerKind::kShareDue, index);
    }
    return;
  }
  share.told = true;
  share.at = now_;
  share.allocated = allocated;
  share.deserved = share.deserved_now;
  SimEvent& event = events_.Begin(SimEventKind::kQueueShare);
  event.queue = world_.Text(share.queue);
  event.amounts = world_.Amounts(share.allocated);
  event.deserved = world_.Amounts(share.deserved);
  share.allocated.ForEachNamed([&](int kind) {
    if (kind != ResourceKinds::kPods && cluster_total_.Get(kind) > 0)
      event.share = std::max(event.share, share.allocated.Get(kind) / cluster_total_.Get(kind));
  });
  events_.Send();
}

// ---- zones

void CycleObserver::LookAtHeldDrains(Session& session) {
  const auto* report = dynamic_cast<const DrainReport*>(session.FindPlugin("tdm"));
  if (report == nullptr) return;  // then there are no zones to watch
  const Cluster& cluster = session.cluster;
  std::set<JobId> moved;  // that have just lost pods because a zone is closed
  for (const Eviction& eviction : session.plan.evictions)
    if (eviction.reason == EvictionReason::kZoneClosed && cluster.tasks[eviction.task].job.valid())
      moved.insert(cluster.tasks[eviction.task].job);
  std::vector<std::pair<JobId, std::string>> holds;
  for (const HeldDrain& held : report->HeldDrains())
    holds.emplace_back(held.job, moved.erase(held.job) > 0 ? held.why_after_step : held.why);
  // Nothing but the time until the next step holds the rest of those.
  for (const JobId id : moved) {
    const DisruptionBudget& budget = cluster.jobs[id].budget;
    const bool has_budget = !budget.min_available.empty() || !budget.max_unavailable.empty();
    holds.emplace_back(id, has_budget ? "its next step comes after the evict period"
                                      : "it has no budget and one goes per evict period");
  }
  std::sort(holds.begin(), holds.end(), [&](const auto& a, const auto& b) {
    return cluster.JobKey(a.first) < cluster.JobKey(b.first);
  });
  std::map<std::string_view, HeldZone> by_zone;
  for (const auto& [job, why] : holds) {
    std::map<std::string_view, std::pair<StrId, int64_t>> of_job;
    for (const TaskId id : cluster.jobs[job].tasks) {
      const Task& task = cluster.tasks[id];
      if (task.status != TaskStatus::kRunning || !task.node.valid()) continue;
      const StrId zone = cluster.nodes[task.node].zone;
      if (zone == kEmptyStr || !zones_.ClosedSince(zone)) continue;
      const SimPodId pod = world_.FindPod(task.ns, task.name);
      if (!pod.valid() || !world_.pod(pod).offers_itself) continue;
      auto& count = of_job[world_.Text(zone)];
      count.first = zone;
      ++count.second;
    }
    for (const auto& [name, count] : of_job) {
      HeldZone& sum = by_zone[name];
      sum.zone = count.first;
      sum.pods += count.second;
      sum.text += fmt::format("{}{} {}", sum.text.empty() ? "" : "; ", cluster.JobKey(job), why);
    }
  }
  for (const StrId zone : zones_.ClosedWithGuests())
    if (!by_zone.contains(world_.Text(zone)))
      if (HeldZone held = LookAtUnmovedZone(session, zone); held.pods > 0)
        by_zone.emplace(world_.Text(zone), std::move(held));
  for (const auto& [name, held] : by_zone) {
    // What was told of an earlier closing is told again.
    std::pair<Timestamp, std::string>& told = held_[held.zone];
    const std::pair<Timestamp, std::string> now(*zones_.ClosedSince(held.zone), held.text);
    if (told == now) continue;
    told = now;
    SimEvent& event = events_.Begin(SimEventKind::kDrainHeld);
    event.zone = name;
    event.count = held.pods;
    event.text = held.text;
    events_.Send();
  }
}

// A zone with pods that should go, of which nothing has been said since it closed: neither has any
// gone nor is any job held.
CycleObserver::HeldZone CycleObserver::LookAtUnmovedZone(const Session& session, StrId zone) const {
  const Cluster& cluster = session.cluster;
  if (const auto told = held_.find(zone);
      told != held_.end() && told->second.first == zones_.ClosedSince(zone))
    return {.zone = zone};
  int64_t running = 0;
  int64_t starting = 0;
  for (const NodeId node : cluster.nodes_by_name) {
    if (cluster.nodes[node].zone != zone) continue;
    for (const TaskId id : cluster.nodes[node].tasks) {
      const Task& task = cluster.tasks[id];
      const SimPodId pod = world_.FindPod(task.ns, task.name);
      if (!pod.valid() || !world_.pod(pod).offers_itself) continue;
      running += task.status == TaskStatus::kRunning;
      starting += task.status == TaskStatus::kBound || task.status == TaskStatus::kBinding;
    }
  }
  HeldZone held{.zone = zone, .pods = running + starting, .text = {}};
  if (!SomebodyEmptiesZones(session.config)) {
    held.text = "nothing empties it: that takes tdm, and preempt or shuffle among the actions";
  } else if (running == 0) {
    held.text = "only pods that run are evicted, and these have not started yet";
  } else if (session.memory.LastEviction(world_.Text(zone)) != nullptr) {
    held.text = "its next step comes after the evict period";
  } else {
    held.pods = 0;  // there is nothing to wait for: the next cycle has more to say
  }
  return held;
}

}  // namespace krafla
