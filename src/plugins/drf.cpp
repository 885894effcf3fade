// Dominant resource fairness: jobs with the smaller dominant share go first, and a job may take
// from another one only what leaves the other with no smaller a share than its own would be.
//
// With enableHierarchy queues are ordered too, and take from each other, by their place in a tree
// of weighted groups (fair_share/share_tree.h).
#include <bit>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fair_share/amount_copies.h"
#include "fair_share/dominant_share.h"
#include "fair_share/share_tree.h"
#include "model/cluster_changes.h"
#include "session/call_column.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

// Shares that differ by no more are equal where a victim is chosen; orders compare exactly.
constexpr double kShareDelta = 0.000001;

class DrfPlugin final : public Plugin {
 public:
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;
  bool Reopen(Session& session, const ClusterChanges& changes) override;

 private:
  void GrowTree();

  int CompareJobs(JobId left, JobId right);
  int CompareQueues(QueueId left, QueueId right);
  Vote ChooseForPreemptor(TaskId preemptor, std::span<const TaskId> candidates,
                          std::vector<TaskId>& victims);
  Vote ChooseForReclaimer(TaskId reclaimer, std::span<const TaskId> candidates,
                          std::vector<TaskId>& victims);
  // The share of the task's job once it has this task too.
  double ShareWith(TaskId task);
  double ShareWithout(JobId job, TaskId candidate);
  double ShareWithoutOnly(TaskId candidate) const;
  void NoteAllocated(TaskId task);
  void NoteDeallocated(TaskId task);
  void FollowInTree(JobId job, TaskId task, bool gained);
  void CatchUpWithRollback();

  QueueId QueueOf(JobId job) const { return cluster_->jobs[job].queue; }
  bool InTree(JobId job) const { return tree_.has_value() && QueueOf(job).valid(); }
  void LogVictims(std::string_view who, std::span<const TaskId> victims);

  Session* session_ = nullptr;
  const Cluster* cluster_ = nullptr;
  std::optional<VictimNotes> notes_;

  // What a job has, including what is only pipelined: few jobs have such tasks. Requests are whole
  // numbers, so it does not matter in which order they are added up.
  Resource AllocatedOf(JobId job) const {
    Resource allocated = cluster_->jobs[job].allocated;
    if (cluster_->jobs[job].Count(TaskStatus::kPipelined) > 0)
      allocated.Add(pipelined_[pipelined_of_[job]]);
    return allocated;
  }
  // The job's dominant share. Computed when somebody asks, and anew when the job or the size of the
  // cluster has changed since.
  double Share(JobId job);
  void NotePipelined(TaskId task, bool gained);

  struct KnownShare {
    double share = 0;
    uint32_t job_changes = 0;
    uint32_t size_number = kNotKnown;

    bool Holds(uint32_t changes, uint32_t number) const {
      return job_changes == changes && size_number == number;
    }
  };
  static constexpr uint32_t kNotKnown = 0;
  Table<JobId, KnownShare> shares_;  // empty until somebody asks
  struct {
    TaskId task;
    KnownShare known;
  } with_;  // of ShareWith, the last one
  uint32_t size_number_ = 1;
  Resource size_;  // the cluster's, of that number
  // Sums of what is pipelined, logged; in order of the first one, so that they stay where they are.
  static constexpr uint32_t kNoneYet = UINT32_MAX;
  Table<JobId, uint32_t> pipelined_of_;  // empty until there is one
  std::deque<Resource> pipelined_;
  AmountCopies<JobId> what_if_;
  CallColumn<JobId, TaskId> first_;
  uint64_t questions_ = 0;

  // With hierarchy only. The tree is derived from the logged columns. `touched_` lists the jobs of
  // all changes in order; its length is logged too, so that what lies beyond it after a rollback
  // are exactly the leaves that have gone back.
  std::optional<ShareTree> tree_;
  Table<JobId, ShareTree::NodeIndex> leaf_of_;
  Table<QueueId, ShareTree::Path> path_of_;
  Resource total_allocated_;
  std::vector<JobId> touched_;
  size_t touched_count_ = 0;
};

void DrfPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  session_ = &session;
  cluster_ = &session.cluster;
  notes_.emplace(session, option.name);
  size_ = cluster_->total;
  what_if_.Reset(cluster_->jobs.size());

  hooks.job_order = [this](JobId l, JobId r) { return CompareJobs(l, r); };
  hooks.preemptable = [this](TaskId preemptor, std::span<const TaskId> candidates,
                             std::vector<TaskId>& victims) {
    return ChooseForPreemptor(preemptor, candidates, victims);
  };
  hooks.vote_depends_on = [this](Asking asking, TaskId task, std::vector<uint64_t>& words) {
    // The tree has everybody's share in it.
    words.push_back(asking == Asking::kReclaim && tree_ ? ++questions_ : 0);
    words.push_back(std::bit_cast<uint64_t>(ShareWith(task)));
  };
  // A little more than the delta is taken off: a difference is rounded.
  hooks.preempt_levels = VictimLevels{
      .exact_level = [this](TaskId id) { return ShareWithoutOnly(id); },
      .exactly_needed = [this](TaskId id) { return ShareWith(id) - kShareDelta * 1.000001; }};
  hooks.on_allocate = [this](TaskId task) { NoteAllocated(task); };
  hooks.on_deallocate = [this](TaskId task) { NoteDeallocated(task); };

  if (!option.Enabled(Switch::kHierarchy)) return;
  GrowTree();
  hooks.queue_order = [this](QueueId l, QueueId r) { return CompareQueues(l, r); };
  hooks.reclaimable = [this](TaskId reclaimer, std::span<const TaskId> candidates,
                             std::vector<TaskId>& victims) {
    return ChooseForReclaimer(reclaimer, candidates, victims);
  };
  hooks.on_rollback = [this] { CatchUpWithRollback(); };
}

double DrfPlugin::Share(JobId job) {
  if (shares_.empty()) shares_.Reset(cluster_->jobs.size());
  KnownShare& known = shares_[job];
  const uint32_t changes = cluster_->jobs[job].changes;
  if (!known.Holds(changes, size_number_))
    known = {DominantShare(AllocatedOf(job), cluster_->total), changes, size_number_};
  return known.share;
}

void DrfPlugin::NotePipelined(TaskId task, bool gained) {
  const JobId job = cluster_->tasks[task].job;
  if (pipelined_of_.empty()) pipelined_of_.Reset(cluster_->jobs.size(), kNoneYet);
  if (pipelined_of_[job] == kNoneYet) {
    pipelined_of_[job] = static_cast<uint32_t>(pipelined_.size());
    pipelined_.emplace_back();
  }
  Resource& pipelined = pipelined_[pipelined_of_[job]];
  session_->undo.Save(pipelined);
  if (gained) {
    pipelined.Add(cluster_->Request(task));
  } else {
    pipelined.Sub(cluster_->Request(task));
  }
}

bool DrfPlugin::Reopen(Session&, const ClusterChanges& changes) {
  if (tree_) return false;  // it has every job in it
  pipelined_of_.Reset(0);
  pipelined_.clear();
  with_ = {};
  if (!shares_.empty()) {
    FollowJobs(changes, shares_);
    for (const JobId job : changes.jobs) shares_[job] = {};
  }
  if (!size_.SameAs(cluster_->total)) {
    size_ = cluster_->total;
    ++size_number_;
  }
  if (!changes.job_steps.empty()) what_if_.Reset(cluster_->jobs.size());
#ifdef KRAFLA_VERIFY
  for (const JobId job : cluster_->jobs_by_name)
    KRAFLA_CHECK(Share(job) == DominantShare(cluster_->jobs[job].allocated, cluster_->total),
                 cluster_->JobKey(job));
#endif
  return true;
}

void DrfPlugin::GrowTree() {
  tree_.emplace(cluster_->total);
  total_allocated_ = Resource();
  touched_.clear();
  touched_count_ = 0;
  leaf_of_.Reset(cluster_->jobs.size(), ShareTree::kRoot);
  for (JobId id : cluster_->jobs_by_name) {
    const Job& job = cluster_->jobs[id];
    if (!job.queue.valid()) continue;
    const Queue& queue = cluster_->queues[job.queue];
    leaf_of_[id] = tree_->AddLeaf(queue.hierarchy, queue.hierarchy_weights, cluster_->JobKey(id),
                                  job.total_request);
    tree_->SetAllocated(leaf_of_[id], job.allocated);
    total_allocated_.Add(job.allocated);
  }
  tree_->SetTotalAllocated(total_allocated_);
  path_of_.Reset(cluster_->queues.size());
  for (QueueId queue : cluster_->queues_by_name)
    path_of_[queue] = tree_->Find(cluster_->queues[queue].hierarchy);
}

int DrfPlugin::CompareJobs(JobId left, JobId right) {
  const double left_share = Share(left);
  const double right_share = Share(right);
  if (left_share == right_share) return 0;
  return left_share < right_share ? -1 : 1;
}

int DrfPlugin::CompareQueues(QueueId left, QueueId right) {
  const double difference = tree_->Compare(path_of_[left], path_of_[right]);
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

// Asked again for every node on which a task looks for room: the last answer is kept.
double DrfPlugin::ShareWith(TaskId task) {
  const JobId job = cluster_->tasks[task].job;
  if (!job.valid()) return 0;
  const uint32_t changes = cluster_->jobs[job].changes;
  if (with_.task == task && with_.known.Holds(changes, size_number_)) return with_.known.share;
  Resource with_task = AllocatedOf(job);
  with_task.Add(cluster_->Request(task));
  with_ = {task, {DominantShare(with_task, cluster_->total), changes, size_number_}};
  return with_.known.share;
}

// The share of a task's job without this task.
double DrfPlugin::ShareWithoutOnly(TaskId candidate) const {
  const JobId job = cluster_->tasks[candidate].job;
  if (!job.valid()) return 0;
  const Resource& request = cluster_->Request(candidate);
  if (cluster_->jobs[job].Count(TaskStatus::kPipelined) == 0)
    return DominantShareWithout(cluster_->jobs[job].allocated, request, cluster_->total);
  return DominantShareWithout(AllocatedOf(job), request, cluster_->total);
}

// The job's share without this candidate and those of the job that came before it in this vote.
// Most jobs have one candidate on a node: only for a second one is a copy made.
double DrfPlugin::ShareWithout(JobId job, TaskId candidate) {
  TaskId& first = first_.Get(job, [] { return TaskId{}; });
  if (!first.valid()) {
    first = candidate;
    return ShareWithoutOnly(candidate);
  }
  const bool is_second = !what_if_.Has(job);
  Resource& left = what_if_.At(job, AllocatedOf(job));
  if (is_second) left.Sub(cluster_->Request(first));
  left.Sub(cluster_->Request(candidate));
  return DominantShare(left, cluster_->total);
}

Vote DrfPlugin::ChooseForPreemptor(TaskId preemptor, std::span<const TaskId> candidates,
                                   std::vector<TaskId>& victims) {
  const JobId own_job = cluster_->tasks[preemptor].job;
  if (!own_job.valid()) return Vote::kPermit;
  const double own_share = ShareWith(preemptor);

  // Candidates of one job are thought away one after the other, whether they are taken or not.
  what_if_.Begin();
  first_.Begin(cluster_->jobs.size());
  for (TaskId candidate : candidates) {
    const JobId job = cluster_->tasks[candidate].job;
    if (!job.valid()) continue;
    const double share = ShareWithout(job, candidate);
    if (own_share < share || std::abs(own_share - share) <= kShareDelta) {
      victims.push_back(candidate);
    } else {
      notes_->Spared(candidate, VetoCode::kShareTooSmall);
    }
  }
  LogVictims("DRF preemptable", victims);
  return Vote::kPermit;
}

Vote DrfPlugin::ChooseForReclaimer(TaskId reclaimer, std::span<const TaskId> candidates,
                                   std::vector<TaskId>& victims) {
  const JobId own_job = cluster_->tasks[reclaimer].job;
  if (!own_job.valid() || !InTree(own_job)) return Vote::kPermit;
  const QueueId own_queue = QueueOf(own_job);
  Resource total = total_allocated_;
  total.Add(cluster_->Request(reclaimer));
  Resource with_task = AllocatedOf(own_job);
  with_task.Add(cluster_->Request(reclaimer));
  tree_->SetAllocated(leaf_of_[own_job], with_task);

  // Each candidate is judged alone, beside the reclaimer, as if no other one went.
  for (TaskId candidate : candidates) {
    const JobId job = cluster_->tasks[candidate].job;
    if (!job.valid() || !InTree(job)) continue;
    Resource total_without_task = total;
    total_without_task.Sub(cluster_->Request(candidate));
    tree_->SetTotalAllocated(total_without_task);
    const Resource allocated = AllocatedOf(job);
    Resource without_task = allocated;
    without_task.Sub(cluster_->Request(candidate));
    tree_->SetAllocated(leaf_of_[job], without_task);
    const double difference = tree_->Compare(path_of_[own_queue], path_of_[QueueOf(job)]);
    tree_->SetAllocated(leaf_of_[job], allocated);
    if (difference < 0) {
      victims.push_back(candidate);
    } else {
      notes_->Spared(candidate, VetoCode::kShareTooSmall);
    }
  }

  tree_->SetAllocated(leaf_of_[own_job], AllocatedOf(own_job));
  tree_->SetTotalAllocated(total_allocated_);
  LogVictims("HDRF", victims);
  return Vote::kPermit;
}

void DrfPlugin::NoteAllocated(TaskId task) {
  const JobId job = cluster_->tasks[task].job;
  if (!job.valid()) return;
  if (cluster_->tasks[task].status == TaskStatus::kPipelined) NotePipelined(task, true);
  if (InTree(job)) FollowInTree(job, task, true);
}

void DrfPlugin::NoteDeallocated(TaskId task) {
  const JobId job = cluster_->tasks[task].job;
  if (!job.valid()) return;
  if (session_->status_before_event() == TaskStatus::kPipelined) NotePipelined(task, false);
  if (InTree(job)) FollowInTree(job, task, false);
}

void DrfPlugin::FollowInTree(JobId job, TaskId task, bool gained) {
  UndoLog& undo = session_->undo;
  undo.Save(total_allocated_);
  undo.Save(touched_count_);
  if (gained) {
    total_allocated_.Add(cluster_->Request(task));
  } else {
    total_allocated_.Sub(cluster_->Request(task));
  }
  touched_.push_back(job);
  touched_count_ = touched_.size();
  tree_->SetAllocated(leaf_of_[job], AllocatedOf(job));
  tree_->SetTotalAllocated(total_allocated_);
}

void DrfPlugin::CatchUpWithRollback() {
  for (size_t i = touched_count_; i < touched_.size(); ++i)
    tree_->SetAllocated(leaf_of_[touched_[i]], AllocatedOf(touched_[i]));
  touched_.resize(touched_count_);
  tree_->SetTotalAllocated(total_allocated_);
}

void DrfPlugin::LogVictims(std::string_view who, std::span<const TaskId> victims) {
  if (session_->log.V(4))
    session_->log.Line("[drf] Victims from {} plugin are {}", who, ListOf(*cluster_, victims));
}

}  // namespace

std::unique_ptr<Plugin> Make_drf_plugin() {
  return std::make_unique<DrfPlugin>();
}

}  // namespace krafla
