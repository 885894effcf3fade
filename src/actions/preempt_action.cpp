// preempt: makes room inside a queue for jobs that starve.
//
// 1. Starving jobs are gathered per queue; queues, jobs and tasks go by order.
// 2. Between jobs: a job's tasks look for room one after the other, evicting tasks of other jobs of
// the queue. When the
//    job is pipelined with that, the statement is committed; otherwise all of it is taken back.
// 3. Within a job: each task that still waits may evict less important tasks of its own job; one
// statement each, up to the
//    first that fails.
// 4. Last (unless compatibility says otherwise): zones that have closed are emptied within the
// budgets.
#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <span>

#include "actions/dry_run.h"
#include "actions/evict_nominated.h"
#include "actions/job_heaps.h"
#include "actions/room_finder.h"
#include "actions/starving_jobs.h"
#include "actions/victim_search.h"
#include "model/fetch_jobs.h"
#include "session/action.h"
#include "session/in_hand.h"
#include "session/node_search.h"
#include "session/session.h"
#include "session/statement.h"

namespace krafla {

namespace {

// What is wrong with a whole number outside of a range.
std::function<std::optional<std::string>(std::string_view)> Between(int64_t least, int64_t most) {
  return [=](std::string_view text) -> std::optional<std::string> {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && number >= least && number <= most) return std::nullopt;
    return fmt::format("expected a whole number from {} to {}, got {}", least, most, text);
  };
}

class PreemptAction : public Action {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {
        {"predicateErrorCacheEnable", ArgumentType::kBool,
         "remember which nodes refused a pod of a role for the job's other pods of that role"},
        {"enableTopologyAwarePreemption", ArgumentType::kBool,
         "try several nodes out before choosing the cheapest"},
        {"topologyAwarePreemptWorkerNum", ArgumentType::kInt,
         "accepted; the dry run needs no workers"},
        {"minCandidateNodesPercentage", ArgumentType::kInt, "share of nodes to try out, default 10",
         Between(0, 100)},
        {"minCandidateNodesAbsolute", ArgumentType::kInt, "at least so many, default 1",
         Between(0, std::numeric_limits<int32_t>::max())},
        {"maxCandidateNodesAbsolute", ArgumentType::kInt, "at most so many, default 100",
         Between(1, std::numeric_limits<int32_t>::max())},
    };
  }

  void Run(Session& s) override {
    if (s.log.V(5)) s.log.Line("Enter Preempt ...");
    session_ = &s;
    room_.emplace(s);
    ReadArguments();
    PreemptInQueues();
    if (s.compat.victims_in_preempt) EvictNominatedVictims(s);
    if (s.log.V(5)) s.log.Line("Leaving Preempt ...");
  }

 private:
  void ReadArguments() {
    const krafla::Arguments& arguments = session_->config.ArgumentsOf("preempt");
    // Krafla asks again: evictions may have lifted what a node refused for.
    error_cache_ = !session_->compat.predicate_error_cache &&
                   arguments.GetBool("predicateErrorCacheEnable").value_or(true);
    topology_aware_ = arguments.GetBool("enableTopologyAwarePreemption").value_or(false);
    limits_.min_candidate_percent = arguments.GetInt("minCandidateNodesPercentage").value_or(10);
    limits_.min_candidates = arguments.GetInt("minCandidateNodesAbsolute").value_or(1);
    limits_.max_candidates = arguments.GetInt("maxCandidateNodesAbsolute").value_or(100);
  }

  void PreemptInQueues() {
    Session& s = *session_;
    Cluster& cluster = s.cluster;
    std::vector<JobHeap> preemptors(cluster.queues.size(), JobHeap(JobOrder{&s}));
    std::vector<std::vector<JobId>> starving(cluster.queues.size());
    std::vector<bool> has_jobs(cluster.queues.size(), false);
    std::deque<TaskLine> tasks;
    std::vector<size_t> tasks_of(cluster.jobs.size(), SIZE_MAX);
    const std::span<const JobId> visited = s.JobsToVisit();
    for (size_t at = 0; at < visited.size(); ++at) {
      FetchWaitingJobsAhead(cluster, visited, at);
      const JobId id = visited[at];
      TakeInHand(id);
      const Job& job = cluster.jobs[id];
      if (!MayLookForVictims(s, id, "preemption")) continue;
      has_jobs[job.queue.value] = true;
      if (!s.JobStarving(id)) {
        s.trace.Add(
            {TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kNotStarving), id.value});
        continue;
      }
      // There may be free capacity for its pods. Asked of starving jobs alone: a session that is
      // kept visits no others.
      if (SurplusWaits(s, id)) continue;
      if (job.has_network_topology) {
        s.trace.Add({TraceKind::kJobSkipped, 0, static_cast<uint16_t>(SkipCode::kNetworkTopology),
                     id.value});
        if (s.log.V(3))
          s.log.Line(
              "Job <{}> Queue <{}> skip preemption, reason: jobs containing networkTopology do "
              "not support preemption",
              cluster.JobKey(id), cluster.QueueName(job.queue));
        continue;
      }
      preemptors[job.queue.value].Push(id);
      starving[job.queue.value].push_back(id);
      tasks_of[id.value] = tasks.size();
      tasks.push_back(WaitingTasks(s, id));
    }

    QueueHeap queues(QueueOrder{&s});
    for (QueueId queue : cluster.queues_by_name) {
      if (!starving[queue.value].empty()) {
        queues.Push(queue);
      } else if (has_jobs[queue.value]) {
        SayNoPreemptors(queue);
      }
    }

    while (!queues.empty()) {
      const QueueId queue = queues.Pop();
      JobHeap& jobs = preemptors[queue.value];
      while (!jobs.empty()) {
        const JobId job = jobs.Pop();
        PreemptForJob(job, tasks[tasks_of[job.value]]);
      }
      SayNoPreemptors(queue);
      for (JobId job : starving[queue.value]) PreemptWithinJob(job);
    }
  }

  void PreemptForJob(JobId id, TaskLine& tasks) {
    Session& s = *session_;
    TakeInHand(id);
    Statement statement(s);
    while (s.JobStarving(id)) {
      if (tasks.empty()) {
        if (s.log.V(3)) s.log.Line("No preemptor task in job <{}>.", s.cluster.JobKey(id));
        break;
      }
      const TaskId task = tasks.Pop();
      FindRoom(statement, task, {.whose = VictimRule::Whose::kOtherJobsOfQueue});
    }
    if (s.JobPipelined(id)) {
      if (room_->Keep(statement, id)) s.trace.Add({TraceKind::kCommit, 0, 0, id.value});
    } else {
      s.trace.Add({TraceKind::kDiscard, 0, 0, id.value});
      room_->TakeBack(statement);
    }
  }

  void PreemptWithinJob(JobId id) {
    Session& s = *session_;
    TakeInHand(id);
    TaskLine tasks = WaitingTasks(s, id);
    while (!tasks.empty()) {
      const TaskId task = tasks.Pop();
      Statement statement(s);
      if (!FindRoom(statement, task, {.whose = VictimRule::Whose::kOwnJob})) {
        room_->TakeBack(statement);
        return;
      }
      if (!room_->Keep(statement, id)) return;
    }
  }

  void SayNoPreemptors(QueueId queue) {
    if (session_->log.V(3))
      session_->log.Line("No preemptors in Queue <{}>, break.", session_->cluster.QueueName(queue));
  }

  void SayFailed(TaskId task, std::string_view why) {
    if (session_->log.V(3))
      session_->log.Line("Failed to preempt Task for Preemptor <{}>, err: {}",
                         session_->cluster.TaskKey(task), why);
  }

  // Pods that may not preempt, or whose earlier preemption has not ended yet.
  bool MayPreempt(TaskId id) {
    Session& s = *session_;
    const Task& task = s.cluster.tasks[id];
    if (task.preemption_policy == PreemptionPolicy::kNever) {
      NoteSkipped(s, id, SkipCode::kNeverPreempts);
      SayFailed(id, "not eligible to preempt other tasks due to preemptionPolicy is Never");
      return false;
    }
    if (task.nominated_node == kEmptyStr) return true;
    const NodeId node = s.cluster.FindNode(task.nominated_node);
    const auto refuse = [&](NominationCode code, std::string_view why) {
      NoteSkipped(s, id, SkipCode::kNominated, static_cast<ReasonCode>(code));
      SayFailed(id, why);
      return false;
    };
    if (!node.valid()) {
      // The pod that the nomination was made for has no node to wait for any more.
      if (s.compat.lost_nomination) return true;
      return refuse(NominationCode::kNodeIsGone,
                    "not eligible due to the pod's nominated node is not found in the session");
    }
    NodeSearch& search = s.node_search();
    // A task nobody has looked at in this cycle cannot be judged; that counts as a refusal.
    const Refusal refusal =
        search.WasPrepared(id) ? search.Check(id, node) : Refusal{Refusal::kError, 0};
    if (!refusal.refused())
      return refuse(NominationCode::kNodePasses,
                    "not eligible due to the pod's nominated node is already schedulable");
    if (refusal.unresolvable()) return true;
    for (TaskId other : s.cluster.nodes[node].tasks) {
      const Task& o = s.cluster.tasks[other];
      if (o.pod_priority < task.pod_priority && o.terminating_by_preemption)
        return refuse(
            NominationCode::kVictimIsEnding,
            "not eligible due to a terminating pod caused by preemption on the nominated node");
    }
    return true;
  }

  // Pipelines the task on a node, with evictions where needed; or leaves everything as it is.
  bool FindRoom(Statement& statement, TaskId task, const VictimRule& rule) {
    Session& s = *session_;
    if (!MayPreempt(task)) return false;
    NodeSearch& search = s.node_search();
    if (const Refusal refusal = search.Prepare(task); refusal.refused()) {
      NoteSkipped(s, task, SkipCode::kNoNode, refusal.reason);
      SayFailed(task, s.reasons.Text(refusal.reason));
      return false;
    }
    const bool remembers = error_cache_ && s.cluster.tasks[task].role != kEmptyStr;
    RefusalMemory* memory = remembers ? &memory_ : nullptr;
    if (topology_aware_) return PreemptCheapest(statement, task, rule, memory);
    return room_->FindRoom(statement, task, rule, RoomFinder::Order::kBestScore, memory);
  }

  bool PreemptCheapest(Statement& statement, TaskId task, const VictimRule& rule,
                       RefusalMemory* memory) {
    Session& s = *session_;
    const RoomFinder::Nodes nodes = room_->NodesToCompare(task, rule, memory);
    const std::vector<const DryRunCandidate*> candidates = FindCandidates(
        s, task, nodes.with_room, rule, limits_.Enough(nodes.allowed), *nodes.results);
    if (candidates.empty()) {
      SayFailed(task, "no candidates that fit the pod");
      return false;
    }
    const DryRunCandidate& best = SelectCandidate(s, candidates);
    for (TaskId victim : best.victims) {
      if (s.log.V(3))
        s.log.Line("Try to preempt Task <{}> for Task <{}>", s.cluster.TaskKey(victim),
                   s.cluster.TaskKey(task));
      statement.Evict(victim, task, rule.reason(), best.permitted_by);
    }
    statement.Pipeline(task, best.node, true);
    return true;
  }

  Session* session_ = nullptr;
  bool error_cache_ = true;
  bool topology_aware_ = false;
  DryRunLimits limits_;
  RefusalMemory memory_;
  std::optional<RoomFinder> room_;
};

}  // namespace

std::unique_ptr<Action> Make_preempt_action() {
  return std::make_unique<PreemptAction>();
}

}  // namespace krafla
