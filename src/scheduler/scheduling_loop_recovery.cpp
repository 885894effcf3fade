// What becomes of a cycle in which an internal check fails. Nothing of it leaves the loop: its
// session is dropped without being rewound, memory and limits are as before it, the tables are
// rebuilt from the facts. Then, step by step:
//   1. a trial of the same cycle shows whether that cured the fault; then the cycle is run again;
//   2. else the objects at fault are found by trials and quarantined, and the cycle is run again;
//   3. the action that failed is skipped for a while;
//   4. no cycle is run for a while, which grows from one second to one minute.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/recovery.h"
#include "config/skipped_actions.h"
#include "scheduler/culprit_search.h"
#include "scheduler/scheduling_loop.h"

namespace krafla {

namespace {

constexpr int64_t kSkipNs = 600 * Timestamp::kNsPerSecond;
constexpr int64_t kLongestPauseNs = 60 * Timestamp::kNsPerSecond;
constexpr int kMostAttempts = 12;
// So many jobs that failed one check within this time are no coincidence.
constexpr size_t kManyJobs = 3;
constexpr int64_t kManyJobsWithinNs = 600 * Timestamp::kNsPerSecond;
// For all trials of one cycle: a search keeps every other job waiting.
constexpr int64_t kLongestSearchNs = 20 * Timestamp::kNsPerSecond;
// While cycles are suspended, a search of all objects is made only now and then.
constexpr int kSearchEvery = 10;

// "src/a.cpp:12"
std::string PlaceOf(const std::string& check) {
  return check.substr(0, check.find(": "));
}

// Of the thread's session; null when none was open.
CycleFailure FailureInHand(std::string check, const Session* session) {
  CycleFailure failure{.check = std::move(check),
                       .step = in_hand.step,
                       .name = std::string(in_hand.name),
                       .job = std::nullopt};
  if (session == nullptr || in_hand.job.value >= session->cluster.jobs.size()) return failure;
  // No action changes names.
  const Job& job = session->cluster.jobs[in_hand.job];
  failure.job = {LiveCluster::ObjectName::Kind::kPodGroup, job.ns, job.name};
  return failure;
}

}  // namespace

struct SchedulingLoop::BeforeCycle {
  CycleMemory memory;
  EvictionWindow window;
  bool counts_under_way;
  bool reloaded;
  std::optional<int64_t> announced_until;
  std::optional<Announcement> announcement;
};

void SchedulingLoop::RecoverFromFailedChecks(RecoveryHooks hooks) {
  recovery_ = std::make_unique<Recovery>();
  recovery_->hooks = std::move(hooks);
}

const SchedulingLoop::Trouble& SchedulingLoop::trouble() const {
  static const Trouble kNone;
  return recovery_ == nullptr ? kNone : recovery_->trouble;
}

std::vector<SchedulingLoop::FailedCycle> SchedulingLoop::TakeFailures() {
  return recovery_ == nullptr ? std::vector<FailedCycle>() : std::exchange(recovery_->failures, {});
}

std::string SchedulingLoop::DescribeStep(const CycleFailure& failure) {
  std::string text;
  switch (failure.step) {
    case InHand::Step::kNone:
      text = "before the first plugin opened";
      break;
    case InHand::Step::kOpen:
      text = fmt::format("while plugin {} opened", failure.name);
      break;
    case InHand::Step::kAction:
      text = fmt::format("in action {}", failure.name);
      break;
    case InHand::Step::kClose:
      text = fmt::format("while plugin {} closed", failure.name);
      break;
  }
  if (failure.job)
    text += fmt::format(" at job {}/{}", live_.strings().Text(failure.job->ns),
                        live_.strings().Text(failure.job->name));
  return text;
}

void SchedulingLoop::NoteFailure(const CycleFailure& failure) {
  recovery_->failures.push_back({failure.check, DescribeStep(failure)});
}

// False: no cycle could be run.
bool SchedulingLoop::DecideRecovering(Timestamp now) {
  Recovery& r = *recovery_;
  for (const Timestamp cycle : evictions_.TakeRefunds()) window_.Refund(cycle);
  const BeforeCycle before{memory_,   window_,          counts_under_way_,
                           reloaded_, announced_until_, announcement_};
  if (!r.trouble.skipped_actions.empty() && (now >= r.skipped_until || now < r.skipped_at))
    SetSkippedActions({});
  if (steady_clock_) r.search_until_ns = steady_clock_() + kLongestSearchNs;
  CycleFailure last;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    in_hand = {};
    r.tried = memory_;
    std::optional<std::string> check = RunRecovering([&] { Decide(now); });
    if (!check) {
      if (!r.trouble.skipped_actions.empty() && (!next_timer_ || r.skipped_until < *next_timer_))
        next_timer_ = r.skipped_until;
      r.trouble.suspended_since.reset();
      r.trouble.check.clear();
      r.suspensions = 0;
      return true;
    }
    last = FailureInHand(std::move(*check), session_.get());
    NoteFailure(last);
    // Not before: what is in hand is named in the session.
    session_.reset();
    live_.DistrustTables();
    memory_ = before.memory;
    window_ = before.window;
    counts_under_way_ = before.counts_under_way;
    reloaded_ = before.reloaded;
    announced_until_ = before.announced_until;
    announcement_ = before.announcement;
    // While cycles are suspended the session and the tables were new already.
    if (r.suspensions % kSearchEvery == 0) {
      const bool again = TryWithout(now, {}).has_value();
      // What was kept from cycle to cycle was at fault, and is gone.
      if (!again && attempt == 0) continue;
      if (again && LeaveOutCulprits(now, last)) continue;
    }
    if (last.step == InHand::Step::kAction && SkipAction(last.name, now)) continue;
    break;
  }
  Suspend(now, last);
  return false;
}

bool SchedulingLoop::LeaveOutCulprits(Timestamp now, const CycleFailure& failure) {
  Recovery& r = *recovery_;
  std::vector<Timestamp>& failed_before = r.jobs_by_place[PlaceOf(failure.check)];
  std::erase_if(failed_before,
                [&](Timestamp at) { return now < at || at.ns + kManyJobsWithinNs <= now.ns; });
  bool is_cut_short = false;
  CulpritSearch search([&](LiveCluster::ObjectName::Kind kind) { return live_.NamesOf(kind); },
                       [&](std::span<const LiveCluster::ObjectName> left_out) {
                         is_cut_short |= steady_clock_ && steady_clock_() >= r.search_until_ns;
                         return is_cut_short ? failure : TryWithout(now, left_out);
                       });
  const std::vector<LiveCluster::ObjectName> culprits =
      search.Find(failure, failed_before.size() >= kManyJobs);
  if (is_cut_short) return false;
  bool any = false;
  for (const LiveCluster::ObjectName& culprit : culprits) {
    using Kind = LiveCluster::ObjectName::Kind;
    if (culprit.kind == Kind::kPodGroup) failed_before.push_back(now);
    any |= r.hooks.quarantine({.kind = culprit.kind,
                               .ns = std::string(live_.strings().Text(culprit.ns)),
                               .name = std::string(live_.strings().Text(culprit.name)),
                               .check = failure.check});
  }
  return any;
}

// The cycle once more on tables without these objects, to see whether it fails. It leaves nothing.
std::optional<CycleFailure> SchedulingLoop::TryWithout(
    Timestamp now, std::span<const LiveCluster::ObjectName> left_out) {
  if (recovery_->hooks.on_trial) recovery_->hooks.on_trial();
  in_hand = {};
  Log silent(0);
  CycleMemory memory = recovery_->tried;
  std::unique_ptr<Session> session;
  std::optional<std::string> check = RunRecovering([&] {
    session = std::make_unique<Session>(live_.BuildWithout(left_out), ConfigInForce(),
                                        SessionOptions{.now = now,
                                                       .zone = zone_,
                                                       .memory = &memory,
                                                       .make_plugin = {},
                                                       .on_step = on_step_,
                                                       .wrap_hooks = wrap_hooks_},
                                        silent);
    session->NotePhases();
    session->RunActions();
    (void)session->NextTimer();
  });
  std::optional<CycleFailure> failure;
  if (check) failure = FailureInHand(std::move(*check), session.get());
  session.reset();
  live_.DistrustTables();
  return failure;
}

void SchedulingLoop::ShiftRecovery(int64_t by_ns) {
  Recovery& r = *recovery_;
  for (Timestamp* at : {&r.skipped_at, &r.skipped_until, &r.failed_at, &r.retry_at})
    *at = Shifted(*at, by_ns);
  if (r.trouble.suspended_since)
    r.trouble.suspended_since = Shifted(*r.trouble.suspended_since, by_ns);
  for (auto& [place, times] : r.jobs_by_place)
    for (Timestamp& at : times) at = Shifted(at, by_ns);
}

bool SchedulingLoop::SkipAction(const std::string& action, Timestamp now) {
  Recovery& r = *recovery_;
  std::vector<std::string> skipped = r.trouble.skipped_actions;
  if (std::find(skipped.begin(), skipped.end(), action) != skipped.end()) return false;
  skipped.push_back(action);
  r.skipped_at = now;
  r.skipped_until = Timestamp{now.ns + kSkipNs};
  SetSkippedActions(std::move(skipped));
  return true;
}

void SchedulingLoop::SetSkippedActions(std::vector<std::string> actions) {
  session_.reset();
  seen_version_ = 0;
  without_actions_.reset();
  if (!actions.empty()) {
    without_actions_ = config_;
    LeaveOutActions(*without_actions_, actions);
  }
  recovery_->trouble.skipped_actions = std::move(actions);
  if (recovery_->hooks.on_skip) recovery_->hooks.on_skip(recovery_->trouble.skipped_actions);
}

void SchedulingLoop::Suspend(Timestamp now, const CycleFailure& failure) {
  Recovery& r = *recovery_;
  const int64_t pause =
      std::min<int64_t>(Timestamp::kNsPerSecond << std::min(r.suspensions, 6), kLongestPauseNs);
  ++r.suspensions;
  if (!r.trouble.suspended_since) r.trouble.suspended_since = now;
  r.trouble.check = failure.check;
  // What changes meanwhile waits, so that a cluster in motion does not repeat the search at once.
  r.failed_at = now;
  r.retry_at = Timestamp{now.ns + pause};
  next_timer_ = r.retry_at;
  decided_nothing_ = false;
  seen_version_ = live_.version();
}

// After the decisions have been handed over: what they change must come about, whatever fails.
void SchedulingLoop::ConcludeRecovering(const std::function<void()>& rewind,
                                        const std::function<void()>& assume) {
  in_hand = {};
  std::optional<std::string> check = RunRecovering([&] {
    rewind();
    assume();
  });
  if (!check) return;
  NoteFailure(FailureInHand(std::move(*check), nullptr));
  session_.reset();
  live_.DistrustTables();
  assume();  // of the facts alone
}

}  // namespace krafla
