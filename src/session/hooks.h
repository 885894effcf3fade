// The extension points: what a plugin may have a say in. A plugin fills in what it needs of
// PluginHooks when a session opens; the session sorts the answers by tier (tiered.h) and combines
// them (session_votes.cpp).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/timestamp.h"
#include "model/ids.h"
#include "model/resource.h"
#include "session/refusal.h"

namespace krafla {

enum class Vote : int8_t { kReject = -1, kAbstain = 0, kPermit = 1 };

struct InvalidJob {
  std::string reason;  // a short word: NotEnoughPods
  std::string message;
};

// May a task run on a node?
struct PredicateHook {
  // Looks at the cluster as it is now and prepares what `current` needs for this task; a refusal
  // refuses every node. May be empty.
  std::function<Refusal(TaskId)> prepare;
  // The part of the answer that holds as long as the session, once per class: adds to one refusal
  // per node.
  std::function<void(ClassId, std::span<Refusal>)> fixed;
  // The same for one node, of which the facts have changed between two sessions. Without it all
  // nodes are asked again.
  std::function<Refusal(ClassId, NodeId)> fixed_at;
  // Appends words that are equal for two classes only if `fixed` says the same of both, in this
  // session and in those that follow it: it is then asked once for both. Without it each class is
  // asked about.
  std::function<void(ClassId, std::vector<uint64_t>& words)> fixed_depends_on;
  // The part that depends on the pods that are on nodes now. Called after `prepare` of that task.
  std::function<Refusal(TaskId, NodeId)> current;
  // Which nodes `current` may refuse now, 64 at once: of the given nodes, bits by position in
  // nodes_by_name, takes out such as it would let pass, not necessarily all. Called after `prepare`
  // of that task, with some node given. Empty: it may refuse any.
  std::function<void(TaskId, std::span<uint64_t> nodes)> current_may_refuse;
  // What `current` says of many nodes alike: calls `say` with a refusal and those of the given
  // nodes of which `current` says just that. It is asked about the others one by one. Called after
  // `prepare` of that task. May be empty.
  using Say = std::function<void(Refusal, std::span<const uint64_t> nodes)>;
  std::function<void(TaskId, std::span<const uint64_t> nodes, const Say& say)> current_of_many;
  // Whether `current` refuses for what `prepare` has counted, and so does whatever happens until
  // the task is prepared again. May be empty.
  std::function<bool(TaskId, NodeId)> prepared_refuses;
  // The same of all nodes: adds those where it does, bits by position in nodes_by_name. May be
  // empty.
  std::function<void(TaskId, std::span<uint64_t> nodes)> prepared_refuses_where;
  // Whether `current` for this class depends on nothing but the node itself, so that an answer
  // stays good until that node changes. Empty means yes.
  std::function<bool(ClassId)> current_is_node_local;
  // Whether evictions may lift whatever `current` refuses this class for, on every node. Asked
  // where it is not local; empty means no.
  std::function<bool(ClassId)> current_is_liftable;
};

// How well does a task sit on a node? Scores of all plugins are added.
struct ScoreHook {
  // Depends on the class and the node alone.
  std::function<double(ClassId, NodeId)> node;
  // Adds what `node` says of several nodes, one number each. Empty: `node` is asked for each.
  std::function<void(ClassId, std::span<const NodeId>, std::span<double> scores)> node_each;
  // Scores over a set of nodes (normalised over it, say): adds to `scores`, one per node; NaN when
  // it cannot tell, and then nobody is the best.
  std::function<void(TaskId, std::span<const NodeId>, std::span<double> scores)> batch;
  // When this says yes for a class, `batch_each` adds the same number as `batch` for each node,
  // whatever the set; it may change its mind as pods come and go, so it is asked each time.
  std::function<bool(ClassId)> batch_is_node_local;
  std::function<void(ClassId, std::span<const NodeId>, std::span<double> scores)> batch_each;
  // Appends words that are equal for two classes only if `node` and `batch_each` say the same of
  // both, of every node, in this session and in those that follow it: a node is then scored once
  // for both. Without it each class is asked about.
  std::function<void(ClassId, std::vector<uint64_t>& words)> depends_on;
};

// Chooses from `candidates` those this plugin would let go, in their order. kAbstain: no opinion.
using VictimsFn = std::function<Vote(TaskId for_task, std::span<const TaskId> candidates,
                                     std::vector<TaskId>& victims)>;

// For what somebody would have to go.
enum class Asking : uint8_t { kPreempt, kReclaim };

// Bounds on whom a plugin names as victims, by which nodes are left out unasked
// (actions/victim_bounds.h).
struct VictimLevels {
  // What a candidate has. Changes only with `state` or tasks of its job, then for all of them, and
  // rises only when the job gains some. A plugin that has levels does not abstain.
  std::function<int64_t(TaskId candidate)> level = {};
  // What it must have for this task: one that has less is never named.
  std::function<int64_t(TaskId for_task)> needed = {};
  // Of the candidates of a job that is not the task's own, the first is named if it has that.
  bool names_first = false;
  std::function<uint64_t()> state = {};  // empty: always the same
  // Of a queue's candidates that the plugin is asked about, in their order, no more are named when
  // this says no of what those that were have together, by kind. As long as `state` is the same it
  // never says yes where it has said no.
  std::function<bool(QueueId, std::span<const double> taken)> gives_more = {};
  // The same where nearly every task needs another level. A candidate's own; it rises only when its
  // job gains tasks.
  std::function<double(TaskId candidate)> exact_level = {};
  std::function<double(TaskId for_task)> exactly_needed = {};
};

// Who asks for a whole bundle of victims (gang preemption): kept apart from task-wise preemption.
struct EvictionContext {
  JobId job;
  bool reclaim = false;
};

struct PluginHooks {
  std::function<int(JobId, JobId)> job_order;  // < 0: the left one first
  std::function<int(QueueId, QueueId)> queue_order;
  std::function<int(QueueId, QueueId, QueueId preemptor)> victim_queue_order;
  std::function<int(TaskId, TaskId)> task_order;
  std::function<int(JobId, JobId)> sub_job_order;  // of a job's groups, named by their jobs

  std::function<std::optional<InvalidJob>(JobId)> job_valid;  // looks at the job alone
  std::function<bool(JobId)> job_ready;
  std::function<Vote(JobId)> job_pipelined;
  std::function<bool(JobId)> job_starving;  // looks at the job alone
  std::function<Vote(JobId)> job_enqueueable;
  std::function<void(JobId)> job_enqueued;

  std::optional<PredicateHook> predicate;
  std::optional<ScoreHook> score;
  // What `predicate` (all of it that is kept per class) and `score` depend on beside the class and
  // the node, in words that are equal in two sessions only if the answers are. Answers are then
  // kept from one session to the next; without it they are not.
  std::optional<std::vector<uint64_t>> lasting;
  std::function<NodeId(TaskId, std::span<const NodeId>, std::span<const double>)> best_node;

  VictimsFn preemptable;
  VictimsFn reclaimable;
  std::function<Vote(const EvictionContext&, std::span<const TaskId>, std::vector<TaskId>&)>
      unified_evictable;
  // Names tasks that should go without making room for anybody (a closing zone).
  std::function<void(std::vector<TaskId>& nominated)> victim_tasks;
  // Takes tasks off such a list that must not go (guards).
  std::function<void(std::vector<TaskId>& nominated)> spare_victims;
  // A guard's veto holds in every tier: cdp, conformance, pdb.
  bool is_guard = false;
  bool guard_counts = false;  // its veto depends on who else is on the list (a budget): asked last
  // Not a guard, but counts too (tdm: a budget per job): asked last within its tier, about those
  // that the tier's other plugins let go.
  bool counts_victims = false;

  std::function<bool(QueueId)> overused;
  std::function<bool(QueueId, TaskId)> preemptive;
  std::function<bool(QueueId, TaskId)> allocatable;
  // The same if these tasks were evicted; evicting more must not turn a yes into a no. Without it
  // the tasks are evicted to find out.
  std::function<bool(QueueId, TaskId, std::span<const TaskId> gone)> allocatable_without;
  // What preemptable or reclaimable, and allocatable, depend on beyond the candidates, their jobs
  // and their node: appends words that are equal for two tasks only if the answers are; and a
  // plugin that names nobody names nobody after the candidates' jobs have lost tasks elsewhere. For
  // such tasks a "no" everywhere is remembered (actions/known_in_vain.h); a plugin that votes and
  // does not say what on is always asked.
  std::function<void(Asking, TaskId, std::vector<uint64_t>& words)> vote_depends_on;
  // For preemptable and for reclaimable; without them anybody may be named.
  std::optional<VictimLevels> preempt_levels;
  std::optional<VictimLevels> reclaim_levels;
  // What would have to be evicted from the queue, at least, before allocatable may say yes to the
  // task.
  std::function<Resource(QueueId, TaskId)> share_missing;

  // The dry run of topology-aware preemption; changes go through the undo log and are taken back
  // after it.
  std::function<void(TaskId to_schedule, TaskId removed)> simulate_remove;
  std::function<void(TaskId to_schedule, TaskId added)> simulate_add;
  std::function<bool(QueueId, TaskId)> simulate_allocatable;
  std::function<Refusal(TaskId, NodeId)> simulate_predicate;

  // When, if nothing else changes, this plugin's answers do: the next window, the end of a
  // cooldown. Asked when the session has closed; nothing: never.
  std::function<std::optional<Timestamp>()> next_timer;

  // A task got a node, or lost it. Not called for what a rollback takes back: state is restored
  // instead.
  std::function<void(TaskId)> on_allocate;
  std::function<void(TaskId)> on_deallocate;
  // After a rollback, for state that is derived and not logged.
  std::function<void()> on_rollback;
  // After a rollback, for each task whose eviction it took back.
  std::function<void(TaskId)> on_eviction_undone;
  // Whether that would change anything now. Without it, it always may.
  std::function<bool(TaskId)> eviction_undone_matters;
};

}  // namespace krafla
