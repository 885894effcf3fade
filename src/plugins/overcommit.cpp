// Lets jobs in as long as what the waiting ones need fits into a cluster that is thought to be
// larger than it is by a factor.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fair_share/job_reservation.h"
#include "fair_share/running_sum.h"
#include "fair_share/shortage.h"
#include "session/plugin.h"
#include "session/session.h"

namespace krafla {

namespace {

constexpr std::string_view kFactorKey = "overcommit-factor";
constexpr double kDefaultFactor = 1.2;

class OvercommitPlugin final : public Plugin {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {{.key = std::string(kFactorKey),
             .type = ArgumentType::kFloat,
             .help = "how many times the cluster's resources jobs may be let in for; at least 1, "
                     "1.2 when not given"}};
  }

  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;
  bool Reopen(Session& session, const ClusterChanges& changes) override;

 private:
  struct Kept {
    bool any = false;
    Resource amount;
  };
  void AddUp();
  void SetRoom(const Resource& used);
  // What is kept for a job that was let in and does not hold it yet.
  Kept KeptFor(JobId job) const;
  void Follow(const ClusterChanges& changes);
  Vote JudgeNewcomer(JobId job);
  void NoteEnqueued(JobId job);

  Session* session_ = nullptr;
  const Cluster* cluster_ = nullptr;
  Resource room_;     // the enlarged cluster without what is used; may be less than nothing
  Resource inqueue_;  // kept for jobs that were let in and do not hold it yet. Logged.
  double factor_ = kDefaultFactor;

  // Made when a session is opened again: the addends, and sums that follow them.
  bool follows_ = false;
  Table<NodeId, Resource> used_of_;
  Table<JobId, Kept> kept_for_;
  RunningSum used_sum_;
  RunningSum inqueue_sum_;
};

double ReadFactor(const PluginOption& option, Log& log) {
  const double factor = option.arguments.GetFloat(kFactorKey).value_or(kDefaultFactor);
  if (factor >= 1) return factor;
  log.Line("overcommit-factor must be at least 1, the default is used: given={} default={}", factor,
           kDefaultFactor);
  return kDefaultFactor;
}

void OvercommitPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  session_ = &session;
  cluster_ = &session.cluster;

  factor_ = ReadFactor(option, session.log);
  AddUp();

  hooks.job_enqueueable = [this](JobId job) { return JudgeNewcomer(job); };
  hooks.job_enqueued = [this](JobId job) { NoteEnqueued(job); };
}

void OvercommitPlugin::SetRoom(const Resource& used) {
  room_ = cluster_->total;
  room_.Scale(factor_).Sub(used);
}

OvercommitPlugin::Kept OvercommitPlugin::KeptFor(JobId id) const {
  const Job& job = cluster_->jobs[id];
  if (!job.min_resources) return {};
  // A job that waits keeps its whole minimum, whatever it holds already.
  if (job.phase == JobPhase::kInqueue)
    return {true, WithoutGatedPods(*cluster_, job, *job.min_resources)};
  if (RunsAtMinimum(job))
    return {true, WithoutGatedPods(*cluster_, job, UnallocatedMinResources(job, cluster_->kinds))};
  return {};
}

void OvercommitPlugin::AddUp() {
  Resource used;
  for (NodeId node : cluster_->nodes_by_name) used.Add(cluster_->used[node]);
  SetRoom(used);
  inqueue_ = Resource();
  for (JobId job : cluster_->jobs_by_name)
    if (cluster_->jobs[job].min_resources)
      if (const Kept kept = KeptFor(job); kept.any) inqueue_.Add(kept.amount);
}

void OvercommitPlugin::Follow(const ClusterChanges& changes) {
  if (!follows_) {
    follows_ = true;
    used_of_ = cluster_->used;
    for (NodeId node : cluster_->nodes_by_name) used_sum_.Add(used_of_[node]);
    kept_for_.Reset(cluster_->jobs.size());
    for (JobId job : cluster_->jobs_by_name)
      if (const Kept kept = kept_for_[job] = KeptFor(job); kept.any) inqueue_sum_.Add(kept.amount);
    return;
  }
  for (const NodeId node : changes.nodes) {
    used_sum_.Remove(used_of_[node]);
    used_of_[node] = cluster_->used[node];
    used_sum_.Add(used_of_[node]);
  }
  FollowJobs(changes, kept_for_, [&](const Kept& kept) {
    if (kept.any) inqueue_sum_.Remove(kept.amount);
  });
  for (const JobId job : changes.jobs) {
    Kept& kept = kept_for_[job];
    if (kept.any) inqueue_sum_.Remove(kept.amount);
    kept = KeptFor(job);
    if (kept.any) inqueue_sum_.Add(kept.amount);
  }
}

bool OvercommitPlugin::Reopen(Session&, const ClusterChanges& changes) {
  Follow(changes);
  if (!used_sum_.exact() || !inqueue_sum_.exact()) {
    AddUp();
    return true;
  }
#ifdef KRAFLA_VERIFY
  AddUp();
  const Resource room = room_;
  const Resource inqueue = inqueue_;
#endif
  SetRoom(used_sum_.Sum());
  inqueue_ = inqueue_sum_.Sum();
#ifdef KRAFLA_VERIFY
  KRAFLA_CHECK(room.SameAs(room_) && inqueue.SameAs(inqueue_), "sums have followed");
#endif
  return true;
}

Vote OvercommitPlugin::JudgeNewcomer(JobId id) {
  const Job& job = cluster_->jobs[id];
  if (!job.min_resources) return Vote::kPermit;
  Resource future = inqueue_;
  future.Add(*job.min_resources);
  if (future.FirstExceeding(room_, *job.min_resources) < 0) return Vote::kPermit;
  if (session_->log.V(4)) {
    session_->log.Line("Resource in cluster is overused, reject job <{}> to be inqueue",
                       cluster_->JobKey(id));
  }
  session_->NoteEnqueueRefusal(
      id, DescribeShortage("resource in cluster is overused", "overused", future, room_,
                           *job.min_resources, cluster_->kinds));
  return Vote::kReject;
}

void OvercommitPlugin::NoteEnqueued(JobId id) {
  const Job& job = cluster_->jobs[id];
  if (!job.min_resources) return;
  session_->undo.Save(inqueue_);
  inqueue_.Add(WithoutGatedPods(*cluster_, job, *job.min_resources));
}

}  // namespace

std::unique_ptr<Plugin> Make_overcommit_plugin() {
  return std::make_unique<OvercommitPlugin>();
}

}  // namespace krafla
