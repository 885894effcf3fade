// One scheduling cycle on a cluster: the plugins' hooks sorted by tier, the rules that combine
// their answers, the primitive changes every statement is made of, and what came out.
//
// Owned by whoever runs the cycle; one thread. Plugins and actions see the world through it alone.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/undo_log.h"
#include "config/scheduler_config.h"
#include "model/cluster.h"
#include "model/cluster_changes.h"
#include "model/zone_window.h"
#include "session/change_list.h"
#include "session/cycle_memory.h"
#include "session/eviction_limit.h"
#include "session/fit_errors.h"
#include "session/hooks.h"
#include "session/job_index.h"
#include "session/kube_view.h"
#include "session/log.h"
#include "session/plan.h"
#include "session/plugin.h"
#include "session/queue_report.h"
#include "session/reopen_state.h"
#include "session/step_times.h"
#include "session/surplus_wait.h"
#include "session/tiered.h"
#include "session/trace.h"
#include "session/victims.h"

namespace krafla {

class NodeSearch;

struct SessionOptions {
  Timestamp now;
  TimeZone zone;                  // for windows when the configuration names none
  CycleMemory* memory = nullptr;  // null: nothing is remembered
  // Nobody will take the whole cycle back: what no statement can take back any more is not kept.
  bool for_good = false;
  bool visits_all_jobs = false;  // also where nothing is to do: to compare with
  // Makes a plugin by its name, null when there is none. Empty: those that are built in.
  std::function<std::unique_ptr<Plugin>(std::string_view name)> make_plugin = {};
  std::function<void(std::string_view step)> on_step = {};  // "open", an action, "close" begins
  // Called when a plugin has filled in its hooks: may wrap them to listen. Empty: nobody listens.
  std::function<void(std::string_view plugin, PluginHooks& hooks)> wrap_hooks = {};
};

class Session {
 public:
  Session(Cluster& cluster, const SchedulerConfig& config, const SessionOptions& options, Log& log);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // ExecuteActions, then Close.
  void RunActions();
  void ExecuteActions();
  void Close();            // lets the plugins close, then UpdateJobPhases
  void UpdateJobPhases();  // sets each job's phase from what its tasks do

  // ---- one session for many cycles (session_reopen.cpp): what was computed is kept and follows
  // the changes, so that a cycle costs what has changed and not what is there.
  // After construction, before the first action: jobs' phases are compared with what they are now.
  void NotePhases();
  // The cycle is over: everything it did to the cluster, phases and conditions aside, is taken
  // back.
  void Rewind();
  // The next cycle, after Rewind: false when too much has come together and a new session is due.
  bool Reopen(Timestamp at, const ClusterChanges& changes);
  // After Close: the jobs whose phase has changed, by name.
  const std::vector<JobPhaseChange>& phase_changes() const { return kept_.phase_changes; }

  // The jobs an action has to look at, by name (job_index.h). Good until the next call.
  const std::vector<JobId>& JobsToVisit();
  // The jobs whose conditions and phase may be other than they were, in no particular order.
  const std::vector<JobId>& JobsToClose();
  // Nodes of revocable zones, by name.
  const std::vector<NodeId>& ZoneNodes();
  // The earliest instant after `now` at which a cycle could decide differently without a change.
  std::optional<Timestamp> NextTimer() const;

  Cluster& cluster;
  const SchedulerConfig& config;
  const Compatibility& compat;
  Timestamp now;  // the same throughout a cycle
  const TimeZone zone;
  CycleMemory& memory;
  Log& log;
  UndoLog undo;
  Trace trace;
  Plan plan;
  ReasonTable reasons;
  FitErrors fit_errors;
  EvictionLimit eviction_limit;
  SurplusWait surplus_wait;
  KubeView kube;
  Table<QueueId, QueueReport> queue_reports;

  const std::function<void(std::string_view step)> on_step;  // see SessionOptions
  // Filled as the steps end.
  std::vector<StepTime> step_times;
  std::vector<PluginTime> plugin_times;  // as in plugin_names()

  const std::vector<std::string>& plugin_names() const { return plugin_names_; }
  Plugin* FindPlugin(std::string_view name);
  NodeSearch& node_search() { return *node_search_; }
  std::string_view current_action() const { return current_action_; }

  // ---- orders: first plugin with an opinion, in tier order; then creation time, then UID
  int CompareJobs(JobId l, JobId r) const;  // plugins only
  bool JobLess(JobId l, JobId r) const;
  bool QueueLess(QueueId l, QueueId r) const;
  bool VictimQueueLess(QueueId l, QueueId r, QueueId preemptor) const;
  bool TaskLess(TaskId l, TaskId r) const;
  int CompareSubJobs(JobId l, JobId r) const;

  // ---- all must say yes
  std::optional<InvalidJob> JobInvalid(JobId job) const;
  bool JobReady(JobId job) const;
  bool Allocatable(QueueId queue, TaskId task) const;
  bool Preemptive(QueueId queue, TaskId task) const;
  bool SimulateAllocatable(QueueId queue, TaskId task) const;
  Refusal SimulatePredicate(TaskId task, NodeId node) const;
  // Allocatable if `gone` were evicted; nothing when a plugin cannot tell without trying.
  std::optional<bool> AllocatableWithout(QueueId queue, TaskId task,
                                         std::span<const TaskId> gone) const;
  // What would have to be evicted from the queue, at least, before Allocatable may say yes; nothing
  // when a plugin cannot tell.
  std::optional<Resource> ShareMissing(QueueId queue, TaskId task) const;
  // ---- any yes
  bool Overused(QueueId queue) const;
  // ---- vote per tier
  bool JobPipelined(JobId job) const;
  bool JobEnqueueable(JobId job) const;
  bool JobStarving(JobId job) const;
  // ---- all run
  void JobEnqueued(JobId job) const;
  void SimulateRemove(TaskId to_schedule, TaskId removed) const;
  void SimulateAdd(TaskId to_schedule, TaskId added) const;
  // ---- victims per tier
  Victims Preemptable(TaskId preemptor, std::span<const TaskId> candidates);
  Victims Reclaimable(TaskId reclaimer, std::span<const TaskId> candidates);
  Victims UnifiedEvictable(const EvictionContext& context, std::span<const TaskId> candidates);
  // Appends what those votes, and Allocatable, depend on beyond the candidates, their jobs and
  // their node. False when a plugin does not say.
  bool VotesDependOn(Asking asking, TaskId for_task, std::vector<uint64_t>& words) const;
  // Those who vote in Preemptable or Reclaimable, by tier.
  const std::vector<VotingTier>& voting_tiers(Asking asking) const {
    return voting_tiers_[static_cast<size_t>(asking)];
  }
  // Tasks to evict for nobody: nominated, then filtered by the guards.
  Victims VictimTasks();
  // ---- first that names one
  bool HasBestNode() const;
  NodeId BestNode(TaskId task, std::span<const NodeId> nodes, std::span<const double> scores) const;

  const Tiered<PredicateHook>& predicates() const { return predicates_; }
  const Tiered<ScoreHook>& scores() const { return scores_; }

  // An order of victims for a GoHeap: by task within a job, by reversed job order, by queue.
  bool VictimLess(TaskId l, TaskId r, TaskId preemptor) const;

  // ---- primitive changes: logged, events sent. Statements are made of these; nobody else calls
  // them.
  void Place(TaskId task, NodeId node, TaskStatus status);  // Pending -> Allocated or Pipelined
  void Unplace(TaskId task);                                // back to Pending
  void MarkReleasing(TaskId task);                          // Bound, Running -> Releasing
  void UnmarkReleasing(TaskId task, TaskStatus before);     // and back
  void SetStatus(TaskId task, TaskStatus status);           // counts and sums of its job only
  // For plugins that are told of a task that loses its place: what it was until then.
  TaskStatus status_before_event() const { return status_before_event_; }
  struct Mark {  // a point to come back to
    UndoLog::Mark log;
    size_t node_changes;
    size_t task_changes;
  };
  Mark MarkNow() const { return {undo.Now(), node_changes_.size(), task_changes_.size()}; }
  void Rollback(Mark mark);
  // After a rollback: it took back the eviction of this task.
  void NoteEvictionUndone(TaskId task);
  // What evicting these tasks and taking it all back would leave behind, without doing it.
  void NoteTriedInVain(std::span<const TaskId> victims);
  // Whether the plugin, and guards at most, names victims of preemption in some tier alone.
  bool NamesVictimsAlone(std::string_view plugin) const;
  // Whether such a try would leave anything behind.
  bool TriedInVainMatters(TaskId victim) const;

  // Every change of a node's pods or amounts, also those a rollback makes, in order: what has been
  // computed from a node stays good until the node appears here again.
  // A rollback takes back the changes nobody has looked at.
  const NodeChanges& node_changes() const { return node_changes_.Look(); }
  const TaskChanges& task_changes() const { return task_changes_.Look(); }

  // ---- job conditions, by type: true from this session on
  void SetCondition(JobId job, std::string_view type, std::string_view reason,
                    std::string_view message);
  // Why a plugin did not let the job in; kept for whoever asks why it is pending.
  void NoteEnqueueRefusal(JobId job, std::string reason);
  const std::string* EnqueueRefusal(JobId job) const;
  // How a waiting job stands: counts by state, then why its first task found no node.
  std::string WaitingReason(JobId job) const;

  // Re-derives all sums and counts from the tasks: aborts at a difference. Test builds do so often.
  void VerifyInvariants() const;

 private:
  struct OpenPlugin {
    std::unique_ptr<Plugin> plugin;
    PluginHooks hooks;
  };

  void MoveBetween(TaskId task, TaskStatus before, TaskStatus status);
  void OpenPlugins(const SessionOptions& options);
  void OpenOne(size_t plugin);
  void CollectHooks();
  void ReopenPlugins(const ClusterChanges& changes);
  bool LastingAnswersHold();
  void FollowZoneNodes(const ClusterChanges& changes);
  void CatchUpWithJobs();
  void AddToClose(JobId job);
  template <class Fn>
  void Collect(Tiered<Fn>& tiered, Fn PluginHooks::* member, std::optional<Switch> needs);
  Victims VoteOnVictims(const Tiered<VictimsFn>& hooks, TaskId for_task,
                        std::span<const TaskId> candidates);
  void FindWhatVotesDependOn();
  void FindBoundsOnVotes();
  void SendAllocate(TaskId task);
  void SendDeallocate(TaskId task);
  void ForgetThatTheyWereOnlyBound();

  std::vector<std::string> plugin_names_;
  std::vector<OpenPlugin> plugins_;                  // by plugin index
  std::vector<const PluginOption*> plugin_options_;  // by plugin index
  std::function<std::unique_ptr<Plugin>(std::string_view name)> make_plugin_;
  std::string_view current_action_;
  std::unique_ptr<NodeSearch> node_search_;
  ChangeList<NodeId> node_changes_;
  ChangeList<TaskChange> task_changes_;
  CycleMemory own_memory_;
  std::unordered_map<JobId, std::string> enqueue_refusals_;

  Tiered<std::function<int(JobId, JobId)>> job_order_;
  Tiered<std::function<int(QueueId, QueueId)>> queue_order_;
  Tiered<std::function<int(QueueId, QueueId, QueueId)>> victim_queue_order_;
  Tiered<std::function<int(TaskId, TaskId)>> task_order_;
  Tiered<std::function<int(JobId, JobId)>> sub_job_order_;
  Tiered<std::function<std::optional<InvalidJob>(JobId)>> job_valid_;
  Tiered<std::function<bool(JobId)>> job_ready_;
  Tiered<std::function<Vote(JobId)>> job_pipelined_;
  Tiered<std::function<bool(JobId)>> job_starving_;
  Tiered<std::function<Vote(JobId)>> job_enqueueable_;
  Tiered<std::function<void(JobId)>> job_enqueued_;
  Tiered<PredicateHook> predicates_;
  Tiered<ScoreHook> scores_;
  Tiered<std::function<NodeId(TaskId, std::span<const NodeId>, std::span<const double>)>>
      best_node_;
  Tiered<VictimsFn> preemptable_;
  Tiered<VictimsFn> reclaimable_;
  Tiered<std::function<Vote(const EvictionContext&, std::span<const TaskId>, std::vector<TaskId>&)>>
      unified_evictable_;
  Tiered<std::function<void(std::vector<TaskId>&)>> victim_tasks_;
  Tiered<std::function<void(std::vector<TaskId>&)>> spare_victims_;
  Tiered<std::function<bool(QueueId)>> overused_;
  Tiered<std::function<bool(QueueId, TaskId)>> preemptive_;
  Tiered<std::function<bool(QueueId, TaskId)>> allocatable_;
  Tiered<std::function<bool(QueueId, TaskId, std::span<const TaskId>)>> allocatable_without_;
  Tiered<std::function<void(TaskId, TaskId)>> simulate_remove_;
  Tiered<std::function<void(TaskId, TaskId)>> simulate_add_;
  Tiered<std::function<bool(QueueId, TaskId)>> simulate_allocatable_;
  Tiered<std::function<Refusal(TaskId, NodeId)>> simulate_predicate_;
  VictimVoting voting_;
  // By Asking; nothing when a plugin that is asked does not say.
  using VoteDependencies = std::vector<decltype(PluginHooks::vote_depends_on)*>;
  std::array<std::optional<VoteDependencies>, 2> vote_dependencies_;
  bool all_know_allocatable_without_ = false;
  std::array<std::vector<VotingTier>, 2> voting_tiers_;  // by Asking
  // Of all who have a say in Allocatable; nothing when one of them does not say.
  std::optional<std::vector<const std::function<Resource(QueueId, TaskId)>*>> share_missing_;
  std::vector<const std::function<void(TaskId)>*> on_allocate_;
  std::vector<const std::function<void(TaskId)>*> on_deallocate_;
  std::vector<const std::function<void()>*> on_rollback_;
  std::vector<const std::function<void(TaskId)>*> on_eviction_undone_;
  JobIndex jobs_{*this};
  ReopenState kept_;
  std::vector<bool> said_unschedulable_;  // by job, when the session closes
  TaskStatus status_before_event_ = TaskStatus::kPending;
  std::vector<TaskId> undone_;  // without exact_undo: who was evicted and put back
};

}  // namespace krafla
