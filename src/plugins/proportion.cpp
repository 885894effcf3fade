// Shares the cluster among queues by weight. What a queue deserves is computed once, when the
// session opens (fair_share/water_filling.h); from then on a queue that has more may be taken from,
// one that has as much gets nothing more, and one that would pass its capability takes in no more
// jobs.
//
// A queue that no job uses takes no part: it deserves nothing and nobody asks about it.
#include <fmt/format.h>

#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fair_share/amount_copies.h"
#include "fair_share/dominant_share.h"
#include "fair_share/job_reservation.h"
#include "fair_share/queue_ledger.h"
#include "fair_share/shortage.h"
#include "fair_share/water_filling.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

struct Account {
  bool known = false;  // some job uses the queue
  Resource request;    // of tasks that hold resources or are pending
  Resource elastic;    // what its jobs hold beyond their minimum
  Resource guarantee;
  Resource most_allocated;   // for bounds on what it may give
  uint64_t rises = 0;        // … and how often that was not the most
  Resource real_capability;  // the most it may have: its own limit, and nobody else's guarantee
  Resource deserved;
  // These change during a session and are logged.
  Resource allocated;
  Resource inqueue;  // kept for jobs that were let in and do not hold it yet
  // Computed when somebody asks: several tasks may come and go before that.
  mutable double share = 0;
  mutable uint64_t share_state = 0;  // the state of all accounts it was computed in
};

class ProportionPlugin final : public Plugin {
 public:
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;
  bool Reopen(Session& session, const ClusterChanges& changes) override;
  void Close(Session& session) override { Report(session); }

 private:
  void OpenAccounts();
  void AddUpJobs();
  void TakeSums();
  void ShareOut();
  void LogAccounts() const;
  void Report(Session& session) const;

  double ShareOf(const Account& account) const {
    if (account.share_state != accounts_state_) {
      account.share = DominantShare(account.allocated, account.deserved);
      account.share_state = accounts_state_;
    }
    return account.share;
  }
  int CompareQueues(QueueId left, QueueId right) const;
  bool IsOverused(QueueId queue) const;
  bool IsAllocatable(QueueId queue, TaskId task) const;
  bool IsAllocatableWithout(QueueId queue, TaskId task, std::span<const TaskId> gone) const;
  // Whether its queue has more than it deserves.
  static bool MayGive(const Account& account) {
    return !account.allocated.LessEqual(account.deserved, Missing::kZero);
  }
  uint64_t WhoMayGive();
  bool MayGiveMore(QueueId queue, std::span<const double> taken) const;
  Resource ShareMissing(QueueId queue, TaskId task) const;
  bool StaysWithinDeserved(QueueId queue, TaskId task) const;
  bool StaysWithinDeserved(QueueId queue, TaskId task, const Resource& allocated) const;
  Vote JudgeNewcomer(JobId job);
  void NoteEnqueued(JobId job);
  Vote ChooseForReclaimer(std::span<const TaskId> candidates, std::vector<TaskId>& victims);
  void NoteAllocated(TaskId task);
  void NoteDeallocated(TaskId task);
  void BeginChange(Account& account);

  // The account a task's resources are charged to; null when there is none.
  Account* FindAccount(TaskId task);

  Session* session_ = nullptr;
  const Cluster* cluster_ = nullptr;
  std::optional<VictimNotes> notes_;
  Table<QueueId, Account> accounts_;
  AmountCopies<QueueId> what_if_;
  QueueLedger ledger_;  // made when a session is opened again
  // A number for what all accounts hold together, which a rollback brings back with them.
  uint64_t accounts_state_ = 1;
  uint64_t last_accounts_state_ = 1;
  std::map<std::vector<uint64_t>, uint64_t> givers_;
  uint64_t last_givers_ = 0;
  std::vector<uint64_t> given_by_;  // of one call, kept for its memory
};

void ProportionPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  session_ = &session;
  cluster_ = &session.cluster;
  notes_.emplace(session, option.name);
  OpenAccounts();
  AddUpJobs();
  ShareOut();
  LogAccounts();
  Report(session);

  hooks.queue_order = [this](QueueId l, QueueId r) { return CompareQueues(l, r); };
  hooks.reclaimable = [this](TaskId, std::span<const TaskId> candidates,
                             std::vector<TaskId>& victims) {
    return ChooseForReclaimer(candidates, victims);
  };
  hooks.overused = [this](QueueId queue) { return IsOverused(queue); };
  hooks.allocatable = [this](QueueId queue, TaskId task) { return IsAllocatable(queue, task); };
  hooks.allocatable_without = [this](QueueId queue, TaskId task, std::span<const TaskId> gone) {
    return IsAllocatableWithout(queue, task, gone);
  };
  hooks.reclaim_levels = VictimLevels{
      .level =
          [this](TaskId id) {
            const Account* account = FindAccount(id);
            return account != nullptr && MayGive(*account);
          },
      .needed = [](TaskId) { return 1; },
      .state = [this] { return WhoMayGive(); },
      .gives_more = [this](QueueId queue,
                           std::span<const double> taken) { return MayGiveMore(queue, taken); }};
  hooks.share_missing = [this](QueueId queue, TaskId task) { return ShareMissing(queue, task); };
  hooks.vote_depends_on = [this](Asking asking, TaskId task, std::vector<uint64_t>& words) {
    // Candidates for reclaim are judged by what their queues have.
    if (asking == Asking::kReclaim) words.push_back(accounts_state_);
    const JobId job = cluster_->tasks[task].job;
    const QueueId queue = job.valid() ? cluster_->jobs[job].queue : QueueId{};
    if (!queue.valid()) return;
    words.push_back(queue.value);
    AppendWords(accounts_[queue].allocated, words);
  };
  hooks.preemptive = [this](QueueId queue, TaskId task) { return IsAllocatable(queue, task); };
  hooks.job_enqueueable = [this](JobId job) { return JudgeNewcomer(job); };
  hooks.job_enqueued = [this](JobId job) { NoteEnqueued(job); };
  hooks.on_allocate = [this](TaskId task) { NoteAllocated(task); };
  hooks.on_deallocate = [this](TaskId task) { NoteDeallocated(task); };
  // A dry run looks at amounts only: whether the queue is open was asked before it.
  hooks.simulate_allocatable = [this](QueueId queue, TaskId task) {
    return StaysWithinDeserved(queue, task);
  };
  hooks.simulate_add = [this](TaskId, TaskId added) { NoteAllocated(added); };
  hooks.simulate_remove = [this](TaskId, TaskId removed) { NoteDeallocated(removed); };
}

bool ProportionPlugin::Reopen(Session& session, const ClusterChanges& changes) {
  if (ledger_.made()) {
    ledger_.Follow(*cluster_, changes);
  } else {
    ledger_.Make(*cluster_);
  }
  accounts_state_ = ++last_accounts_state_;
  OpenAccounts();
  if (ledger_.exact()) {
    TakeSums();
  } else {
    AddUpJobs();
  }
  ShareOut();
  LogAccounts();
  Report(session);
  return true;
}

void ProportionPlugin::OpenAccounts() {
  accounts_.Reset(cluster_->queues.size());
  what_if_.Reset(cluster_->queues.size());
  // Guarantees of queues that nobody uses are kept free too.
  Resource total_guarantee;
  for (QueueId id : cluster_->queues_by_name) {
    const Queue& queue = cluster_->queues[id];
    if (queue.guarantee) total_guarantee.Add(*queue.guarantee);
  }
  const Resource not_guaranteed = Resource::Exceeding(cluster_->total, total_guarantee);
  for (QueueId id : cluster_->queues_by_name) {
    const Queue& queue = cluster_->queues[id];
    Account& account = accounts_[id];
    if (queue.guarantee) account.guarantee = *queue.guarantee;
    account.real_capability = not_guaranteed;
    account.real_capability.Add(account.guarantee);
    if (!queue.capability) continue;
    // cpu and memory are always named, so "not limited" has to be said with a number.
    Resource limit = *queue.capability;
    for (int kind : {ResourceKinds::kCpu, ResourceKinds::kMemory})
      if (limit.Get(kind) <= 0) limit.Set(kind, std::numeric_limits<double>::max());
    account.real_capability.CapBy(limit, Missing::kInfinity);
  }
}

void ProportionPlugin::AddUpJobs() {
  for (JobId id : cluster_->jobs_by_name) {
    const Job& job = cluster_->jobs[id];
    if (!job.queue.valid()) continue;
    Account& account = accounts_[job.queue];
    account.known = true;
    account.allocated.Add(job.allocated);
    account.request.Add(job.allocated);
    if (job.Count(TaskStatus::kPending) > 0) {
      for (TaskId task : job.tasks)
        if (cluster_->tasks[task].status == TaskStatus::kPending)
          account.request.Add(cluster_->Request(task));
    }
    const bool keeps_minimum = job.phase == JobPhase::kInqueue || RunsAtMinimum(job);
    if (job.min_resources && keeps_minimum) {
      account.inqueue.Add(
          WithoutGatedPods(*cluster_, job, UnallocatedMinResources(job, cluster_->kinds)));
    }
    account.elastic.Add(ElasticResources(job));
  }
}

void ProportionPlugin::TakeSums() {
  for (const QueueId queue : cluster_->queues_by_name) {
    const QueueLedger::Sums& sums = ledger_.Of(queue);
    Account& account = accounts_[queue];
    account.known = sums.jobs > 0;
    account.allocated = sums.allocated.Sum();
    account.request = sums.request.Sum();
    account.inqueue = sums.inqueue.Sum();
    account.elastic = sums.elastic.Sum();
  }
#ifdef KRAFLA_VERIFY
  const Table<QueueId, Account> taken = accounts_;
  OpenAccounts();
  AddUpJobs();
  for (const QueueId queue : cluster_->queues_by_name) {
    const Account& l = taken[queue];
    const Account& r = accounts_[queue];
    KRAFLA_CHECK(l.known == r.known && l.allocated.SameAs(r.allocated) &&
                     l.request.SameAs(r.request) && l.inqueue.SameAs(r.inqueue) &&
                     l.elastic.SameAs(r.elastic),
                 cluster_->QueueName(queue));
  }
#endif
}

void ProportionPlugin::ShareOut() {
  std::vector<QueueId> ids;
  std::vector<FillQueue> queues;
  for (QueueId id : cluster_->queues_by_name) {
    const Account& account = accounts_[id];
    if (!account.known) continue;
    ids.push_back(id);
    queues.push_back({.weight = cluster_->queues[id].weight,
                      .request = account.request,
                      .ceiling = account.real_capability,
                      .guarantee = account.guarantee,
                      .deserved = {}});
  }
  FillDeserved(cluster_->total, queues);
  for (size_t i = 0; i < ids.size(); ++i) {
    Account& account = accounts_[ids[i]];
    account.deserved = std::move(queues[i].deserved);
  }
}

void ProportionPlugin::LogAccounts() const {
  if (!session_->log.V(4)) return;
  const ResourceKinds& kinds = cluster_->kinds;
  session_->log.Line("The total resource is <{}>", ToString(cluster_->total, kinds));
  for (QueueId id : cluster_->queues_by_name) {
    const Account& account = accounts_[id];
    if (!account.known) continue;
    session_->log.Line(
        "The attributes of queue <{}> in proportion: deserved <{}>, realCapability <{}>, "
        "allocate <{}>, request <{}>, elastic <{}>, share <{:.2f}>",
        cluster_->QueueName(id), ToString(account.deserved, kinds),
        ToString(account.real_capability, kinds), ToString(account.allocated, kinds),
        ToString(account.request, kinds), ToString(account.elastic, kinds), ShareOf(account));
  }
}

void ProportionPlugin::Report(Session& session) const {
  session.queue_reports.Reset(accounts_.size());
  for (QueueId id : cluster_->queues_by_name) {
    const Account& account = accounts_[id];
    if (!account.known) continue;
    session.queue_reports[id] = {.deserved = account.deserved,
                                 .allocated = account.allocated,
                                 .share = ShareOf(account),
                                 .known = true};
  }
}

int ProportionPlugin::CompareQueues(QueueId left, QueueId right) const {
  const int32_t left_priority = cluster_->queues[left].priority;
  const int32_t right_priority = cluster_->queues[right].priority;
  if (left_priority != right_priority) return left_priority > right_priority ? -1 : 1;
  const double left_share = ShareOf(accounts_[left]);
  const double right_share = ShareOf(accounts_[right]);
  if (left_share == right_share) return 0;
  return left_share < right_share ? -1 : 1;
}

bool ProportionPlugin::IsOverused(QueueId queue) const {
  const Account& account = accounts_[queue];
  if (!account.known) return false;
  if (!account.deserved.LessEqual(account.allocated, Missing::kZero)) return false;
  if (session_->log.V(3)) {
    session_->log.Line("Queue <{}> is overused: deserved <{}>, allocated <{}>, share <{}>",
                       cluster_->QueueName(queue), ToString(account.deserved, cluster_->kinds),
                       ToString(account.allocated, cluster_->kinds), ShareOf(account));
  }
  return true;
}

bool ProportionPlugin::IsAllocatable(QueueId queue, TaskId task) const {
  const QueueState state = cluster_->queues[queue].state;
  if (state != QueueState::kOpen) {
    if (session_->log.V(3)) {
      session_->log.Line("Queue <{}> is not open, can not allocate tasks: state={}",
                         cluster_->QueueName(queue), ToString(state));
    }
    return false;
  }
  return StaysWithinDeserved(queue, task);
}

bool ProportionPlugin::IsAllocatableWithout(QueueId queue, TaskId task,
                                            std::span<const TaskId> gone) const {
  if (cluster_->queues[queue].state != QueueState::kOpen) return false;
  Resource allocated = accounts_[queue].allocated;
  for (const TaskId other : gone) {
    const JobId job = cluster_->tasks[other].job;
    if (job.valid() && cluster_->jobs[job].queue == queue) allocated.Sub(cluster_->Request(other));
  }
  return StaysWithinDeserved(queue, task, allocated);
}

// A number for which queues may give, and for the most each of them has had since. What queues have
// falls with every victim, and rises again when a statement is taken back: what they have while
// none is open is the most.
uint64_t ProportionPlugin::WhoMayGive() {
  given_by_.clear();
  for (const QueueId queue : cluster_->queues_by_name) {
    Account& account = accounts_[queue];
    const bool gives = account.known && MayGive(account);
    given_by_.push_back(gives);
    if (!gives) continue;
    const bool rises = !account.allocated.LessEqual(account.most_allocated, Missing::kZero);
    if (rises) ++account.rises;
    if (rises || session_->undo.empty()) account.most_allocated = account.allocated;
    given_by_.push_back(account.rises);
  }
  constexpr size_t kMaxKept = 1 << 10;
  if (givers_.size() >= kMaxKept) givers_.clear();
  const auto [known, is_new] = givers_.try_emplace(given_by_, last_givers_ + 1);
  if (is_new) ++last_givers_;
  return known->second;
}

// Whether victims that have so much together leave a queue more than it deserves. A little less is
// taken for more: candidates are added up in another order than votes subtract them.
bool ProportionPlugin::MayGiveMore(QueueId queue, std::span<const double> taken) const {
  constexpr double kSlack = 1;
  const Account& account = accounts_[queue];
  if (!account.known) return false;
  for (uint64_t rest = account.most_allocated.mask(); rest != 0; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    const double left = account.most_allocated.Get(kind) - taken[static_cast<size_t>(kind)];
    if (left + kSlack > account.deserved.Get(kind)) return true;
  }
  return false;
}

Resource ProportionPlugin::ShareMissing(QueueId queue, TaskId task) const {
  const Account& account = accounts_[queue];
  Resource missing;
  if (cluster_->queues[queue].state != QueueState::kOpen || !account.known) {
    missing.Set(ResourceKinds::kCpu, std::numeric_limits<double>::infinity());
    return missing;
  }
  const Resource& request = cluster_->Request(task);
  for (uint64_t rest = request.mask(); rest != 0; rest &= rest - 1) {
    const int kind = __builtin_ctzll(rest);
    if (kind == ResourceKinds::kPods || request.Get(kind) <= 0) continue;
    const double more =
        account.allocated.Get(kind) + request.Get(kind) - account.deserved.Get(kind);
    if (more > 0) missing.Set(kind, more);
  }
  return missing;
}

bool ProportionPlugin::StaysWithinDeserved(QueueId queue, TaskId task) const {
  return StaysWithinDeserved(queue, task, accounts_[queue].allocated);
}

bool ProportionPlugin::StaysWithinDeserved(QueueId queue, TaskId task,
                                           const Resource& allocated) const {
  const Account& account = accounts_[queue];
  if (!account.known) return false;
  if (!task.valid()) return true;
  const Resource& request = cluster_->Request(task);
  // Mostly the first kind tells, and nothing has to be added up to say which it was.
  if (!session_->log.V(3) && request.cpu() > 0 &&
      allocated.cpu() + request.cpu() > account.deserved.cpu())
    return false;
  Resource future = allocated;
  future.Add(request);
  if (future.FirstExceeding(account.deserved, request) < 0) return true;
  if (session_->log.V(3)) {
    session_->log.Line(
        "Queue <{}>: deserved <{}>, allocated <{}>; Candidate <{}>: resource request <{}>",
        cluster_->QueueName(queue), ToString(account.deserved, cluster_->kinds),
        ToString(account.allocated, cluster_->kinds), cluster_->TaskKey(task),
        ToString(request, cluster_->kinds));
  }
  return false;
}

Vote ProportionPlugin::JudgeNewcomer(JobId id) {
  const Job& job = cluster_->jobs[id];
  if (!job.queue.valid()) return Vote::kReject;
  const Queue& queue = cluster_->queues[job.queue];
  if (queue.state != QueueState::kOpen) {
    if (session_->log.V(3)) {
      session_->log.Line("Queue <{}> is not open, reject job <{}>: state={}",
                         cluster_->QueueName(job.queue), cluster_->JobKey(id),
                         ToString(queue.state));
    }
    session_->NoteEnqueueRefusal(
        id, fmt::format("queue {} is {}, not open", cluster_->QueueName(job.queue),
                        ToString(queue.state)));
    return Vote::kReject;
  }
  if (!job.min_resources) return Vote::kPermit;

  // Whoever has more than its minimum can be made to give it back, so that does not count.
  const Account& account = accounts_[job.queue];
  Resource future = *job.min_resources;
  future.Add(account.allocated).Add(account.inqueue).Sub(account.elastic);
  if (future.FirstExceeding(account.real_capability, *job.min_resources) < 0) return Vote::kPermit;
  session_->NoteEnqueueRefusal(
      id, DescribeShortage("queue resource quota insufficient", "insufficient", future,
                           account.real_capability, *job.min_resources, cluster_->kinds));
  return Vote::kReject;
}

void ProportionPlugin::NoteEnqueued(JobId id) {
  const Job& job = cluster_->jobs[id];
  if (!job.min_resources || !job.queue.valid()) return;
  Account& account = accounts_[job.queue];
  session_->undo.Save(account.inqueue);
  account.inqueue.Add(WithoutGatedPods(*cluster_, job, *job.min_resources));
}

Vote ProportionPlugin::ChooseForReclaimer(std::span<const TaskId> candidates,
                                          std::vector<TaskId>& victims) {
  what_if_.Begin();
  for (TaskId candidate : candidates) {
    const Account* account = FindAccount(candidate);
    if (account == nullptr) continue;
    const QueueId queue = cluster_->jobs[cluster_->tasks[candidate].job].queue;
    Resource& allocated = what_if_.At(queue, account->allocated);
    if (!allocated.LessEqual(account->deserved, Missing::kZero)) {
      allocated.Sub(cluster_->Request(candidate));
      victims.push_back(candidate);
    } else {
      notes_->Spared(candidate, VetoCode::kQueueDeserves);
    }
  }
  if (session_->log.V(4))
    session_->log.Line("Victims from proportion plugins are {}", ListOf(*cluster_, victims));
  return Vote::kPermit;
}

Account* ProportionPlugin::FindAccount(TaskId task) {
  const JobId job = cluster_->tasks[task].job;
  if (!job.valid()) return nullptr;
  const QueueId queue = cluster_->jobs[job].queue;
  return queue.valid() && accounts_[queue].known ? &accounts_[queue] : nullptr;
}

void ProportionPlugin::BeginChange(Account& account) {
  session_->undo.Save(account.allocated);
  session_->undo.Save(accounts_state_);
  accounts_state_ = ++last_accounts_state_;
}

void ProportionPlugin::NoteAllocated(TaskId task) {
  Account* account = FindAccount(task);
  if (account == nullptr) return;
  BeginChange(*account);
  account->allocated.Add(cluster_->Request(task));
}

void ProportionPlugin::NoteDeallocated(TaskId task) {
  Account* account = FindAccount(task);
  if (account == nullptr) return;
  BeginChange(*account);
  account->allocated.Sub(cluster_->Request(task));
}

}  // namespace

std::unique_ptr<Plugin> Make_proportion_plugin() {
  return std::make_unique<ProportionPlugin>();
}

}  // namespace krafla
