// How the tiers combine the plugins' answers: one function per extension point, one rule per kind
// of point. Whom they let go is in victim_votes.cpp.
#include <algorithm>

#include "session/session.h"
#include "session/unsupported.h"

namespace krafla {

namespace {

// Orders: the first plugin, in tier order, that has an opinion.
template <class Fn, class... Args>
int FirstOpinion(const Tiered<Fn>& tiered, Args... args) {
  for (const auto& tier : tiered)
    for (const auto& entry : tier)
      if (const int order = (*entry.call)(args...); order != 0) return order;
  return 0;
}

template <class Fn, class... Args>
bool AllSayYes(const Tiered<Fn>& tiered, Args... args) {
  for (const auto& tier : tiered)
    for (const auto& entry : tier)
      if (!(*entry.call)(args...)) return false;
  return true;
}

// A Reject anywhere up to the deciding tier is a no; the first tier with a Permit decides; nobody:
// yes.
template <class Fn>
bool VotePerTier(const Tiered<Fn>& tiered, JobId job) {
  for (const auto& tier : tiered) {
    bool permitted = false;
    for (const auto& entry : tier) {
      const Vote vote = (*entry.call)(job);
      if (vote == Vote::kReject) return false;
      permitted |= vote == Vote::kPermit;
    }
    if (permitted) return true;
  }
  return true;
}

}  // namespace

int Session::CompareJobs(JobId l, JobId r) const {
  return FirstOpinion(job_order_, l, r);
}

bool Session::JobLess(JobId l, JobId r) const {
  if (const int order = CompareJobs(l, r); order != 0) return order < 0;
  const Job& left = cluster.jobs[l];
  const Job& right = cluster.jobs[r];
  if (left.created != right.created) return left.created < right.created;
  return cluster.JobKey(l) < cluster.JobKey(r);
}

bool Session::QueueLess(QueueId l, QueueId r) const {
  if (const int order = FirstOpinion(queue_order_, l, r); order != 0) return order < 0;
  const Queue& left = cluster.queues[l];
  const Queue& right = cluster.queues[r];
  if (left.created != right.created) return left.created < right.created;
  return cluster.Text(left.name) < cluster.Text(right.name);
}

bool Session::VictimQueueLess(QueueId l, QueueId r, QueueId preemptor) const {
  if (const int order = FirstOpinion(victim_queue_order_, l, r, preemptor); order != 0)
    return order < 0;
  return !QueueLess(l, r);
}

bool Session::TaskLess(TaskId l, TaskId r) const {
  if (const int order = FirstOpinion(task_order_, l, r); order != 0) return order < 0;
  const Task& left = cluster.tasks[l];
  const Task& right = cluster.tasks[r];
  if (left.name_index >= 0 && right.name_index >= 0 && left.name_index != right.name_index)
    return left.name_index < right.name_index;
  if (left.created != right.created) return left.created < right.created;
  return cluster.Text(left.uid) < cluster.Text(right.uid);
}

int Session::CompareSubJobs(JobId l, JobId r) const {
  return FirstOpinion(sub_job_order_, l, r);
}

std::optional<InvalidJob> Session::JobInvalid(JobId job) const {
  if (cluster.jobs[job].needs_network_topology)
    return InvalidJob{std::string(kTopologyNotSupported), std::string(kNeedsTopology)};
  for (const auto& tier : job_valid_)
    for (const auto& entry : tier)
      if (std::optional<InvalidJob> invalid = (*entry.call)(job)) return invalid;
  return std::nullopt;
}

bool Session::JobReady(JobId job) const {
  return AllSayYes(job_ready_, job);
}

bool Session::Allocatable(QueueId queue, TaskId task) const {
  return AllSayYes(allocatable_, queue, task);
}

std::optional<bool> Session::AllocatableWithout(QueueId queue, TaskId task,
                                                std::span<const TaskId> gone) const {
  if (!all_know_allocatable_without_) return std::nullopt;
  return AllSayYes(allocatable_without_, queue, task, gone);
}

std::optional<Resource> Session::ShareMissing(QueueId queue, TaskId task) const {
  if (!share_missing_) return std::nullopt;
  Resource missing;
  for (const auto* say : *share_missing_) missing.SetMax((*say)(queue, task));
  return missing;
}

bool Session::VotesDependOn(Asking asking, TaskId for_task, std::vector<uint64_t>& words) const {
  const auto& dependencies = vote_dependencies_[static_cast<size_t>(asking)];
  if (!dependencies) return false;
  for (const auto* append : *dependencies) (*append)(asking, for_task, words);
  return true;
}

bool Session::Preemptive(QueueId queue, TaskId task) const {
  return AllSayYes(preemptive_, queue, task);
}

bool Session::SimulateAllocatable(QueueId queue, TaskId task) const {
  return AllSayYes(simulate_allocatable_, queue, task);
}

Refusal Session::SimulatePredicate(TaskId task, NodeId node) const {
  for (const auto& tier : simulate_predicate_)
    for (const auto& entry : tier)
      if (const Refusal refusal = (*entry.call)(task, node); refusal.refused()) return refusal;
  return {};
}

bool Session::Overused(QueueId queue) const {
  for (const auto& tier : overused_)
    for (const auto& entry : tier)
      if ((*entry.call)(queue)) return true;
  return false;
}

bool Session::JobPipelined(JobId job) const {
  return VotePerTier(job_pipelined_, job);
}

bool Session::JobEnqueueable(JobId job) const {
  return VotePerTier(job_enqueueable_, job);
}

bool Session::JobStarving(JobId job) const {
  for (const auto& tier : job_starving_) {
    if (tier.empty()) continue;
    for (const auto& entry : tier)
      if (!(*entry.call)(job)) return false;
    return true;
  }
  return false;
}

void Session::JobEnqueued(JobId job) const {
  for (const auto& tier : job_enqueued_)
    for (const auto& entry : tier) (*entry.call)(job);
}

void Session::SimulateRemove(TaskId to_schedule, TaskId removed) const {
  for (const auto& tier : simulate_remove_)
    for (const auto& entry : tier) (*entry.call)(to_schedule, removed);
}

void Session::SimulateAdd(TaskId to_schedule, TaskId added) const {
  for (const auto& tier : simulate_add_)
    for (const auto& entry : tier) (*entry.call)(to_schedule, added);
}

bool Session::HasBestNode() const {
  return std::any_of(best_node_.begin(), best_node_.end(),
                     [](const auto& t) { return !t.empty(); });
}

NodeId Session::BestNode(TaskId task, std::span<const NodeId> nodes,
                         std::span<const double> scores) const {
  for (const auto& tier : best_node_)
    for (const auto& entry : tier)
      if (const NodeId node = (*entry.call)(task, nodes, scores); node.valid()) return node;
  return {};
}

bool Session::NamesVictimsAlone(std::string_view plugin) const {
  return std::any_of(preemptable_.begin(), preemptable_.end(), [&](const auto& tier) {
    const auto is_named = [&](const auto& entry) { return plugin_names_[entry.plugin] == plugin; };
    return std::any_of(tier.begin(), tier.end(), is_named) &&
           std::all_of(tier.begin(), tier.end(), [&](const auto& entry) {
             return is_named(entry) || plugins_[entry.plugin].hooks.is_guard;
           });
  });
}

bool Session::VictimLess(TaskId l, TaskId r, TaskId preemptor) const {
  const JobId left = cluster.tasks[l].job;
  const JobId right = cluster.tasks[r].job;
  if (left == right) return !TaskLess(l, r);
  // A pod whose PodGroup is gone goes first.
  if (!left.valid() || !right.valid()) return !left.valid();
  const JobId preemptor_job = cluster.tasks[preemptor].job;
  const QueueId left_queue = cluster.jobs[left].queue;
  const QueueId right_queue = cluster.jobs[right].queue;
  if (preemptor_job.valid() && left_queue != right_queue)
    return VictimQueueLess(left_queue, right_queue, cluster.jobs[preemptor_job].queue);
  if (const int order = CompareJobs(left, right); order != 0) return order > 0;
  return !TaskLess(l, r);
}

}  // namespace krafla
