#include "sim/compare.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "sim/local_time.h"
#include "sim/run_tracker.h"

namespace krafla {

class RunRecorder::State {
 public:
  explicit State(TimeZone zone) : summary_(std::move(zone)) {}

  void On(const SimEvent& event) {
    summary_.On(event);
    const TrackedStep& step = tracker_.Apply(event);
    switch (event.kind) {
      case SimEventKind::kJobSubmitted: {
        JobRecord& job = record_.jobs[event.job];
        job.queue = event.queue;
        job.submitted = event.at;
        break;
      }
      case SimEventKind::kJobCompleted:
        if (const auto job = record_.jobs.find(event.job); job != record_.jobs.end())
          job->second.completion = SecondsBetween(job->second.submitted, event.at);
        break;
      case SimEventKind::kPodBound: {
        PodRecord& pod = record_.pods[event.pod];
        pod.job = event.job;
        if (!pod.first_node.empty()) break;
        pod.first_node = event.node;
        pod.first_zone = event.zone;
        break;
      }
      case SimEventKind::kPodEvicted: {
        if (step.place_evictions == 0) break;
        PodRecord& pod = record_.pods[event.pod];
        pod.job = event.job;
        ++evictions_;
        if (pod.evictions++ == 0) {
          pod.evicted = event.at;
          pod.eviction_rank = evictions_;
          pod.action = event.action;
          pod.reason = event.reason;
          pod.for_job = event.for_job;
        }
        if (const auto job = record_.jobs.find(event.job); job != record_.jobs.end())
          ++job->second.evictions;
        break;
      }
      default:
        break;
    }
    if (!step.reached_minimum || step.job < 0) return;
    if (const auto job = record_.jobs.find(event.job); job != record_.jobs.end())
      job->second.wait = SecondsBetween(job->second.submitted, event.at);
  }

  RunRecord Finish() {
    record_.summary = summary_.Finish();
    return std::move(record_);
  }

 private:
  SummaryCollector summary_;
  RunTracker tracker_;
  RunRecord record_;
  int64_t evictions_ = 0;
};

RunRecorder::RunRecorder(TimeZone zone) : state_(std::make_unique<State>(std::move(zone))) {}
RunRecorder::~RunRecorder() = default;
void RunRecorder::On(const SimEvent& event) {
  state_->On(event);
}
RunRecord RunRecorder::Finish() {
  return state_->Finish();
}

namespace {

// Both maps in the order of their keys: visit(key, before or null, after or null).
template <class Map, class Visit>
void SideBySide(const Map& before, const Map& after, Visit visit) {
  auto b = before.begin();
  auto a = after.begin();
  while (b != before.end() || a != after.end()) {
    const bool take_b = b != before.end() && (a == after.end() || b->first <= a->first);
    const bool take_a = a != after.end() && (b == before.end() || a->first <= b->first);
    visit(take_b ? b->first : a->first, take_b ? &b->second : nullptr,
          take_a ? &a->second : nullptr);
    if (take_b) ++b;
    if (take_a) ++a;
  }
}

// Never counts as longer than any wait.
double Change(const WaitChange& wait) {
  constexpr double kNever = 1e15;
  return wait.after.value_or(kNever) - wait.before.value_or(kNever);
}

void CompareJobs(const RunRecord& before, const RunRecord& after, Comparison& result) {
  SideBySide(before.jobs, after.jobs,
             [&](const std::string& name, const JobRecord* b, const JobRecord* a) {
               if (a == nullptr) result.only_before.push_back(name);
               if (b == nullptr) result.only_after.push_back(name);
               if (a == nullptr || b == nullptr) return;
               WaitChange wait{name, b->queue, b->wait, a->wait};
               if (std::abs(Change(wait)) < 1) return;
               ++(Change(wait) < 0 ? result.sooner : result.later);
               result.waits.push_back(std::move(wait));
             });
  result.same_workload = result.only_before.empty() && result.only_after.empty();
  std::ranges::sort(result.waits, [](const WaitChange& a, const WaitChange& b) {
    return std::tuple(-std::abs(Change(a)), std::string_view(a.job)) <
           std::tuple(-std::abs(Change(b)), std::string_view(b.job));
  });
}

void ComparePods(const RunRecord& before, const RunRecord& after, Comparison& result) {
  static const PodRecord kNothing;
  SideBySide(before.pods, after.pods,
             [&](const std::string& name, const PodRecord* in_before, const PodRecord* in_after) {
               const PodRecord& b = in_before != nullptr ? *in_before : kNothing;
               const PodRecord& a = in_after != nullptr ? *in_after : kNothing;
               const std::string& job = in_after != nullptr ? a.job : b.job;
               const bool bound_before = !b.first_node.empty();
               const bool bound_after = !a.first_node.empty();
               if (bound_before && bound_after) ++result.pods_in_both;
               if (bound_before && !bound_after) ++result.bound_only_before;
               if (!bound_before && bound_after) ++result.bound_only_after;
               if (b.first_node != a.first_node) {
                 result.placements.push_back(
                     {name, job, b.first_node, b.first_zone, a.first_node, a.first_zone});
                 if (bound_before && bound_after && b.first_zone != a.first_zone)
                   ++result.other_zone;
               }
               if (b.evictions != a.evictions) {
                 const PodRecord& more = a.evictions > b.evictions ? a : b;
                 result.victims.push_back({.pod = name,
                                           .job = job,
                                           .before = b.evictions,
                                           .after = a.evictions,
                                           .at = more.evicted,
                                           .rank = more.eviction_rank,
                                           .action = more.action,
                                           .reason = more.reason,
                                           .for_job = more.for_job});
               } else if (a.evictions > 0) {
                 ++result.same_victims;
               }
             });
  // As they were evicted; where both runs evict at one instant, in the order of each run.
  std::ranges::sort(result.victims, [](const VictimChange& a, const VictimChange& b) {
    return std::tuple(a.at, a.rank, std::string_view(a.pod)) <
           std::tuple(b.at, b.rank, std::string_view(b.pod));
  });
}

void CompareDrains(const Summary& before, const Summary& after, Comparison& result) {
  std::map<std::tuple<Timestamp, std::string>, DrainChange> drains;
  const auto add = [&](const ZoneDrain& drain, std::optional<ZoneDrain> DrainChange::* side) {
    DrainChange& change = drains[{drain.closed, drain.zone}];
    change.zone = drain.zone;
    change.closed = drain.closed;
    change.*side = drain;
  };
  for (const ZoneDrain& drain : before.drains) add(drain, &DrainChange::before);
  for (const ZoneDrain& drain : after.drains) add(drain, &DrainChange::after);
  for (auto& [key, change] : drains) result.drains.push_back(std::move(change));
}

bool SameDrain(const DrainChange& change) {
  return change.before && change.after && change.before->end == change.after->end &&
         change.before->seconds == change.after->seconds &&
         change.before->evictions == change.after->evictions;
}

}  // namespace

bool Comparison::identical() const {
  return same_workload && placements.empty() && victims.empty() && waits.empty() &&
         std::ranges::all_of(drains, SameDrain) && SummaryJson(before) == SummaryJson(after);
}

Comparison Compare(const RunRecord& before, const RunRecord& after, std::string name_before,
                   std::string name_after) {
  Comparison result;
  result.name_before = std::move(name_before);
  result.name_after = std::move(name_after);
  result.before = before.summary;
  result.after = after.summary;
  CompareJobs(before, after, result);
  ComparePods(before, after, result);
  CompareDrains(before.summary, after.summary, result);
  return result;
}

}  // namespace krafla
