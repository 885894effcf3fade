#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "session/action.h"
#include "session/node_search.h"
#include "session/step_timer.h"
#include "session/unsupported.h"

namespace krafla {

Session::Session(Cluster& cluster_in, const SchedulerConfig& config_in,
                 const SessionOptions& options, Log& log_in)
    : cluster(cluster_in),
      config(config_in),
      compat(config_in.compatibility),
      now(options.now),
      zone(options.zone),
      memory(options.memory != nullptr ? *options.memory : own_memory_),
      log(log_in),
      kube(cluster_in),
      queue_reports(cluster_in.queues.size()),
      on_step(options.on_step) {
  StepTimer timer(*this, "open");
  if (options.for_good) undo.ForgetWhatIsDone();
  eviction_limit.Begin(config.eviction_limits, memory);
  kept_.visits_all_jobs = options.visits_all_jobs;
  node_search_ = std::make_unique<NodeSearch>(
      *this, options.for_good ? NodeSearchLimits::OfOneCycle() : NodeSearchLimits{});
  OpenPlugins(options);
  if (log.V(3))
    log.Line("Open Session with <{}> Job and <{}> Queues.", cluster.jobs_by_name.size(),
             cluster.queues_by_name.size());
}

Session::~Session() = default;

template <class Fn>
void Session::Collect(Tiered<Fn>& tiered, Fn PluginHooks::* member, std::optional<Switch> needs) {
  tiered.resize(config.tiers.size());
  for (size_t t = 0; t < config.tiers.size(); ++t) {
    tiered[t].clear();
    for (const PluginOption& option : config.tiers[t].plugins) {
      if (needs && !option.Enabled(*needs)) continue;
      auto it = std::find(plugin_names_.begin(), plugin_names_.end(), option.name);
      if (it == plugin_names_.end()) continue;
      const size_t index = static_cast<size_t>(it - plugin_names_.begin());
      const Fn& hook = plugins_[index].hooks.*member;
      if (hook) tiered[t].push_back({static_cast<uint8_t>(index), &hook});
    }
  }
}

namespace {

std::unique_ptr<Plugin> MakeRegisteredPlugin(std::string_view name) {
  for (const PluginEntry& entry : RegisteredPlugins())
    if (entry.name == name) return entry.make();
  return nullptr;
}

// predicate and score are optional structs, everything else a function; both collect the same way.
template <class Hook>
void CollectOptional(const SchedulerConfig& config, const std::vector<std::string>& names,
                     const std::function<const std::optional<Hook>&(size_t)>& hook_of, Switch needs,
                     Tiered<Hook>& tiered) {
  tiered.resize(config.tiers.size());
  for (size_t t = 0; t < config.tiers.size(); ++t) {
    tiered[t].clear();
    for (const PluginOption& option : config.tiers[t].plugins) {
      if (!option.Enabled(needs)) continue;
      auto it = std::find(names.begin(), names.end(), option.name);
      if (it == names.end()) continue;
      const size_t index = static_cast<size_t>(it - names.begin());
      const std::optional<Hook>& hook = hook_of(index);
      if (hook) tiered[t].push_back({static_cast<uint8_t>(index), &*hook});
    }
  }
}

}  // namespace

void Session::OpenPlugins(const SessionOptions& session_options) {
  make_plugin_ = session_options.make_plugin ? session_options.make_plugin : MakeRegisteredPlugin;
  // A plugin named twice is one plugin with the arguments it was given last, asked at both places.
  for (const Tier& tier : config.tiers) {
    for (const PluginOption& option : tier.plugins) {
      auto it = std::find(plugin_names_.begin(), plugin_names_.end(), option.name);
      if (it != plugin_names_.end()) {
        plugin_options_[static_cast<size_t>(it - plugin_names_.begin())] = &option;
        continue;
      }
      std::unique_ptr<Plugin> plugin = make_plugin_(option.name);
      if (plugin == nullptr) continue;  // the configuration's reader has reported it
      plugin_names_.push_back(option.name);
      plugin_options_.push_back(&option);
      plugins_.push_back({std::move(plugin), {}});
    }
  }
  KRAFLA_CHECK(plugins_.size() <= 64, "one bit per plugin");
  plugin_times.resize(plugins_.size());
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const double begin = ClockMs(CLOCK_MONOTONIC);
    OpenOne(i);
    plugin_times[i].open_ms = ClockMs(CLOCK_MONOTONIC) - begin;
    if (session_options.wrap_hooks) session_options.wrap_hooks(plugin_names_[i], plugins_[i].hooks);
  }
  CollectHooks();
}

void Session::OpenOne(size_t index) {
  plugins_[index].plugin->Open(*this, *plugin_options_[index], plugins_[index].hooks);
}

void Session::CollectHooks() {
  using H = PluginHooks;
  Collect(job_order_, &H::job_order, Switch::kJobOrder);
  Collect(queue_order_, &H::queue_order, Switch::kQueueOrder);
  Collect(victim_queue_order_, &H::victim_queue_order, std::nullopt);
  Collect(task_order_, &H::task_order, Switch::kTaskOrder);
  Collect(sub_job_order_, &H::sub_job_order, Switch::kSubJobOrder);
  Collect(job_valid_, &H::job_valid, std::nullopt);
  Collect(job_ready_, &H::job_ready, Switch::kJobReady);
  Collect(job_pipelined_, &H::job_pipelined, Switch::kJobPipelined);
  Collect(job_starving_, &H::job_starving, Switch::kJobStarving);
  Collect(job_enqueueable_, &H::job_enqueueable, Switch::kJobEnqueued);
  Collect(job_enqueued_, &H::job_enqueued, Switch::kJobEnqueued);
  Collect(best_node_, &H::best_node, Switch::kBestNode);
  Collect(preemptable_, &H::preemptable, Switch::kPreemptable);
  Collect(reclaimable_, &H::reclaimable, Switch::kReclaimable);
  Collect(unified_evictable_, &H::unified_evictable, std::nullopt);
  Collect(victim_tasks_, &H::victim_tasks, Switch::kVictim);
  Collect(spare_victims_, &H::spare_victims, Switch::kVictim);
  Collect(overused_, &H::overused, Switch::kOverused);
  Collect(preemptive_, &H::preemptive, Switch::kPreemptive);
  Collect(allocatable_, &H::allocatable, Switch::kAllocatable);
  Collect(allocatable_without_, &H::allocatable_without, Switch::kAllocatable);
  Collect(simulate_allocatable_, &H::simulate_allocatable, Switch::kAllocatable);
  Collect(simulate_predicate_, &H::simulate_predicate, Switch::kPredicate);
  // A dry run moves tasks for a plugin that is asked about victims or about allocation.
  Collect(simulate_remove_, &H::simulate_remove, std::nullopt);
  Collect(simulate_add_, &H::simulate_add, std::nullopt);
  auto neither = [&](auto& tiered) {
    for (size_t t = 0; t < tiered.size(); ++t) {
      std::erase_if(tiered[t], [&](const auto& entry) {
        for (const PluginOption& option : config.tiers[t].plugins)
          if (option.name == plugin_names_[entry.plugin])
            return !option.Enabled(Switch::kPreemptable) && !option.Enabled(Switch::kAllocatable);
        return false;
      });
    }
  };
  neither(simulate_remove_);
  neither(simulate_add_);
  CollectOptional<PredicateHook>(
      config, plugin_names_,
      [&](size_t i) -> const std::optional<PredicateHook>& { return plugins_[i].hooks.predicate; },
      Switch::kPredicate, predicates_);
  CollectOptional<ScoreHook>(
      config, plugin_names_,
      [&](size_t i) -> const std::optional<ScoreHook>& { return plugins_[i].hooks.score; },
      Switch::kNodeOrder, scores_);
  voting_.guards = voting_.counting_guards = 0;
  on_allocate_.clear();
  on_deallocate_.clear();
  on_rollback_.clear();
  on_eviction_undone_.clear();
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const PluginHooks& hooks = plugins_[i].hooks;
    const uint64_t bit = uint64_t{1} << i;
    if (hooks.is_guard) voting_.guards |= bit;
    if (hooks.is_guard && hooks.guard_counts) voting_.counting_guards |= bit;
    if (hooks.on_allocate) on_allocate_.push_back(&hooks.on_allocate);
    if (hooks.on_deallocate) on_deallocate_.push_back(&hooks.on_deallocate);
    if (hooks.on_rollback) on_rollback_.push_back(&hooks.on_rollback);
    if (hooks.on_eviction_undone) on_eviction_undone_.push_back(&hooks.on_eviction_undone);
  }
  FindWhatVotesDependOn();
  FindBoundsOnVotes();
}

void Session::FindBoundsOnVotes() {
  share_missing_.emplace();
  for (const auto& tier : allocatable_)
    for (const auto& entry : tier)
      share_missing_->push_back(&plugins_[entry.plugin].hooks.share_missing);
  if (std::any_of(share_missing_->begin(), share_missing_->end(),
                  [](const auto* say) { return !*say; }))
    share_missing_.reset();

  for (const Asking asking : {Asking::kPreempt, Asking::kReclaim}) {
    const bool preempts = asking == Asking::kPreempt;
    std::vector<VotingTier>& tiers = voting_tiers_[static_cast<size_t>(asking)];
    tiers.clear();
    // A guard takes off the list of every tier, one that counts even at the end: only where all of
    // them vote is known whom they leave.
    bool guards_are_bounded = true;
    size_t guards = 0;
    std::vector<size_t> guards_of;  // by tier
    for (const auto& tier : preempts ? preemptable_ : reclaimable_) {
      VotingTier& voting = tiers.emplace_back();
      voting.decides = true;
      voting.offers_all = !compat.guards || voting_.guards == 0;
      guards_of.push_back(0);
      for (const auto& entry : tier) {
        const PluginHooks& hooks = plugins_[entry.plugin].hooks;
        const auto& levels = preempts ? hooks.preempt_levels : hooks.reclaim_levels;
        voting.voters.push_back(levels ? &*levels : nullptr);
        // Who is named by exact levels is not known for sure from a bound.
        const bool names_first = levels && levels->names_first && !levels->exact_level;
        voting.decides &= names_first;
        voting.offers_all &= !hooks.counts_victims || tier.size() == 1;
        if (!compat.guards || !hooks.is_guard) continue;
        guards_are_bounded &= names_first && !hooks.guard_counts;
        ++guards_of.back();
        ++guards;
      }
    }
    for (size_t t = 0; t < tiers.size(); ++t)
      tiers[t].decides &= guards_are_bounded && guards_of[t] == guards;
  }
}

void Session::FindWhatVotesDependOn() {
  auto asked = [](const auto& tiered) {
    std::vector<uint8_t> plugins;
    for (const auto& tier : tiered)
      for (const auto& entry : tier) plugins.push_back(entry.plugin);
    return plugins;
  };
  all_know_allocatable_without_ = asked(allocatable_) == asked(allocatable_without_);
  for (const Asking asking : {Asking::kPreempt, Asking::kReclaim}) {
    std::vector<uint8_t> plugins = asked(asking == Asking::kPreempt ? preemptable_ : reclaimable_);
    const std::vector<uint8_t> share = asked(allocatable_);
    plugins.insert(plugins.end(), share.begin(), share.end());
    std::sort(plugins.begin(), plugins.end());
    plugins.erase(std::unique(plugins.begin(), plugins.end()), plugins.end());
    auto& known = vote_dependencies_[static_cast<size_t>(asking)].emplace();
    for (const uint8_t plugin : plugins) known.push_back(&plugins_[plugin].hooks.vote_depends_on);
    if (std::any_of(known.begin(), known.end(), [](const auto* say) { return !*say; }))
      vote_dependencies_[static_cast<size_t>(asking)].reset();
  }
}

Plugin* Session::FindPlugin(std::string_view name) {
  for (size_t i = 0; i < plugins_.size(); ++i)
    if (plugin_names_[i] == name) return plugins_[i].plugin.get();
  return nullptr;
}

std::optional<Timestamp> Session::NextTimer() const {
  std::optional<Timestamp> next;
  for (const OpenPlugin& open : plugins_) {
    if (!open.hooks.next_timer) continue;
    const std::optional<Timestamp> at = open.hooks.next_timer();
    if (at && *at > now && (!next || *at < *next)) next = at;
  }
  return next;
}

void Session::RunActions() {
  ExecuteActions();
  Close();
}

void Session::ExecuteActions() {
  for (size_t i = 0; i < config.actions.size(); ++i) {
    const ActionOption& option = config.actions[i];
    const auto entries = RegisteredActions();
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const ActionEntry& e) { return e.name == option.name; });
    if (entry == entries.end()) continue;  // reported by the configuration's reader
    current_action_ = entry->name;
    trace.Add({TraceKind::kAction, 0, 0, static_cast<uint32_t>(i)});
    {
      StepTimer timer(*this, option.name);
      entry->make()->Run(*this);
    }
#ifdef KRAFLA_VERIFY
    VerifyInvariants();
#endif
  }
  current_action_ = {};
}

void Session::Close() {
  StepTimer timer(*this, "close");
  said_unschedulable_.assign(cluster.jobs.size(), false);
  if (kept_.notes_phases)
    for (const JobId job : JobsToClose())
      for (JobCondition& condition : cluster.jobs[job].conditions)
        condition.from_this_session = false;
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const double begin = ClockMs(CLOCK_MONOTONIC);
    plugins_[i].plugin->Close(*this);
    plugin_times[i].close_ms = ClockMs(CLOCK_MONOTONIC) - begin;
  }
  UpdateJobPhases();
}

namespace {

// The phase a PodGroup has after this cycle, from what its tasks do. `unschedulable`: the cycle has
// said so of it.
JobPhase PhaseAfter(const Job& job, bool unschedulable) {
  if (job.Count(TaskStatus::kRunning) != 0 && unschedulable) return JobPhase::kUnknown;
  const int32_t completed = job.Count(TaskStatus::kFailed) + job.Count(TaskStatus::kSucceeded);
  // Terminating pods still hold their places: the group does not fall back while they end.
  const int32_t scheduled = job.ScheduledCount() + job.releasing_on_node;
  if (scheduled >= job.min_available)
    return scheduled == completed ? JobPhase::kCompleted : JobPhase::kRunning;
  return job.phase == JobPhase::kInqueue ? JobPhase::kInqueue : JobPhase::kPending;
}

}  // namespace

void Session::UpdateJobPhases() {
  kept_.phase_changes.clear();
  const std::vector<JobId>& jobs = JobsToClose();
  said_unschedulable_.resize(cluster.jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = cluster.jobs[jobs[i]];
    job.phase = PhaseAfter(job, said_unschedulable_[jobs[i].value]);
    if (kept_.notes_phases && job.phase != kept_.phase_before[i])
      kept_.phase_changes.push_back({jobs[i], kept_.phase_before[i], job.phase});
  }
  std::sort(kept_.phase_changes.begin(), kept_.phase_changes.end(),
            [&](const auto& l, const auto& r) { return cluster.JobNameLess(l.job, r.job); });
}

void Session::SetCondition(JobId job, std::string_view type, std::string_view reason,
                           std::string_view message) {
  auto& conditions = cluster.jobs[job].conditions;
  auto slot = std::find_if(conditions.begin(), conditions.end(),
                           [&](const JobCondition& condition) { return condition.type == type; });
  if (slot == conditions.end()) {
    slot = conditions.insert(slot, JobCondition());
    slot->type = type;
  }
  slot->status = "True";
  slot->reason = reason;
  slot->message = message;
  slot->from_this_session = true;
  said_unschedulable_.resize(cluster.jobs.size());
  if (type == "Unschedulable") said_unschedulable_[job.value] = true;
}

void Session::NoteEnqueueRefusal(JobId job, std::string reason) {
  enqueue_refusals_.insert_or_assign(job, std::move(reason));
}

const std::string* Session::EnqueueRefusal(JobId job) const {
  auto it = enqueue_refusals_.find(job);
  return it == enqueue_refusals_.end() ? nullptr : &it->second;
}

std::string Session::WaitingReason(JobId id) const {
  const Job& job = cluster.jobs[id];
  std::vector<std::string> parts;
  for (size_t s = 0; s < kTaskStatusCount; ++s)
    if (job.count[s] != 0)
      parts.push_back(fmt::format("{} {}", job.count[s], ToString(static_cast<TaskStatus>(s))));
  parts.push_back(fmt::format("{} minAvailable", job.min_available));
  std::sort(parts.begin(), parts.end());
  std::string text = fmt::format("pod group is {}, {}", job.IsReady() ? "ready" : "not ready",
                                 fmt::join(parts, ", "));
  if (const std::string* refusal = EnqueueRefusal(id)) return text + "; " + *refusal;
  if (job.needs_network_topology) return fmt::format("{}; it {}", text, kNeedsTopology);
  if (const std::string claims = PodsThatNeedClaims(cluster, job); !claims.empty())
    return text + "; " + claims;
  if (const std::string held = eviction_limit.WhyHeldBack(id); !held.empty())
    return text + "; " + held;
  for (TaskId task : job.tasks) {
    if (const FitError* error = fit_errors.Find(task)) {
      text += fmt::format("; {}: {}", cluster.Text(cluster.tasks[task].name),
                          FitErrors::Text(*error, reasons));
      break;
    }
  }
  return text;
}

}  // namespace krafla
