#include "scheduler/eviction_ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "session/made_room_for.h"

namespace krafla {

namespace {

// What the API says of a pod that was to be evicted.
enum class Fate : uint8_t { kOpen, kGone, kStays };

Fate FateOf(LiveCluster& live, std::string_view key, std::string_view uid) {
  const StringPool& strings = live.strings();
  const size_t slash = key.find('/');
  const PodFacts* pod =
      live.FindPod(strings.Find(key.substr(0, slash)), strings.Find(key.substr(slash + 1)));
  if (pod == nullptr || strings.Text(pod->task.uid) != uid) return Fate::kGone;
  if (pod->task.status == TaskStatus::kReleasing) return Fate::kOpen;
  return IsPreemptableStatus(pod->task.status) ? Fate::kStays : Fate::kGone;
}

// From its binding on, else from its start or its creation.
int64_t HeldNodeNs(const Task& task, Timestamp now) {
  return ElapsedNs(std::max({task.created, task.started, task.scheduled_at}), now);
}

template <class Entry>
void EraseJob(std::vector<Entry>& by_job, std::string_view job) {
  std::erase_if(by_job, [&](const Entry& entry) { return entry.job == job; });
}

void ForgetEvictionAt(CycleMemory& memory, std::string_view job, Timestamp at) {
  if (memory.FindJobEvictions(job) == nullptr) return;
  std::vector<Timestamp>& times = memory.JobEvictionsOf(job).times;
  std::erase(times, at);
  if (times.empty()) EraseJob(memory.job_evictions, job);
}

void ForgetZone(CycleMemory& memory, std::string_view zone) {
  std::erase_if(memory.last_evictions,
                [&](const CycleMemory::ZoneEviction& clock) { return clock.zone == zone; });
}

}  // namespace

void EvictionLedger::Settle(LiveCluster& live) {
  for (Cycle& cycle : cycles_) {
    bool taken_back = false;
    for (auto it = cycle.open.begin(); it != cycle.open.end();) {
      Open& eviction = it->second;
      const Fate fate = FateOf(live, it->first, eviction.uid);
      if (fate == Fate::kStays) taken_back |= Refused(cycle, eviction);
      if (fate == Fate::kStays && eviction.counts) refunds_.push_back(cycle.at);
      if (fate == Fate::kGone) Taken(cycle, eviction);
      it = fate != Fate::kOpen ? cycle.open.erase(it) : std::next(it);
    }
    if (taken_back) withdrawn_.insert(withdrawn_.end(), cycle.jobs.begin(), cycle.jobs.end());
  }
  std::erase_if(cycles_, [](const Cycle& cycle) { return cycle.open.empty(); });
  losses_before_ = memory_.job_losses;
  zones_before_ = memory_.last_evictions;
}

bool EvictionLedger::Refused(Cycle& cycle, const Open& eviction) {
  bool taken_back = false;
  for (const Key& key : eviction.entries) {
    Entry& entry = cycle.entries.at(key);
    if (--entry.evictions > 0) continue;
    TakeBack(cycle, key, entry);
    taken_back = true;
  }
  return taken_back;
}

// A later cycle may have written over it: then what was there before is no longer this one.
void EvictionLedger::TakeBack(const Cycle& cycle, const Key& key, const Entry& entry) {
  const std::string& name = key.second;
  switch (key.first) {
    case What::kJobLoss:
      if (const CycleMemory::JobLoss* loss = memory_.FindJobLoss(name);
          loss != nullptr && loss->at == cycle.at) {
        EraseJob(memory_.job_losses, name);
        if (entry.loss_before) memory_.JobLossOf(name) = *entry.loss_before;
      }
      break;
    case What::kJobEviction:
      ForgetEvictionAt(memory_, name, cycle.at);
      break;
    case What::kZoneEviction:
      if (const Timestamp* last = memory_.LastEviction(name);
          last != nullptr && *last == cycle.at) {
        ForgetZone(memory_, name);
        if (entry.zone_before) memory_.SetLastEviction(name, *entry.zone_before);
      }
      break;
  }
  for (Cycle& later : cycles_) {
    const auto other = later.entries.find(key);
    if (&later == &cycle || other == later.entries.end()) continue;
    if (std::optional<CycleMemory::JobLoss>& loss = other->second.loss_before;
        loss && loss->at == cycle.at)
      loss = entry.loss_before;
    if (std::optional<Timestamp>& zone = other->second.zone_before; zone && *zone == cycle.at)
      zone = entry.zone_before;
  }
}

void EvictionLedger::Note(const Session& session) {
  if (session.plan.evictions.empty()) return;
  const Cluster& cluster = session.cluster;
  Cycle& cycle = cycles_.emplace_back();
  cycle.at = session.now;
  for (const Eviction& eviction : session.plan.evictions) {
    const Task& task = cluster.tasks[eviction.task];
    Open& open = cycle.open[cluster.TaskKey(eviction.task)];
    open.uid = cluster.Text(task.uid);
    open.held_node_ns = HeldNodeNs(task, session.now);
    open.counts = session.eviction_limit.on() &&
                  (eviction.for_task.valid() || session.eviction_limit.CountsDrains());
    if (task.job.valid()) {
      open.job = cluster.JobKey(task.job);
      Count(cycle, open, What::kJobLoss, open.job);
      if (const JobId other = MadeRoomFor(cluster, eviction); other.valid()) {
        open.for_job = cluster.JobKey(other);
        Count(cycle, open, What::kJobEviction, open.job);
      }
      cycle.jobs.push_back(open.job);
    }
    if (eviction.reason == EvictionReason::kZoneClosed && eviction.node.valid())
      Count(cycle, open, What::kZoneEviction, cluster.Text(cluster.nodes[eviction.node].zone));
  }
  std::sort(cycle.jobs.begin(), cycle.jobs.end());
  cycle.jobs.erase(std::unique(cycle.jobs.begin(), cycle.jobs.end()), cycle.jobs.end());
}

// Plugins that are not configured remember nothing.
void EvictionLedger::Count(Cycle& cycle, Open& eviction, What what, std::string_view name) {
  Key key{what, name};
  const auto [it, is_new] = cycle.entries.try_emplace(key);
  Entry& entry = it->second;
  ++entry.evictions;
  if (is_new && what == What::kJobLoss) {
    const auto before = std::lower_bound(
        losses_before_.begin(), losses_before_.end(), name,
        [](const CycleMemory::JobLoss& loss, std::string_view job) { return loss.job < job; });
    if (before != losses_before_.end() && before->job == name) entry.loss_before = *before;
  }
  if (is_new && what == What::kZoneEviction)
    for (const CycleMemory::ZoneEviction& clock : zones_before_)
      if (clock.zone == name) entry.zone_before = clock.at;
  eviction.entries.push_back(std::move(key));
}

void EvictionLedger::Taken(const std::string& pod) {
  for (auto cycle = cycles_.rbegin(); cycle != cycles_.rend(); ++cycle)
    if (const auto it = cycle->open.find(pod); it != cycle->open.end())
      return Taken(*cycle, it->second);
}

void EvictionLedger::Taken(const Cycle& cycle, Open& eviction) {
  if (std::exchange(eviction.taken, true) || eviction.for_job.empty()) return;
  for (EvictionLoops::Loop& loop : loops_.Add(cycle.at, eviction.for_job, eviction.job)) {
    std::string text = loops_.Describe(loop);
    rings_.push_back({std::move(loop.jobs), std::move(text)});
  }
  if (auto storm = storms_.Add({.at = cycle.at,
                                .evicting_job = eviction.for_job,
                                .victim_job = eviction.job,
                                .held_node_ns = eviction.held_node_ns}))
    rings_.push_back({std::move(storm->jobs), std::move(storm->text), /*is_storm=*/true});
}

void EvictionLedger::ShiftBy(int64_t ns) {
  const auto shift = [&](Timestamp& at) { at = Shifted(at, ns); };
  for (Cycle& cycle : cycles_) {
    shift(cycle.at);
    for (auto& [key, entry] : cycle.entries) {
      if (entry.zone_before) shift(*entry.zone_before);
      if (!entry.loss_before) continue;
      shift(entry.loss_before->at);
      shift(entry.loss_before->ended);
    }
  }
  for (Timestamp& cycle : refunds_) shift(cycle);
}

std::vector<std::string> EvictionLedger::TakeWithdrawn() {
  std::vector<std::string> jobs = std::exchange(withdrawn_, {});
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

size_t EvictionLedger::open() const {
  size_t count = 0;
  for (const Cycle& cycle : cycles_) count += cycle.open.size();
  return count;
}

}  // namespace krafla
