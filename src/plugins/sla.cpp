// No job waits longer than agreed: jobs are ordered by when their time is up, and a job whose time
// is up is let in and keeps the places it has been promised, whoever else might want them.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/go_duration.h"
#include "session/plugin.h"
#include "session/session.h"

namespace krafla {

namespace {

constexpr std::string_view kWaitingTimeKey = "sla-waiting-time";

std::optional<std::string> ComplainUnlessPositive(std::string_view text) {
  const Result<int64_t> duration_ns = ParseGoDuration(text);
  if (duration_ns && *duration_ns > 0) return std::nullopt;
  return "must be more than 0";
}

class SlaPlugin final : public Plugin {
 public:
  std::vector<ArgumentSpec> Arguments() const override {
    return {{.key = std::string(kWaitingTimeKey),
             .type = ArgumentType::kDuration,
             .help = "how long a job may wait that does not say so itself; without it such jobs "
                     "have no limit",
             .validate = ComplainUnlessPositive}};
  }

  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;

 private:
  std::optional<int64_t> WaitingTimeNs(const Job& job) const;
  // When the job's time is up; nothing when it has no limit.
  std::optional<int64_t> DeadlineNs(const Job& job) const;
  int CompareJobs(JobId left, JobId right) const;
  Vote PermitWhenTimeIsUp(JobId job);

  const Cluster* cluster_ = nullptr;
  Timestamp now_;
  std::optional<int64_t> default_waiting_time_ns_;
  // Of the jobs that were asked about in this cycle and whose time was not up. Another cycle on the
  // same cluster asks the same questions until the first of these answers changes.
  std::optional<Timestamp> next_deadline_;
};

void SlaPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  cluster_ = &session.cluster;
  now_ = session.now;
  default_waiting_time_ns_ = option.arguments.GetDurationNs(kWaitingTimeKey);
  if (default_waiting_time_ns_ && *default_waiting_time_ns_ <= 0) {
    session.log.Line("sla-waiting-time must be more than 0, it is not used: given={}",
                     FormatGoDuration(*default_waiting_time_ns_));
    default_waiting_time_ns_.reset();
  }

  hooks.job_order = [this](JobId l, JobId r) { return CompareJobs(l, r); };
  hooks.job_enqueueable = [this](JobId job) { return PermitWhenTimeIsUp(job); };
  hooks.job_pipelined = [this](JobId job) { return PermitWhenTimeIsUp(job); };
  hooks.next_timer = [this] { return next_deadline_; };
}

std::optional<int64_t> SlaPlugin::WaitingTimeNs(const Job& job) const {
  return job.waiting_time_ns > 0 ? job.waiting_time_ns : default_waiting_time_ns_;
}

std::optional<int64_t> SlaPlugin::DeadlineNs(const Job& job) const {
  const std::optional<int64_t> waiting_ns = WaitingTimeNs(job);
  if (!waiting_ns) return std::nullopt;
  // Beyond the last instant there is the last instant. An absent creation time is the first one.
  int64_t deadline_ns = 0;
  if (__builtin_add_overflow(job.created.ns, *waiting_ns, &deadline_ns))
    return std::numeric_limits<int64_t>::max();
  return deadline_ns;
}

int SlaPlugin::CompareJobs(JobId left, JobId right) const {
  const std::optional<int64_t> l = DeadlineNs(cluster_->jobs[left]);
  const std::optional<int64_t> r = DeadlineNs(cluster_->jobs[right]);
  // Jobs that may wait for ever come last.
  if (!l || !r) return !l && !r ? 0 : !l ? 1 : -1;
  return *l < *r ? -1 : *l > *r ? 1 : 0;
}

Vote SlaPlugin::PermitWhenTimeIsUp(JobId id) {
  const Job& job = cluster_->jobs[id];
  const std::optional<int64_t> waiting_ns = WaitingTimeNs(job);
  if (!waiting_ns) return Vote::kAbstain;
  if (ElapsedNs(job.created, now_) >= *waiting_ns) return Vote::kPermit;
  const Timestamp deadline{*DeadlineNs(job)};
  if (!next_deadline_ || deadline < *next_deadline_) next_deadline_ = deadline;
  return Vote::kAbstain;
}

}  // namespace

std::unique_ptr<Plugin> Make_sla_plugin() {
  return std::make_unique<SlaPlugin>();
}

}  // namespace krafla
