// cdp, cooldown protection: a pod that has only just been placed is not taken away again. A guard
// for preemption and reclaiming; a closing zone does not wait for cooldowns.
//
// - A pod's cooldown is its own, else its PodGroup's, else its Queue's, else the configured one.
// - A job that has lost pods to others of late has longer cooldowns (cdp.backoff), and none is
//   taken from it when that has happened often enough (cdp.max-evictions). What counts is how often
//   it was disturbed, not how many pods went at once: one per cycle, remembered in CycleMemory.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_duration.h"
#include "base/timestamp.h"
#include "model/zone_drain.h"
#include "session/job_by_name.h"
#include "session/made_room_for.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

constexpr std::string_view kDefaultCooldown = "cdp.default-cooldown";
constexpr std::string_view kMaxEvictions = "cdp.max-evictions";
constexpr std::string_view kEvictionPeriod = "cdp.eviction-period";
constexpr std::string_view kBackoff = "cdp.backoff";
constexpr std::string_view kMaxCooldown = "cdp.max-cooldown";
constexpr int64_t kDefaultPeriodNs = 3'600 * Timestamp::kNsPerSecond;
// Beyond so many a longer memory of one job changes nothing anybody would notice.
constexpr size_t kMostRemembered = 64;

std::optional<std::string> ComplainBelow(int64_t least_ns, std::string_view text,
                                         std::string_view complaint) {
  const Result<int64_t> duration_ns = ParseGoDuration(text);
  if (duration_ns && *duration_ns >= least_ns) return std::nullopt;
  return std::string(complaint);
}

std::optional<std::string> ComplainUnlessNumberFrom1(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= 1) return std::nullopt;
  return "must be 1 or more";
}

class CooldownPlugin final : public Plugin {
 public:
  std::vector<ArgumentSpec> Arguments() const override;
  void Open(Session& session, const PluginOption& option, PluginHooks& hooks) override;
  void Close(Session& session) override;

 private:
  using Times = std::vector<Timestamp>;

  void ReadArguments(const krafla::Arguments& arguments);
  void RecallEvictions();
  bool CountsEvictions() const { return max_evictions_ > 0 || backoff_ > 1; }

  Vote KeepCooled(std::span<const TaskId> candidates, std::vector<TaskId>& victims);
  std::optional<VetoCode> WhySpared(const Task& task) const;
  // When the task may go at last, seen from now.
  Timestamp SparedUntil(const Task& task) const;

  int64_t CooldownNs(const Task& task) const;  // -1: none
  int64_t RaisedNs(int64_t cooldown_ns, size_t evictions) const;
  const Times* EvictionsOf(JobId job) const;
  size_t CountNow(const Times* times) const;
  bool IsOver(Timestamp eviction) const {
    return IsPeriodOver(&eviction, session_->now, period_ns_);
  }

  Session* session_ = nullptr;
  std::optional<VictimNotes> notes_;
  int64_t default_cooldown_ns_ = -1;
  int64_t max_evictions_ = 0;  // 0: no limit
  int64_t period_ns_ = kDefaultPeriodNs;
  double backoff_ = 1;
  int64_t max_cooldown_ns_ = kDefaultPeriodNs;
  std::vector<std::pair<JobId, Times>> evictions_;  // of earlier cycles, by job
  // Of the tasks that were spared in this cycle: another cycle on the same cluster asks about the
  // same tasks until the first of these answers changes.
  std::optional<Timestamp> next_end_;
};

std::vector<ArgumentSpec> CooldownPlugin::Arguments() const {
  return {
      {std::string(kDefaultCooldown), ArgumentType::kDuration,
       "the cooldown of pods for which neither they nor their PodGroup nor their Queue name one; "
       "without it such pods have none",
       [](std::string_view text) { return ComplainBelow(0, text, "must not be negative"); }},
      {std::string(kMaxEvictions), ArgumentType::kInt,
       "how often a job may lose pods to others within the eviction period; without it there is no "
       "limit",
       ComplainUnlessNumberFrom1},
      {std::string(kEvictionPeriod), ArgumentType::kDuration,
       "how long an eviction counts for the limit and the backoff, default 1h",
       [](std::string_view text) { return ComplainBelow(1, text, "must be more than 0"); }},
      {std::string(kBackoff), ArgumentType::kFloat,
       "each eviction within the period makes the cooldown of the job's pods so many times as "
       "long, default 1",
       ComplainUnlessNumberFrom1},
      {std::string(kMaxCooldown), ArgumentType::kDuration,
       "how far the backoff may raise a cooldown, default the eviction period",
       [](std::string_view text) { return ComplainBelow(1, text, "must be more than 0"); }},
  };
}

// What a lenient reading let through although it is out of range has its default.
void CooldownPlugin::ReadArguments(const krafla::Arguments& arguments) {
  default_cooldown_ns_ =
      std::max<int64_t>(-1, arguments.GetDurationNs(kDefaultCooldown).value_or(-1));
  max_evictions_ = std::max<int64_t>(0, arguments.GetInt(kMaxEvictions).value_or(0));
  if (const auto period_ns = arguments.GetDurationNs(kEvictionPeriod); period_ns && *period_ns > 0)
    period_ns_ = *period_ns;
  backoff_ = std::max(1.0, arguments.GetFloat(kBackoff).value_or(1));
  max_cooldown_ns_ = period_ns_;
  if (const auto most_ns = arguments.GetDurationNs(kMaxCooldown); most_ns && *most_ns > 0)
    max_cooldown_ns_ = *most_ns;
}

void CooldownPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  session_ = &session;
  notes_.emplace(session, "cdp");
  ReadArguments(option.arguments);
  RecallEvictions();
  if (session.log.V(4)) session.log.Line("plugin cdp session open");

  hooks.is_guard = true;
  hooks.preemptable = [this](TaskId, std::span<const TaskId> candidates,
                             std::vector<TaskId>& victims) {
    return KeepCooled(candidates, victims);
  };
  hooks.reclaimable = hooks.preemptable;
  hooks.vote_depends_on = [](Asking, TaskId, std::vector<uint64_t>&) {};  // the candidate alone
  // D15: whoever preempts. Volcano's gang preemption does not ask about cooldowns.
  if (session.compat.guards)
    hooks.unified_evictable = [this](const EvictionContext&, std::span<const TaskId> candidates,
                                     std::vector<TaskId>& victims) {
      return KeepCooled(candidates, victims);
    };
  hooks.next_timer = [this] { return next_end_; };
}

void CooldownPlugin::RecallEvictions() {
  if (!CountsEvictions()) return;
  for (const CycleMemory::JobEvictions& entry : session_->memory.job_evictions)
    if (const JobId job = FindJob(session_->cluster, entry.job); job.valid())
      evictions_.emplace_back(job, entry.times);
  std::sort(evictions_.begin(), evictions_.end(),
            [](const auto& l, const auto& r) { return l.first < r.first; });
}

// Remembers who lost pods to another job in this cycle. Jobs that are gone are forgotten.
void CooldownPlugin::Close(Session& session) {
  std::vector<CycleMemory::JobEvictions>& memory = session.memory.job_evictions;
  if (!CountsEvictions()) {
    memory.clear();
    return;
  }
  const Cluster& cluster = session.cluster;
  for (const Eviction& eviction : session.plan.evictions) {
    const JobId job = cluster.tasks[eviction.task].job;
    if (!job.valid() || !MadeRoomFor(cluster, eviction).valid()) continue;
    Times& times = session.memory.JobEvictionsOf(cluster.JobKey(job)).times;
    if (times.empty() || times.back() != session.now) times.push_back(session.now);
  }
  const size_t most = std::max(kMostRemembered, static_cast<size_t>(max_evictions_));
  std::erase_if(memory, [&](CycleMemory::JobEvictions& entry) {
    std::erase_if(entry.times, [&](Timestamp at) { return IsOver(at); });
    if (entry.times.size() > most)
      entry.times.erase(entry.times.begin(), entry.times.end() - static_cast<ptrdiff_t>(most));
    return entry.times.empty() || !FindJob(cluster, entry.job).valid();
  });
}

Vote CooldownPlugin::KeepCooled(std::span<const TaskId> candidates, std::vector<TaskId>& victims) {
  for (TaskId id : candidates) {
    const Task& task = session_->cluster.tasks[id];
    const std::optional<VetoCode> why = WhySpared(task);
    if (!why) {
      victims.push_back(id);
      continue;
    }
    notes_->Spared(id, *why);
    const Timestamp end = SparedUntil(task);
    if (!next_end_ || end < *next_end_) next_end_ = end;
  }
  if (session_->log.V(4))
    session_->log.Line("Victims from cdp plugins are {}", ListOf(session_->cluster, victims));
  return Vote::kPermit;
}

int64_t CooldownPlugin::CooldownNs(const Task& task) const {
  if (task.cooldown_ns >= 0) return task.cooldown_ns;
  if (session_->compat.inherited_cooldown && task.job.valid()) {
    const Job& job = session_->cluster.jobs[task.job];
    if (job.cooldown_ns >= 0) return job.cooldown_ns;
    if (job.queue.valid())
      if (const Queue& queue = session_->cluster.queues[job.queue]; queue.cooldown_ns >= 0)
        return queue.cooldown_ns;
  }
  return default_cooldown_ns_;
}

// A cooldown that is longer than the limit from the start stays as it is.
int64_t CooldownPlugin::RaisedNs(int64_t cooldown_ns, size_t evictions) const {
  if (cooldown_ns >= max_cooldown_ns_ || backoff_ <= 1) return cooldown_ns;
  double raised_ns = static_cast<double>(cooldown_ns);
  for (; evictions > 0 && raised_ns > 0; --evictions) {
    raised_ns *= backoff_;
    if (raised_ns >= static_cast<double>(max_cooldown_ns_)) return max_cooldown_ns_;
  }
  return static_cast<int64_t>(raised_ns);
}

const CooldownPlugin::Times* CooldownPlugin::EvictionsOf(JobId job) const {
  const auto it =
      std::lower_bound(evictions_.begin(), evictions_.end(), job,
                       [](const auto& entry, JobId wanted) { return entry.first < wanted; });
  return it != evictions_.end() && it->first == job ? &it->second : nullptr;
}

size_t CooldownPlugin::CountNow(const Times* times) const {
  if (times == nullptr) return 0;
  return static_cast<size_t>(
      std::count_if(times->begin(), times->end(), [&](Timestamp at) { return !IsOver(at); }));
}

std::optional<VetoCode> CooldownPlugin::WhySpared(const Task& task) const {
  const size_t evictions = CountNow(EvictionsOf(task.job));
  // Only while the pod runs: one that is scheduled and has not come up yet may be taken.
  if (task.pod_running && task.scheduled_at.Present())
    if (const int64_t cooldown_ns = CooldownNs(task);
        cooldown_ns >= 0 &&
        ElapsedNs(task.scheduled_at, session_->now) < RaisedNs(cooldown_ns, evictions))
      return VetoCode::kCooldown;
  if (max_evictions_ > 0 && std::cmp_greater_equal(evictions, max_evictions_))
    return VetoCode::kEvictedTooOften;
  return std::nullopt;
}

// Evictions cease to count one after the other, the earliest first, and each time the cooldown
// becomes shorter: the task may go at the first instant at which both are over.
Timestamp CooldownPlugin::SparedUntil(const Task& task) const {
  const auto plus = [](Timestamp at, int64_t ns) {
    int64_t sum = 0;
    if (__builtin_add_overflow(at.ns, ns, &sum)) sum = std::numeric_limits<int64_t>::max();
    return Timestamp{sum};
  };
  const int64_t cooldown_ns =
      task.pod_running && task.scheduled_at.Present() ? CooldownNs(task) : -1;
  const Times* times = EvictionsOf(task.job);
  size_t evictions = CountNow(times);
  Timestamp from = session_->now;  // so many evictions count from here …
  for (size_t next = times != nullptr ? times->size() - evictions : 0;; ++next) {
    const bool last = evictions == 0;
    const Timestamp until =  // … to here
        last ? Timestamp{std::numeric_limits<int64_t>::max()} : plus((*times)[next], period_ns_);
    if (max_evictions_ == 0 || std::cmp_less(evictions, max_evictions_)) {
      const Timestamp cooled =
          cooldown_ns < 0 ? from : plus(task.scheduled_at, RaisedNs(cooldown_ns, evictions));
      if (last || std::max(from, cooled) < until) return std::max(from, cooled);
    }
    from = std::max(from, until);
    --evictions;
  }
}

}  // namespace

std::unique_ptr<Plugin> Make_cdp_plugin() {
  return std::make_unique<CooldownPlugin>();
}

}  // namespace krafla
