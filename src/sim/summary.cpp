#include "sim/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sim/local_time.h"
#include "sim/run_tracker.h"

namespace krafla {

namespace {

// A value over time: its integral and its largest.
class TimeIntegral {
 public:
  void Set(double value, Timestamp now) {
    Advance(now);
    value_ = value;
    largest_ = std::max(largest_, value);
  }
  void Add(double change, Timestamp now) { Set(value_ + change, now); }
  double SumUntil(Timestamp end) const {
    return sum_ + (since_.Present() ? value_ * SecondsBetween(since_, end) : 0);
  }
  double largest() const { return largest_; }
  bool known() const { return since_.Present(); }
  Timestamp first() const { return first_; }

 private:
  void Advance(Timestamp now) {
    if (since_.Present()) {
      sum_ += value_ * SecondsBetween(since_, now);
    } else {
      first_ = now;
    }
    since_ = now;
  }

  double value_ = 0;
  double sum_ = 0;
  double largest_ = 0;
  Timestamp since_;
  Timestamp first_;
};

struct Waits {
  std::vector<float> over;

  WaitFigures Figures() const {
    WaitFigures figures;
    figures.over = static_cast<int64_t>(over.size());
    if (over.empty()) return figures;
    std::vector<float> sorted = over;
    std::ranges::sort(sorted);
    const auto rank = [&](double part) {
      const auto place = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
      return static_cast<double>(sorted[std::clamp<size_t>(place, 1, sorted.size()) - 1]);
    };
    figures.p50 = rank(0.50);
    figures.p95 = rank(0.95);
    figures.p99 = rank(0.99);
    figures.longest = sorted.back();
    return figures;
  }
};

void AddUnfinished(WaitFigures& figures, double seconds) {
  ++figures.unfinished;
  figures.oldest = std::max(figures.oldest, seconds);
}

struct QueueState {
  std::vector<TimeIntegral> used;  // by kind
  TimeIntegral share, deserved;
  Waits job_waits, pod_waits;
  int64_t evicted = 0, evicted_for = 0;
  double lost_seconds = 0;
};

struct JobState {
  int64_t evictions = 0, re_evictions = 0, worst_place = 0, at_floor = 0;
  double lost_seconds = 0;
  bool has_least = false;
  int32_t least = 0;
  Timestamp least_at;
};

struct OpenDrain {
  size_t index = 0;              // into drains
  std::vector<std::string> why;  // empty: nothing was said yet
  int64_t pods = 0;
  Timestamp since;
};

template <class T>
T& At(std::vector<T>& items, int32_t number) {
  if (static_cast<size_t>(number) >= items.size()) items.resize(static_cast<size_t>(number) + 1);
  return items[static_cast<size_t>(number)];
}

// cpu, memory, then by name.
bool KindLess(const std::string& a, const std::string& b) {
  const auto rank = [](const std::string& name) {
    return name == "cpu" ? 0 : name == "memory" ? 1 : 2;
  };
  return std::tuple(rank(a), std::string_view(a)) < std::tuple(rank(b), std::string_view(b));
}

}  // namespace

class SummaryCollector::State {
 public:
  explicit State(TimeZone zone) : clock_(std::move(zone)) { summary_.zone = clock_.zone(); }

  void On(const SimEvent& event) {
    if (!summary_.begin.Present()) summary_.begin = event.at;
    summary_.end = event.at;
    ++summary_.events;
    const TrackedStep& step = tracker_.Apply(event);
    for (const PlaceChange& place : step.places) Account(place, event.at);
    if (step.reached_minimum && step.job >= 0) {
      const TrackedJob& job = tracker_.job(step.job);
      Add(&QueueState::job_waits, job.queue, SecondsBetween(job.submitted, event.at));
    }
    Dispatch(event, step);
  }

  Summary Finish() const {
    Summary summary = summary_;
    summary.jobs = tracker_.jobs.size();
    for (const auto& [key, figures] : evictions_by_) summary.evictions_by.push_back(figures);
    Use(summary);
    FillQueues(summary);
    FillJobs(summary);
    FillPods(summary);
    FillDrains(summary);
    return summary;
  }

 private:
  void Dispatch(const SimEvent& event, const TrackedStep& step) {
    switch (event.kind) {
      case SimEventKind::kRunBegins:
        summary_.scenario = event.text;
        summary_.seed = event.count;
        break;
      case SimEventKind::kNodeAdded:
        SetAllocatable(event.at);
        break;
      case SimEventKind::kNodeLost:
        ++summary_.nodes_lost;
        SetAllocatable(event.at);
        break;
      case SimEventKind::kZoneOpened:
        EndDrain(event.zone, event.at, ZoneDrain::End::kReopened, -1);
        break;
      case SimEventKind::kZoneClosed:
        EndDrain(event.zone, event.at, ZoneDrain::End::kReopened, -1);
        open_drains_[event.zone] = {.index = summary_.drains.size()};
        summary_.drains.push_back({.zone = event.zone, .closed = event.at});
        break;
      case SimEventKind::kDrainHeld:
        HoldDrain(event);
        break;
      case SimEventKind::kZoneDrained:
        EndDrain(event.zone, event.at, ZoneDrain::End::kDrained, static_cast<double>(event.count));
        break;
      case SimEventKind::kPodCreated:
        ++summary_.pods_created;
        break;
      case SimEventKind::kPodBound:
        if (step.pod_waited < 0) break;
        ++summary_.pods_bound;
        Add(&QueueState::pod_waits, step.queue, step.pod_waited);
        break;
      case SimEventKind::kPodSucceeded:
        ++summary_.pods_succeeded;
        summary_.useful_seconds += step.worked_seconds;
        break;
      case SimEventKind::kPodFailed:
        ++summary_.pods_failed;
        break;
      case SimEventKind::kPodEvicted:
        Evicted(event, step);
        break;
      case SimEventKind::kBindFailed:
        ++summary_.binds_failed;
        break;
      case SimEventKind::kEvictFailed:
        ++summary_.evictions_failed;
        break;
      case SimEventKind::kQueueShare:
        Share(event, step.queue);
        break;
      case SimEventKind::kEvictionLoop:
        summary_.loops.push_back(event.text);
        break;
      case SimEventKind::kFault:
        summary_.faults.push_back(clock_.Short(event.at) + "  " + event.text);
        break;
      default:
        break;
    }
  }

  void Add(Waits QueueState::* waits, int32_t queue, double seconds) {
    if (queue >= 0) (At(queues_, queue).*waits).over.push_back(static_cast<float>(seconds));
    const bool of_jobs = waits == &QueueState::job_waits;
    (of_jobs ? job_waits_ : pod_waits_).over.push_back(static_cast<float>(seconds));
  }

  void SetAllocatable(Timestamp now) {
    summary_.nodes = std::max<int64_t>(summary_.nodes, tracker_.nodes_present());
    const Amounts& all = tracker_.allocatable();
    for (int32_t kind = 0; kind < static_cast<int32_t>(all.size()); ++kind)
      At(allocatable_, kind).Set(AmountOf(all, kind), now);
  }

  void Account(const PlaceChange& place, Timestamp now) {
    const Amounts& requests = tracker_.requests(place.requests);
    for (int32_t kind = 0; kind < static_cast<int32_t>(requests.size()); ++kind) {
      const double amount = AmountOf(requests, kind);
      if (amount == 0) continue;
      At(used_, kind).Add(place.sign * amount, now);
      if (place.queue >= 0) At(At(queues_, place.queue).used, kind).Add(place.sign * amount, now);
    }
  }

  void Share(const SimEvent& event, int32_t queue) {
    if (queue < 0) return;
    QueueState& state = At(queues_, queue);
    state.share.Set(event.share, event.at);
    const double deserved = DeservedShare(event, tracker_);
    state.deserved.Set(deserved, event.at);
    anybody_deserves_ |= deserved > 0;
  }

  void Evicted(const SimEvent& event, const TrackedStep& step) {
    if (step.place_evictions == 0) return;
    const auto lost = static_cast<double>(event.count);
    ++summary_.evictions;
    summary_.lost_seconds += lost;
    summary_.useful_seconds += std::max(0.0, step.worked_seconds - lost);
    EvictionFigures& figures = evictions_by_[{event.action, event.reason}];
    figures.action = event.action;
    figures.reason = event.reason;
    ++figures.count;
    figures.lost_seconds += lost;
    if (step.queue >= 0) {
      QueueState& queue = At(queues_, step.queue);
      ++queue.evicted;
      queue.lost_seconds += lost;
    }
    if (const int32_t taker = tracker_.jobs.Find(event.for_job); taker >= 0) {
      const int32_t queue = tracker_.job(taker).queue;
      if (queue >= 0) ++At(queues_, queue).evicted_for;
    }
    if (const auto drain = open_drains_.find(event.zone);
        drain != open_drains_.end() && event.reason == "zone-closed")
      ++summary_.drains[drain->second.index].evictions;
    if (step.job >= 0) EvictedFrom(step, lost, event.at);
  }

  void EvictedFrom(const TrackedStep& step, double lost, Timestamp now) {
    JobState& state = At(jobs_, step.job);
    ++state.evictions;
    state.lost_seconds += lost;
    state.worst_place = std::max<int64_t>(state.worst_place, step.place_evictions);
    if (step.place_evictions > 1) {
      ++state.re_evictions;
      ++summary_.re_evictions;
    }
    const TrackedJob& job = tracker_.job(step.job);
    if (!job.reached_minimum) return;
    const int32_t spare = job.ready() - (job.budget_floor >= 0 ? job.budget_floor : job.minimum);
    if (spare <= 0) ++state.at_floor;
    if (state.has_least && spare >= state.least) return;
    state.has_least = true;
    state.least = spare;
    state.least_at = now;
  }

  // Several jobs may hold a zone at once: "a …; b …".
  static std::vector<std::string> Reasons(std::string_view text) {
    std::vector<std::string> reasons;
    while (!text.empty()) {
      const size_t end = std::min(text.find("; "), text.size());
      reasons.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 2, text.size()));
    }
    std::ranges::sort(reasons);
    const auto again = std::ranges::unique(reasons);
    reasons.erase(again.begin(), again.end());
    if (reasons.empty()) reasons.emplace_back("no reason given");
    return reasons;
  }

  // A zone that somebody has to leave says so. Where nothing was said, nobody had to.
  static void SettleUnsaid(ZoneDrain& drain) {
    if (drain.end == ZoneDrain::End::kDrained || !drain.held.empty() || drain.evictions > 0) return;
    drain.end = ZoneDrain::End::kDrained;
    drain.seconds = 0;
  }

  // Ends the time of the reason that held a zone until now.
  static void EndHold(OpenDrain& open, ZoneDrain& drain, Timestamp now) {
    for (const std::string& why : open.why) {
      auto hold = std::ranges::find(drain.held, why, &DrainDelay::why);
      if (hold == drain.held.end()) hold = drain.held.insert(hold, {.why = why});
      hold->most_pods = std::max(hold->most_pods, open.pods);
      hold->seconds += SecondsBetween(open.since, now);
    }
  }

  void HoldDrain(const SimEvent& event) {
    const auto found = open_drains_.find(event.zone);
    if (found == open_drains_.end()) return;
    OpenDrain& open = found->second;
    EndHold(open, summary_.drains[open.index], event.at);
    open.why = Reasons(event.text);
    open.pods = event.count;
    open.since = event.at;
  }

  void EndDrain(const std::string& zone, Timestamp now, ZoneDrain::End end, double seconds) {
    const auto found = open_drains_.find(zone);
    if (found == open_drains_.end()) return;
    ZoneDrain& drain = summary_.drains[found->second.index];
    EndHold(found->second, drain, now);
    drain.end = end;
    drain.seconds = seconds >= 0 ? seconds : SecondsBetween(drain.closed, now);
    SettleUnsaid(drain);
    open_drains_.erase(found);
  }

  std::vector<UtilisationFigure> Figures(const std::vector<TimeIntegral>& used) const {
    const double length = SecondsBetween(summary_.begin, summary_.end);
    std::vector<UtilisationFigure> figures;
    for (int32_t kind = 0; kind < tracker_.kinds.size(); ++kind) {
      const auto index = static_cast<size_t>(kind);
      UtilisationFigure figure{.resource = tracker_.kinds.Name(kind)};
      if (length > 0 && index < allocatable_.size())
        figure.allocatable = allocatable_[index].SumUntil(summary_.end) / length;
      if (length > 0 && index < used.size()) {
        figure.used = used[index].SumUntil(summary_.end) / length;
        figure.peak = used[index].largest();
      }
      if (figure.allocatable > 0 || figure.used > 0) figures.push_back(std::move(figure));
    }
    std::ranges::sort(figures, KindLess, &UtilisationFigure::resource);
    return figures;
  }

  void Use(Summary& summary) const { summary.use = Figures(used_); }

  void FillQueues(Summary& summary) const {
    for (int32_t number = 0; number < tracker_.queues.size(); ++number) {
      static const QueueState kNothing;
      const QueueState& state = static_cast<size_t>(number) < queues_.size()
                                    ? queues_[static_cast<size_t>(number)]
                                    : kNothing;
      QueueFigures queue{.queue = tracker_.queues.Name(number)};
      queue.use = Figures(state.used);
      const double length = SecondsBetween(summary.begin, summary.end);
      if (state.share.known() && length > 0) {
        queue.share = state.share.SumUntil(summary.end) / length;
        if (anybody_deserves_) queue.deserved_share = state.deserved.SumUntil(summary.end) / length;
        queue.largest_share = state.share.largest();
      }
      queue.job_wait = state.job_waits.Figures();
      queue.pod_wait = state.pod_waits.Figures();
      queue.evicted = state.evicted;
      queue.evicted_for = state.evicted_for;
      queue.lost_seconds = state.lost_seconds;
      summary.queues.push_back(std::move(queue));
    }
    summary.job_wait = job_waits_.Figures();
    summary.pod_wait = pod_waits_.Figures();
  }

  void FillJobs(Summary& summary) const {
    for (int32_t number = 0; number < tracker_.jobs.size(); ++number) {
      const TrackedJob& job = tracker_.job(number);
      QueueFigures* queue =
          job.queue >= 0 ? &summary.queues[static_cast<size_t>(job.queue)] : nullptr;
      if (queue != nullptr) ++queue->jobs;
      if (job.completed) {
        ++summary.jobs_completed;
        if (queue != nullptr) ++queue->completed;
      } else if (job.waiting()) {
        ++summary.jobs_waiting;
        if (queue != nullptr) ++queue->waiting;
        AddWaiting(summary, number, queue);
      } else {
        ++summary.jobs_running;
      }
      if (static_cast<size_t>(number) < jobs_.size()) AddEvictions(summary, number, queue);
    }
    const auto by_length = [](const auto& a, const auto& b) {
      return std::tuple(-a.seconds, std::string_view(a.job)) <
             std::tuple(-b.seconds, std::string_view(b.job));
    };
    std::ranges::sort(summary.waiting, by_length);
    std::ranges::sort(summary.thrash, [](const JobEvictions& a, const JobEvictions& b) {
      return std::tuple(-a.re_evictions, -a.evictions, std::string_view(a.job)) <
             std::tuple(-b.re_evictions, -b.evictions, std::string_view(b.job));
    });
    std::ranges::sort(summary.head_room, [](const HeadRoom& a, const HeadRoom& b) {
      return std::tuple(a.least, -a.at_floor, std::string_view(a.job)) <
             std::tuple(b.least, -b.at_floor, std::string_view(b.job));
    });
    std::ranges::sort(summary.queues, {}, &QueueFigures::queue);
  }

  void AddWaiting(Summary& summary, int32_t number, QueueFigures* queue) const {
    const TrackedJob& job = tracker_.job(number);
    const double seconds = SecondsBetween(job.waiting_since, summary.end);
    summary.waiting.push_back({.job = tracker_.jobs.Name(number),
                               .queue = queue != nullptr ? queue->queue : "",
                               .phase = job.phase,
                               .bound = job.ready(),
                               .minimum = job.minimum,
                               .pods = job.pods,
                               .seconds = seconds,
                               .why = job.why});
    if (job.reached_minimum) return;  // its first wait is over
    AddUnfinished(summary.job_wait, seconds);
    if (queue != nullptr) AddUnfinished(queue->job_wait, seconds);
  }

  void AddEvictions(Summary& summary, int32_t number, const QueueFigures* queue) const {
    const JobState& state = jobs_[static_cast<size_t>(number)];
    const TrackedJob& job = tracker_.job(number);
    const std::string& name = tracker_.jobs.Name(number);
    const std::string queue_name = queue != nullptr ? queue->queue : "";
    if (state.evictions > 1)
      summary.thrash.push_back({name, queue_name, state.evictions, state.re_evictions,
                                state.worst_place, state.lost_seconds});
    if (state.has_least)
      summary.head_room.push_back(
          {name, queue_name, job.budget_floor >= 0 ? job.budget_floor : job.minimum,
           job.budget_floor >= 0, state.least, state.at_floor, state.least_at});
  }

  // Sums over the pods that are still there, by name so that rounding is always the same.
  void FillPods(Summary& summary) const {
    std::vector<const std::pair<const std::string, TrackedPod>*> pods;
    for (const auto& entry : tracker_.pods()) pods.push_back(&entry);
    std::ranges::sort(pods, {}, [](const auto* entry) { return std::string_view(entry->first); });
    std::map<std::string_view, QueueFigures*> queues;
    for (QueueFigures& queue : summary.queues) queues[queue.queue] = &queue;
    for (const auto* entry : pods) {
      const TrackedPod& pod = entry->second;
      if (pod.started.Present()) summary.useful_seconds += SecondsBetween(pod.started, summary.end);
      const bool pending = pod.node < 0 && !pod.evicted && !pod.ended;
      if (!pending || (pod.job >= 0 && tracker_.job(pod.job).completed)) continue;
      const double seconds = SecondsBetween(pod.created, summary.end);
      AddUnfinished(summary.pod_wait, seconds);
      if (pod.queue >= 0) AddUnfinished(queues[tracker_.queues.Name(pod.queue)]->pod_wait, seconds);
    }
  }

  void FillDrains(Summary& summary) const {
    for (const auto& [zone, open] : open_drains_) {
      ZoneDrain& drain = summary.drains[open.index];
      OpenDrain copy = open;
      EndHold(copy, drain, summary.end);
      drain.end = ZoneDrain::End::kRunEnded;
      drain.seconds = SecondsBetween(drain.closed, summary.end);
      SettleUnsaid(drain);
    }
    for (ZoneDrain& drain : summary.drains)
      std::ranges::sort(drain.held, [](const DrainDelay& a, const DrainDelay& b) {
        return std::tuple(-a.seconds, std::string_view(a.why)) <
               std::tuple(-b.seconds, std::string_view(b.why));
      });
  }

  LocalClock clock_;
  RunTracker tracker_;
  Summary summary_;
  std::vector<TimeIntegral> allocatable_, used_;  // by kind
  std::vector<QueueState> queues_;
  bool anybody_deserves_ = false;  // else no plugin shares the cluster among queues
  std::vector<JobState> jobs_;
  Waits job_waits_, pod_waits_;
  std::map<std::pair<std::string, std::string>, EvictionFigures> evictions_by_;
  std::map<std::string, OpenDrain> open_drains_;
};

SummaryCollector::SummaryCollector(TimeZone zone)
    : state_(std::make_unique<State>(std::move(zone))) {}
SummaryCollector::~SummaryCollector() = default;
void SummaryCollector::On(const SimEvent& event) {
  state_->On(event);
}
Summary SummaryCollector::Finish() const {
  return state_->Finish();
}

}  // namespace krafla
