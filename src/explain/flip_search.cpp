#include "explain/flip_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/go_duration.h"
#include "config/find_plugin.h"
#include "explain/amount_words.h"
#include "explain/cluster_changes.h"
#include "explain/config_changes.h"
#include "explain/enqueue_account.h"
#include "fair_share/dominant_share.h"
#include "fair_share/job_reservation.h"
#include "model/disruption_budget.h"
#include "session/cooldown_settings.h"
#include "session/tdm_settings.h"

namespace krafla {

namespace {

constexpr size_t kMostPerKind = 5;
constexpr size_t kMostWaits = 12;
constexpr size_t kMostShapes = 6;
constexpr int64_t kLongestWaitNs = int64_t{48} * 3600 * Timestamp::kNsPerSecond;

// In the order in which they are told.
enum Size { kWait, kOwnJob, kVictims, kQueues, kConfiguration, kNodes };

class Searcher {
 public:
  Searcher(const CycleInputs& inputs, Goal goal, const FlipClues& clues)
      : in_(inputs),
        c_(inputs.cluster),
        goal_(goal),
        job_(c_.jobs[goal.job]),
        clues_(clues),
        what_if_(inputs, goal) {}

  FlipSearch Run() {
    Waits();
    OwnJob();
    Victims();
    Queues();
    Configuration();
    Nodes();
    std::stable_sort(found_.begin(), found_.end(), [](const Found& l, const Found& r) {
      if (l.size != r.size) return l.size < r.size;
      if (l.flip.evicts.size() != r.flip.evicts.size())
        return l.flip.evicts.size() < r.flip.evicts.size();
      return l.magnitude < r.magnitude;
    });
    FlipSearch result{.flips = {},
                      .in_vain = what_if_.in_vain(),
                      .tried = found_.size() + what_if_.in_vain().size(),
                      .left_out = what_if_.left_out()};
    for (Found& found : found_) result.flips.push_back(std::move(found.flip));
    return result;
  }

 private:
  struct Found {
    Flip flip;
    int size = 0;
    double magnitude = 0;
  };

  bool Try(const Change& change) {
    std::optional<Flip> flip = what_if_.Try(change);
    if (!flip) return false;
    found_.push_back({std::move(*flip), change.size, change.magnitude});
    return true;
  }
  bool TrySmallest(const std::vector<Change>& changes) {
    std::optional<Flip> flip = what_if_.TrySmallest(changes);
    if (!flip) return false;
    found_.push_back({std::move(*flip), changes.front().size, changes.front().magnitude});
    return true;
  }

  std::string OwnKey() const { return c_.JobKey(goal_.job); }
  std::string_view QueueKey() const { return c_.QueueName(job_.queue); }

  // ---- nothing but time

  // When something ends or begins by itself, and what.
  std::map<Timestamp, std::string> ComingChanges() const {
    std::map<Timestamp, std::string> instants;
    auto add = [&](Timestamp at, std::string what) {
      if (at > in_.now && ElapsedNs(in_.now, at) <= kLongestWaitNs)
        instants.try_emplace(at, std::move(what));
    };
    if (const std::optional<CooldownSettings> cdp = ReadCooldownSettings(in_.config)) {
      for (JobId id : c_.jobs_by_name) {
        const CycleMemory::JobEvictions* known =
            cdp->CountsEvictions() ? in_.memory.FindJobEvictions(c_.JobKey(id)) : nullptr;
        const std::vector<Timestamp>* times = known == nullptr ? nullptr : &known->times;
        const bool too_often = cdp->TooOften(cdp->CountNow(times, in_.now));
        for (TaskId t : c_.jobs[id].tasks) {
          const Task& task = c_.tasks[t];
          if (!IsPreemptableStatus(task.status)) continue;
          add(cdp->SparedUntil(c_, task, times, in_.now),
              too_often ? fmt::format("cdp.max-evictions no longer spares {}", c_.TaskKey(t))
                        : fmt::format("the cooldown of {} is over", c_.TaskKey(t)));
        }
      }
    }
    const TdmSettings tdm = ReadTdmSettings(in_.config, in_.zone);
    for (const TdmZone& zone : tdm.zones)
      if (const auto change = tdm.NextChange(zone, in_.now))
        add(*change,
            fmt::format("zone {} {}", zone.name, tdm.IsOpen(zone, *change) ? "opens" : "closes"));
    if (job_.waiting_time_ns > 0) {
      int64_t end = 0;
      if (job_.created.Present() &&
          !__builtin_add_overflow(job_.created.ns, job_.waiting_time_ns, &end))
        add(Timestamp{end}, fmt::format("{} has waited its sla-waiting-time", OwnKey()));
    }
    if (const auto timer = what_if_.next_timer()) add(*timer, "a timer of a plugin is due");
    return instants;
  }

  void Waits() {
    const std::map<Timestamp, std::string> instants = ComingChanges();
    if (instants.empty()) return;
    // Of many instants some, evenly spread, and always the last: the longer the wait, the more
    // cooldowns are over.
    const size_t step = (instants.size() + kMostWaits - 1) / kMostWaits;
    size_t left = instants.size();
    for (const auto& [at, what] : instants) {
      if (--left % step != 0) continue;
      const int64_t wait_ns = ElapsedNs(in_.now, at);
      if (Try({.kind = "wait",
               .text = fmt::format("wait {}, until {}: {}", FormatShortDuration(wait_ns),
                                   FormatRfc3339(at), what),
               .size = kWait,
               .magnitude = static_cast<double>(wait_ns),
               .apply = [at](CycleRun& run) { run.when.now = at; }})) {
        what_if_.ForgetInVain("wait");  // shorter ones
        return;
      }
    }
  }

  // ---- the job itself

  void OwnJob() {
    const JobId id = goal_.job;
    Priority();
    if (job_.min_available > 1 && job_.Ready() < job_.min_available) {
      std::vector<Change> changes;
      for (int32_t n = job_.min_available - 1; n >= 1; --n)
        changes.push_back(
            {.kind = "own-min-available",
             .text = fmt::format("minMember of {} from {} to {}", OwnKey(), job_.min_available, n),
             .size = kOwnJob,
             .magnitude = 1,
             .apply = [id, n](CycleRun& run) { run.cluster().jobs[id].min_available = n; }});
      TrySmallest(changes);
    }
    if (job_.needs_network_topology)
      Try({.kind = "network-topology",
           .text = fmt::format("mode: soft in {} of {}",
                               job_.has_sub_group_policy && !job_.has_network_topology
                                   ? "spec.subGroupPolicy"
                                   : "spec.networkTopology",
                               OwnKey()),
           .size = kOwnJob,
           .apply = [id](CycleRun& run) { run.cluster().jobs[id].needs_network_topology = false; },
           .caution = "its pods are then placed without regard to the topology"});
    OwnPods();
  }

  // What the job's waiting pods say.
  void OwnPods() {
    const JobId id = goal_.job;
    const auto any = [&](auto&& is) {
      return std::any_of(job_.tasks.begin(), job_.tasks.end(), [&](TaskId t) {
        return c_.tasks[t].status == TaskStatus::kPending && is(c_.tasks[t]);
      });
    };
    if (any([](const Task& t) { return t.preemption_policy == PreemptionPolicy::kNever; }))
      Try({.kind = "preemption-policy",
           .text =
               fmt::format("preemptionPolicy: PreemptLowerPriority on the pods of {}", OwnKey()),
           .size = kOwnJob,
           .apply = [id](CycleRun& run) {
             for (TaskId t : run.cluster().jobs[id].tasks)
               run.cluster().tasks[t].preemption_policy = PreemptionPolicy::kLowerPriority;
           }});
    if (any([](const Task& t) { return t.gated && !t.needs_claims; }))
      Try({.kind = "scheduling-gates",
           .text = fmt::format("no scheduling gates on the pods of {}", OwnKey()),
           .size = kOwnJob,
           .apply = [id](CycleRun& run) {
             for (TaskId t : run.cluster().jobs[id].tasks) {
               Task& task = run.cluster().tasks[t];
               if (!task.needs_claims) task.gated = task.only_queue_gate = false;
             }
           }});
    if (job_.preemptable || any([](const Task& t) { return t.says_preemptable; }))
      Try({.kind = "own-preemptable",
           .text = fmt::format("preemptable: false on {} and its pods", OwnKey()),
           .size = kOwnJob,
           .magnitude = 2,
           .apply = [id](CycleRun& run) {
             Job& job = run.cluster().jobs[id];
             job.preemptable = job.annotation_preemptable = false;
             for (TaskId t : job.tasks) {
               Task& task = run.cluster().tasks[t];
               task.preemptable = task.says_preemptable = false;
             }
           }});
    const bool has_zones = std::any_of(c_.nodes.begin(), c_.nodes.end(),
                                       [](const Node& n) { return n.zone != kEmptyStr; });
    if (has_zones && any([](const Task& t) { return !t.zones.all; }))
      Try({.kind = "zones",
           .text = fmt::format("annotation volcano.sh/revocable-zone: \"*\" on the pods of {}",
                               OwnKey()),
           .size = kOwnJob,
           .magnitude = 1,
           .apply = [id](CycleRun& run) { OpenZonesTo(run.cluster(), id); }});
  }

  // One above each job that runs, from the lowest.
  void Priority() {
    std::set<int32_t> above;
    for (JobId other : c_.jobs_by_name) {
      const int32_t priority = c_.jobs[other].priority;
      if (other != goal_.job && priority >= job_.priority && priority < INT32_MAX &&
          c_.jobs[other].queue == job_.queue)
        above.insert(priority + 1);
    }
    std::vector<Change> changes;
    for (int32_t priority : above)
      changes.push_back(
          {.kind = "priority",
           .text = fmt::format("priority of {} from {} to {}", OwnKey(), job_.priority, priority),
           .size = kOwnJob,
           .magnitude = 0,
           .apply = [id = goal_.job, priority](CycleRun& run) {
             SetJobPriority(run.cluster(), id, priority);
           }});
    TrySmallest(changes);
  }

  // ---- those it would take from

  struct SparedJobs {
    std::vector<JobId> gang;
    std::vector<JobId> budget;
    std::vector<JobId> pod_budget;
    std::vector<JobId> not_preemptable;
  };

  static void AddOnce(std::vector<JobId>& jobs, JobId job) {
    if (jobs.size() < kMostPerKind && std::find(jobs.begin(), jobs.end(), job) == jobs.end())
      jobs.push_back(job);
  }

  SparedJobs FindSpared() const {
    SparedJobs jobs;
    for (const RoomLook& search : clues_.searches) {
      std::vector<const NodeRoom*> rooms;
      for (const NodeRoom& room : search.nodes)
        if (room.stage > RoomStage::kRefused) rooms.push_back(&room);
      std::stable_sort(rooms.begin(), rooms.end(), [](const NodeRoom* l, const NodeRoom* r) {
        return l->missing_ratio < r->missing_ratio;
      });
      for (const NodeRoom* room : rooms) {
        for (const SparedPod& spared : room->spared) {
          const JobId job = c_.tasks[spared.pod].job;
          if (spared.plugin == "gang") AddOnce(jobs.gang, job);
          if (spared.plugin == "tdm") AddOnce(jobs.budget, job);
          if (spared.plugin == "pdb") AddOnce(jobs.pod_budget, job);
        }
        if (room->census.Count(Candidacy::kNotPreemptable) == 0) continue;
        for (TaskId task : c_.nodes[room->node].tasks) {
          const Task& t = c_.tasks[task];
          if (t.preemptable || !t.job.valid() || t.job == goal_.job) continue;
          const bool same_queue = c_.jobs[t.job].queue == job_.queue;
          if (same_queue == (search.action == EvictingAction::kPreempt))
            AddOnce(jobs.not_preemptable, t.job);
        }
      }
    }
    return jobs;
  }

  void Victims() {
    const SparedJobs spared = FindSpared();
    for (JobId id : spared.gang) {
      const Job& job = c_.jobs[id];
      std::vector<Change> changes;
      for (int32_t n = job.min_available - 1; n >= 0; --n)
        changes.push_back(
            {.kind = "min-available",
             .text =
                 fmt::format("minMember of {} from {} to {}", c_.JobKey(id), job.min_available, n),
             .size = kVictims,
             .magnitude = static_cast<double>(job.priority),
             .apply = [id, n](CycleRun& run) { run.cluster().jobs[id].min_available = n; },
             .caution = fmt::format("{} then counts as running with fewer pods", c_.JobKey(id))});
      TrySmallest(changes);
    }
    for (JobId id : spared.not_preemptable)
      Try({.kind = "preemptable",
           .text = fmt::format("preemptable: true on the pods of {}", c_.JobKey(id)),
           .size = kVictims,
           .magnitude = static_cast<double>(c_.jobs[id].priority),
           .apply =
               [id](CycleRun& run) {
                 for (TaskId t : run.cluster().jobs[id].tasks)
                   run.cluster().tasks[t].preemptable = run.cluster().tasks[t].says_preemptable =
                       true;
               },
           .caution = fmt::format("{} says that it is not to be disturbed", c_.JobKey(id))});
    for (JobId id : spared.budget) JobBudget(id);
    PodBudgets(spared.pod_budget);
  }

  void JobBudget(JobId id) {
    const Job& job = c_.jobs[id];
    const bool max_wins = in_.config.compatibility.budget_precedence;
    std::string before = DescribeBudget(job.budget, max_wins);
    if (before.empty()) before = "none";
    const int64_t most = static_cast<int64_t>(job.tasks.size());
    std::vector<Change> changes;
    for (int64_t n = 1; n <= most; ++n)
      changes.push_back(
          {.kind = "budget",
           .text = fmt::format("budget of {}: maxUnavailable {} instead of {}", c_.JobKey(id), n,
                               before),
           .size = kVictims,
           .magnitude = static_cast<double>(job.priority),
           .apply =
               [id, n](CycleRun& run) {
                 run.cluster().jobs[id].budget = {.min_available = "",
                                                  .max_unavailable = std::to_string(n)};
               },
           .caution = fmt::format("more pods of {} may then be down at once", c_.JobKey(id))});
    TrySmallest(changes);
  }

  // PodDisruptionBudgets in the namespaces of those jobs.
  void PodBudgets(const std::vector<JobId>& jobs) {
    std::set<StrId> namespaces;
    for (JobId id : jobs) namespaces.insert(c_.jobs[id].ns);
    size_t tried = 0;
    for (size_t b = 0; b < c_.budgets.size(); ++b) {
      const PodDisruptionBudget& budget = c_.budgets[b];
      if (!namespaces.contains(budget.ns) || ++tried > kMostPerKind) continue;
      std::vector<Change> changes;
      for (int32_t more = 1; more <= 16; more *= 2)
        changes.push_back(
            {.kind = "budget",
             .text = fmt::format("PodDisruptionBudget {}/{} allows {} disruption(s) instead of {}",
                                 c_.Text(budget.ns), c_.Text(budget.name),
                                 budget.disruptions_allowed + more, budget.disruptions_allowed),
             .size = kVictims,
             .apply =
                 [b, more](CycleRun& run) { run.cluster().budgets[b].disruptions_allowed += more; },
             .caution = "more of the pods it selects may then be down at once"});
      TrySmallest(changes);
    }
  }

  // ---- queues

  void Queues() {
    const QueueId id = job_.queue;
    const Queue& queue = c_.queues[id];
    if (queue.state != QueueState::kOpen)
      Try({.kind = "queue-state",
           .text = fmt::format("queue {} Open instead of {}", QueueKey(), ToString(queue.state)),
           .size = kQueues,
           .apply = [id](CycleRun& run) { run.cluster().queues[id].state = QueueState::kOpen; }});
    if (FindPlugin(in_.config, "proportion") != nullptr) Weight();
    if (queue.capability) Capability();
    if (in_.config.HasAction("reclaim")) {
      size_t tried = 0;
      for (QueueId other : c_.queues_by_name) {
        if (other == id || c_.queues[other].reclaimable || ++tried > kMostPerKind) continue;
        Try({.kind = "reclaimable",
             .text = fmt::format("queue {} reclaimable: true", c_.QueueName(other)),
             .size = kQueues,
             .magnitude = 1,
             .apply = [other](CycleRun& run) { run.cluster().queues[other].reclaimable = true; }});
      }
    }
  }

  void Weight() {
    const QueueId id = job_.queue;
    const int32_t weight = c_.queues[id].weight;
    int32_t heaviest = weight;
    size_t others = 0;
    for (JobId job : c_.jobs_by_name) {
      if (c_.jobs[job].queue == id) continue;
      ++others;
      heaviest = std::max(heaviest, c_.queues[c_.jobs[job].queue].weight);
    }
    if (others == 0) return;  // alone, any weight is all of it
    std::vector<Change> changes;
    const int32_t most = std::min<int32_t>(heaviest, 1 << 20) * 16;
    for (int32_t w = weight + 1; w <= most; w += std::max(1, w / 4))
      changes.push_back(
          {.kind = "queue-weight",
           .text = fmt::format("weight of queue {} from {} to {}", QueueKey(), weight, w),
           .size = kQueues,
           .apply = [id, w](CycleRun& run) { run.cluster().queues[id].weight = w; }});
    TrySmallest(changes);
  }

  // What the queue would hold with one, two, … of the waiting pods, with the job's minimum beside
  // what is kept for others, and with all that is asked for; each including those before it.
  std::vector<Resource> CapabilitySteps() const {
    const EnqueueAccount account = EnqueueAccountOf(c_, job_.queue);
    std::vector<Resource> steps;
    Resource held = account.allocated;
    for (TaskId task : job_.tasks)
      if (c_.tasks[task].status == TaskStatus::kPending)
        steps.push_back(held.Add(c_.Request(task)));
    Resource asked = job_.tasks.empty() ? MinResources(job_) : held.Sub(account.allocated);
    if (job_.min_resources) {
      Resource let_in = account.allocated;
      steps.push_back(let_in.Add(account.kept).Sub(account.above_minimum).Add(*job_.min_resources));
    }
    steps.push_back(asked.Add(account.kept).Add(*c_.queues[job_.queue].capability));
    std::stable_sort(steps.begin(), steps.end(), [&](const Resource& l, const Resource& r) {
      return DominantShare(l, c_.total) < DominantShare(r, c_.total);
    });
    for (size_t i = 1; i < steps.size(); ++i) steps[i].SetMax(steps[i - 1]);
    return steps;
  }

  // Raised in the kinds that it limits, as little as will do; else lifted altogether.
  void Capability() {
    const QueueId id = job_.queue;
    const Resource before = *c_.queues[id].capability;
    std::vector<Change> changes;
    for (const Resource& step : CapabilitySteps()) {
      Resource raised = before;
      for (int kind = 0; kind < c_.kinds.size(); ++kind)
        if (before.Get(kind) > 0) raised.Set(kind, std::max(before.Get(kind), step.Get(kind)));
      if (raised.SameAs(before)) continue;
      changes.push_back(
          {.kind = "queue-capability",
           .text =
               fmt::format("capability of queue {} from {} to {}", QueueKey(),
                           NamedAmountsText(before, c_.kinds), NamedAmountsText(raised, c_.kinds)),
           .size = kQueues,
           .apply = [id, raised](CycleRun& run) { run.cluster().queues[id].capability = raised; }});
    }
    if (TrySmallest(changes)) return;
    Try({.kind = "queue-capability",
         .text = fmt::format("no capability on queue {}", QueueKey()),
         .size = kQueues,
         .magnitude = 1,
         .apply = [id](CycleRun& run) { run.cluster().queues[id].capability.reset(); }});
  }

  // ---- the scheduler's configuration

  void Configuration() {
    for (const char* action : {"enqueue", "allocate", "preempt", "reclaim", "backfill"}) {
      if (in_.config.HasAction(action)) continue;
      Try({.kind = "action",
           .text = fmt::format("action {} added", action),
           .size = kConfiguration,
           .apply = [action](CycleRun& run) { AddAction(run.config, action); }});
    }
    std::set<std::pair<std::string, Switch>> switches;
    std::set<std::string> plugins;
    for (const RoomLook& search : clues_.searches) {
      for (const PluginTally& tally : search.tallies) {
        if (tally.let_go == tally.asked) continue;
        switches.emplace(tally.plugin, search.action == EvictingAction::kPreempt
                                           ? Switch::kPreemptable
                                           : Switch::kReclaimable);
        plugins.insert(tally.plugin);
      }
    }
    for (const auto& clue : clues_.said_no) switches.insert(clue);
    // What the cluster itself lives on is not put up for discussion.
    auto is_sacred = [](const std::string& plugin) { return plugin == "conformance"; };
    for (const auto& [plugin, s] : switches) {
      if (is_sacred(plugin)) continue;
      Try({.kind = "switch",
           .text = fmt::format("{}: false for plugin {}", SwitchName(s), plugin),
           .size = kConfiguration,
           .magnitude = 2,
           .apply =
               [plugin, s](CycleRun& run) {
                 for (Tier& tier : run.config.tiers)
                   for (PluginOption& option : tier.plugins)
                     if (option.name == plugin) option.enabled.reset(static_cast<size_t>(s));
               },
           .caution = std::string(WithoutTheVoteOf(plugin))});
    }
    for (const std::string& plugin : plugins) {
      if (is_sacred(plugin)) continue;
      for (const bool first : {false, true})
        if (Try({.kind = "tier",
                 .text = fmt::format("plugin {} in a tier of its own, {}", plugin,
                                     first ? "before all others" : "after all others"),
                 .size = kConfiguration,
                 .magnitude = 1,
                 .apply = [plugin,
                           first](CycleRun& run) { MoveToOwnTier(run.config, plugin, first); },
                 .caution = std::string(WithoutTheVoteOf(plugin))}))
          break;
    }
  }

  // ---- one more node

  void Nodes() {
    // One of each shape, those that do not refuse the pod first.
    std::vector<NodeId> order;
    for (const RoomLook& search : clues_.searches)
      for (const NodeRoom& room : search.nodes)
        if (room.stage > RoomStage::kRefused) order.push_back(room.node);
    order.insert(order.end(), c_.nodes_by_name.begin(), c_.nodes_by_name.end());
    std::vector<NodeId> shapes;
    for (NodeId node : order) {
      if (shapes.size() >= kMostShapes) break;
      if (std::none_of(shapes.begin(), shapes.end(),
                       [&](NodeId shape) { return AreAlike(c_, shape, node); }))
        shapes.push_back(node);
    }
    for (NodeId shape : shapes)
      Try({.kind = "node",
           .text = fmt::format("one more node like {} ({})", c_.NodeName(shape),
                               NamedAmountsText(c_.allocatable[shape], c_.kinds)),
           .size = kNodes,
           .magnitude = c_.allocatable[shape].cpu(),
           .apply = [shape](CycleRun& run) { AddNodeLike(run.cluster(), shape); }});
  }

  const CycleInputs& in_;
  const Cluster& c_;
  Goal goal_;
  const Job& job_;
  const FlipClues& clues_;
  WhatIf what_if_;
  std::vector<Found> found_;
};

}  // namespace

FlipSearch SearchFlips(const CycleInputs& inputs, Goal goal, const FlipClues& clues) {
  return Searcher(inputs, goal, clues).Run();
}

}  // namespace krafla
