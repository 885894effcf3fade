// Lets jobs in as long as what the waiting ones need fits into a cluster that is thought to be
// larger than it is by a factor.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fair_share/job_reservation.h"
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

 private:
  Vote JudgeNewcomer(JobId job);
  void NoteEnqueued(JobId job);

  Session* session_ = nullptr;
  const Cluster* cluster_ = nullptr;
  Resource room_;     // the enlarged cluster without what is used; may be less than nothing
  Resource inqueue_;  // kept for jobs that were let in and do not hold it yet. Logged.
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

  Resource used;
  for (NodeId node : cluster_->nodes_by_name) used.Add(cluster_->used[node]);
  room_ = cluster_->total;
  room_.Scale(ReadFactor(option, session.log)).Sub(used);

  inqueue_ = Resource();
  for (JobId id : cluster_->jobs_by_name) {
    const Job& job = cluster_->jobs[id];
    if (!job.min_resources) continue;
    // A job that waits keeps its whole minimum, whatever it holds already.
    if (job.phase == JobPhase::kInqueue) {
      inqueue_.Add(WithoutGatedPods(*cluster_, job, *job.min_resources));
    } else if (RunsAtMinimum(job)) {
      inqueue_.Add(WithoutGatedPods(*cluster_, job, UnallocatedMinResources(job, cluster_->kinds)));
    }
  }

  hooks.job_enqueueable = [this](JobId job) { return JudgeNewcomer(job); };
  hooks.job_enqueued = [this](JobId job) { NoteEnqueued(job); };
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
