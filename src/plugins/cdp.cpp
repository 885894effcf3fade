// cdp, cooldown protection: a pod that has only just been placed is not taken away again. A guard
// for preemption and reclaiming; a closing zone does not wait for cooldowns.
//
// - A pod's cooldown is its own, else its PodGroup's, else its Queue's, else the configured one.
// - While the scheduler's clock is not trusted (CycleMemory::clock_skew_s) no cooldown ends.
// - A job that has lost pods to others of late has longer cooldowns (cdp.backoff), and none is
//   taken from it when that has happened often enough (cdp.max-evictions). What counts is how often
//   it was disturbed, not how many pods went at once: one per cycle, remembered in CycleMemory.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_duration.h"
#include "base/timestamp.h"
#include "session/cooldown_settings.h"
#include "session/job_by_name.h"
#include "session/made_room_for.h"
#include "session/plugin.h"
#include "session/session.h"
#include "session/victim_notes.h"

namespace krafla {

namespace {

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

  void RecallEvictions();

  Vote KeepCooled(std::span<const TaskId> candidates, std::vector<TaskId>& victims);
  std::optional<VetoCode> WhySpared(const Task& task) const;
  bool NeedsTheClock(const Task& task, int64_t cooldown_ns) const;
  const Times* EvictionsOf(JobId job) const;

  Session* session_ = nullptr;
  std::optional<VictimNotes> notes_;
  CooldownSettings settings_;
  std::vector<std::pair<JobId, Times>> evictions_;  // of earlier cycles, by job
  // Of the tasks that were spared in this cycle: another cycle on the same cluster asks about the
  // same tasks until the first of these answers changes.
  std::optional<Timestamp> next_end_;
};

std::vector<ArgumentSpec> CooldownPlugin::Arguments() const {
  return {
      {std::string(CooldownSettings::kDefaultCooldown), ArgumentType::kDuration,
       "the cooldown of pods for which neither they nor their PodGroup nor their Queue name one; "
       "without it such pods have none",
       [](std::string_view text) { return ComplainBelow(0, text, "must not be negative"); }},
      {std::string(CooldownSettings::kMaxEvictions), ArgumentType::kInt,
       "how often a job may lose pods to others within the eviction period; without it there is no "
       "limit",
       ComplainUnlessNumberFrom1},
      {std::string(CooldownSettings::kEvictionPeriod), ArgumentType::kDuration,
       "how long an eviction counts for the limit and the backoff, default 1h",
       [](std::string_view text) { return ComplainBelow(1, text, "must be more than 0"); }},
      {std::string(CooldownSettings::kBackoff), ArgumentType::kFloat,
       "each eviction within the period makes the cooldown of the job's pods so many times as "
       "long, default 1",
       ComplainUnlessNumberFrom1},
      {std::string(CooldownSettings::kMaxCooldown), ArgumentType::kDuration,
       "how far the backoff may raise a cooldown, default the eviction period",
       [](std::string_view text) { return ComplainBelow(1, text, "must be more than 0"); }},
  };
}

void CooldownPlugin::Open(Session& session, const PluginOption& option, PluginHooks& hooks) {
  session_ = &session;
  notes_.emplace(session, "cdp");
  settings_ = ReadCooldownSettings(option.arguments, session.compat);
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
  if (!settings_.CountsEvictions()) return;
  for (const CycleMemory::JobEvictions& entry : session_->memory.job_evictions)
    if (const JobId job = FindJob(session_->cluster, entry.job); job.valid())
      evictions_.emplace_back(job, entry.times);
  std::sort(evictions_.begin(), evictions_.end(),
            [](const auto& l, const auto& r) { return l.first < r.first; });
}

// Remembers who lost pods to another job in this cycle. Jobs that are gone are forgotten.
void CooldownPlugin::Close(Session& session) {
  std::vector<CycleMemory::JobEvictions>& memory = session.memory.job_evictions;
  if (!settings_.CountsEvictions()) {
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
  const size_t most = std::max(kMostRemembered, static_cast<size_t>(settings_.max_evictions));
  const bool clock_is_trusted = !session.memory.clock_skew_s;
  std::erase_if(memory, [&](CycleMemory::JobEvictions& entry) {
    if (clock_is_trusted)
      std::erase_if(entry.times, [&](Timestamp at) { return settings_.IsOver(at, session.now); });
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
    if (*why == VetoCode::kClockSkew) continue;  // no instant ends that
    const Timestamp end =
        settings_.SparedUntil(session_->cluster, task, EvictionsOf(task.job), session_->now);
    if (!next_end_ || end < *next_end_) next_end_ = end;
  }
  if (session_->log.V(4))
    session_->log.Line("Victims from cdp plugins are {}", ListOf(session_->cluster, victims));
  return Vote::kPermit;
}

const CooldownPlugin::Times* CooldownPlugin::EvictionsOf(JobId job) const {
  const auto it =
      std::lower_bound(evictions_.begin(), evictions_.end(), job,
                       [](const auto& entry, JobId wanted) { return entry.first < wanted; });
  return it != evictions_.end() && it->first == job ? &it->second : nullptr;
}

std::optional<VetoCode> CooldownPlugin::WhySpared(const Task& task) const {
  const size_t evictions = settings_.CountNow(EvictionsOf(task.job), session_->now);
  const int64_t cooldown_ns =
      IsCooling(task) ? settings_.LengthNs(session_->cluster, task) : int64_t{-1};
  if (cooldown_ns >= 0 &&
      ElapsedNs(task.scheduled_at, session_->now) < settings_.RaisedNs(cooldown_ns, evictions))
    return VetoCode::kCooldown;
  if (settings_.TooOften(evictions)) return VetoCode::kEvictedTooOften;
  if (session_->memory.clock_skew_s && NeedsTheClock(task, cooldown_ns))
    return VetoCode::kClockSkew;
  return std::nullopt;
}

// Whether it may be evicted only because a cooldown or an eviction period is over.
bool CooldownPlugin::NeedsTheClock(const Task& task, int64_t cooldown_ns) const {
  const Times* evictions = EvictionsOf(task.job);
  return cooldown_ns > 0 || (evictions != nullptr && settings_.TooOften(evictions->size()));
}

}  // namespace

std::unique_ptr<Plugin> Make_cdp_plugin() {
  return std::make_unique<CooldownPlugin>();
}

}  // namespace krafla
