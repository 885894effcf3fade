// 1. Each expectation has a judge of its own, which sees the events of the kinds it needs.
// 2. What several judges need (which pods hold which place, what the cluster has) is kept once, by
//    the ledger, which is brought up to date before the judges are asked.
// 3. Questions about an instant ("at") are answered by the first event after it: until then the
//    ledger shows that instant.
#include "sim/expectations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"
#include "sim/name_pattern.h"
#include "sim/scenario_times.h"

namespace krafla {

namespace {

using Kind = Expectation::Kind;

// A pod by its name; its successors have the same.
struct PodState {
  std::string job;
  std::string queue;
  std::string node;
  std::string zone;
  AmountMap requests;
  bool holds = false;    // bound, and its place is not yet free again
  bool started = false;  // and running
  bool leaving = false;  // evicted: it holds its place until it is gone
  bool done = false;     // succeeded
};

struct JobState {
  int64_t pods = 0;
  std::set<std::string> members;
  std::optional<Timestamp> completed;
};

struct Ledger {
  std::map<std::string, PodState> pods;
  std::map<std::string, JobState> jobs;
  std::map<std::string, AmountMap> nodes;

  void On(const SimEvent& event);

  // Of the whole cluster, in the kind of which the queue has most.
  double ShareOf(const std::string& queue) const;
};

void Ledger::On(const SimEvent& event) {
  switch (event.kind) {
    case SimEventKind::kNodeAdded:
      nodes[event.node] = event.amounts;
      break;
    case SimEventKind::kNodeLost:
      nodes.erase(event.node);
      break;
    case SimEventKind::kJobSubmitted:
      jobs[event.job].pods = event.count;
      break;
    case SimEventKind::kJobCompleted:
      jobs[event.job].completed = event.at;
      break;
    case SimEventKind::kPodCreated: {
      PodState fresh;
      fresh.job = event.job;
      fresh.queue = event.queue;
      fresh.requests = event.amounts;
      pods[event.pod] = std::move(fresh);
      jobs[event.job].members.insert(event.pod);
      break;
    }
    case SimEventKind::kPodBound: {
      PodState& pod = pods[event.pod];
      pod.job = event.job;
      pod.queue = event.queue;
      pod.node = event.node;
      pod.zone = event.zone;
      pod.holds = true;
      pod.leaving = false;
      break;
    }
    case SimEventKind::kPodStarted:
      pods[event.pod].started = true;
      break;
    case SimEventKind::kPodEvicted:
      pods[event.pod].leaving = true;
      break;
    case SimEventKind::kPodSucceeded:
    case SimEventKind::kPodFailed: {
      PodState& pod = pods[event.pod];
      pod.holds = pod.started = false;
      pod.done = event.kind == SimEventKind::kPodSucceeded;
      break;
    }
    case SimEventKind::kPodGone: {
      PodState& pod = pods[event.pod];
      pod.holds = pod.started = false;
      break;
    }
    default:
      break;
  }
}

double Ledger::ShareOf(const std::string& queue) const {
  AmountMap total;
  for (const auto& [name, amounts] : nodes)
    for (const auto& [kind, amount] : amounts) total[kind] += amount;
  AmountMap held;
  for (const auto& [name, pod] : pods)
    if (pod.holds && pod.queue == queue)
      for (const auto& [kind, amount] : pod.requests) held[kind] += amount;
  double share = 0;
  for (const auto& [kind, amount] : held) {
    const auto found = total.find(kind);
    if (found != total.end() && found->second > 0) share = std::max(share, amount / found->second);
  }
  return share;
}

// "a, b, c and 4 more"
std::string ListOf(const std::vector<std::string>& items) {
  constexpr size_t kMost = 4;
  const size_t shown = std::min(items.size(), kMost);
  std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + shown, ", "));
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

std::string Plural(int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

class Judge {
 public:
  Judge(const Expectation& expectation, const Ledger& ledger, const ScenarioClock& clock)
      : expected_(expectation), ledger_(ledger), clock_(clock) {
    from_ = expectation.from.Present() ? expectation.from : clock.start;
    until_ = expectation.until.Present() ? expectation.until : clock.until;
  }
  virtual ~Judge() = default;

  // Before the ledger knows of the event: everything up to an instant has been told.
  virtual void BeforeInstant(Timestamp) {}
  virtual void On(const SimEvent& event) = 0;
  virtual ExpectationResult Finish() = 0;

 protected:
  ExpectationResult Met(std::string detail) const { return {&expected_, true, std::move(detail)}; }
  ExpectationResult Failed(std::string detail) const {
    return {&expected_, false, std::move(detail)};
  }
  std::string At(Timestamp time) const { return FormatScenarioTime(time, clock_); }
  bool InTime(Timestamp time) const { return from_ <= time && time <= until_; }

  bool MatchesJob(const std::string& job) const { return MatchesPattern(expected_.match, job); }
  bool MatchesPodOrJob(const SimEvent& event) const {
    return MatchesJob(event.job) || MatchesPattern(expected_.match, event.pod);
  }
  bool IsThere(const std::string& node, const std::string& zone) const {
    return (expected_.node.empty() || MatchesPattern(expected_.node, node)) &&
           (expected_.zone.empty() || MatchesPattern(expected_.zone, zone));
  }

  // An expectation about nobody is a misspelt one.
  std::optional<ExpectationResult> FailIfNobodyMatches() const {
    std::vector<std::string_view> names;
    for (const auto& [name, job] : ledger_.jobs) {
      if (MatchesJob(name)) return std::nullopt;
      names.push_back(name);
    }
    for (const auto& [name, pod] : ledger_.pods)
      if (MatchesPattern(expected_.match, name)) return std::nullopt;
    const auto near = DidYouMean(expected_.match, names);
    return Failed(fmt::format("no job or pod of the run is called {}{}", Quoted(expected_.match),
                              near ? fmt::format("; did you mean {}?", Quoted(*near)) : ""));
  }

  std::string EvictionText(const SimEvent& event) const {
    std::string text = fmt::format("{} at {}", event.pod, At(event.at));
    if (!event.action.empty()) text += " by " + event.action;
    if (!event.for_job.empty()) text += " for " + event.for_job;
    return text;
  }

  const Expectation& expected_;
  const Ledger& ledger_;
  const ScenarioClock& clock_;
  Timestamp from_;
  Timestamp until_;
};

class BoundJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent& event) override {
    if (event.kind == SimEventKind::kRunBegins) return;
    // What holds when the time begins counts as well.
    if (!looked_at_start_ && event.at >= from_) {
      looked_at_start_ = true;
      for (const auto& [name, job] : ledger_.jobs)
        if (MatchesJob(name)) Look(name, job, from_);
    }
    if (event.kind != SimEventKind::kPodBound || !MatchesJob(event.job) || !InTime(event.at))
      return;
    const auto job = ledger_.jobs.find(event.job);
    if (job != ledger_.jobs.end()) Look(event.job, job->second, event.at);
  }

  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    std::vector<std::string> seen, missing;
    for (const auto& [name, job] : ledger_.jobs) {
      if (!MatchesJob(name)) continue;
      const Best best = best_[name];
      const int64_t needed = Needed(job);
      const bool enough = best.held >= needed;
      const bool too_many = expected_.max_count && best.held > *expected_.max_count;
      std::string text = fmt::format("{} had {} of {} bound{} at {}", name, best.held,
                                     Plural(job.pods, "pod"), Place(), At(best.at));
      if (best.held == 0)
        text = fmt::format("{} had none of its {} bound{} by {}", name, Plural(job.pods, "pod"),
                           Place(), At(until_));
      (enough && !too_many ? seen : missing).push_back(std::move(text));
    }
    if (seen.empty() && missing.empty())
      return Failed(fmt::format("{} is no job; pods are not asked for here", expected_.match));
    return missing.empty() ? Met(ListOf(seen)) : Failed(ListOf(missing));
  }

 private:
  struct Best {
    int64_t held = 0;
    Timestamp at;
  };

  int64_t Needed(const JobState& job) const { return expected_.min_count.value_or(job.pods); }

  std::string Place() const {
    std::string place;
    if (!expected_.node.empty()) place += " on " + expected_.node;
    if (!expected_.zone.empty()) place += " in zone " + expected_.zone;
    return place;
  }

  void Look(const std::string& name, const JobState& job, Timestamp at) {
    Best& best = best_[name];
    if (best.held >= Needed(job) && !expected_.max_count) return;
    int64_t held = 0;
    for (const std::string& member : job.members) {
      const PodState& pod = ledger_.pods.at(member);
      if (((pod.holds && !pod.leaving) || pod.done) && IsThere(pod.node, pod.zone)) ++held;
    }
    if (held > best.held) best = {held, at};
  }

  std::map<std::string, Best> best_;
  bool looked_at_start_ = false;
};

class NotBoundJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent& event) override {
    if (event.kind != SimEventKind::kPodBound || !MatchesPodOrJob(event)) return;
    if (!InTime(event.at) || !IsThere(event.node, event.zone)) return;
    binds_.push_back(fmt::format("{} was bound to {} at {}", event.pod, event.node, At(event.at)));
  }
  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    return binds_.empty() ? Met("not bound") : Failed(ListOf(binds_));
  }

 private:
  std::vector<std::string> binds_;
};

class EvictedJudge : public Judge {
 public:
  EvictedJudge(const Expectation& expectation, const Ledger& ledger, const ScenarioClock& clock)
      : Judge(expectation, ledger, clock) {
    least_ = expectation.min_count.value_or(expectation.max_count ? 0 : 1);
    most_ = expectation.max_count;
    if (expectation.kind == Kind::kNeverEvicted) {
      least_ = 0;
      most_ = 0;
    }
  }

  void On(const SimEvent& event) override {
    if (event.kind != SimEventKind::kPodEvicted || !MatchesPodOrJob(event)) return;
    if (!expected_.action.empty() && event.action != expected_.action) return;
    if (!expected_.for_job.empty() && !MatchesPattern(expected_.for_job, event.for_job)) return;
    (InTime(event.at) ? inside_ : outside_).push_back(EvictionText(event));
  }

  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    const auto count = static_cast<int64_t>(inside_.size());
    std::string text = count == 0
                           ? std::string("none was evicted")
                           : fmt::format("{}: {}", Plural(count, "eviction"), ListOf(inside_));
    if (expected_.from.Present() || expected_.until.Present())
      text += fmt::format(" between {} and {}", At(from_), At(until_));
    if (!outside_.empty() && count < least_)
      text +=
          fmt::format("; at other times {}: {}",
                      Plural(static_cast<int64_t>(outside_.size()), "eviction"), ListOf(outside_));
    const bool met = count >= least_ && (!most_ || count <= *most_);
    return met ? Met(std::move(text)) : Failed(std::move(text));
  }

 private:
  int64_t least_ = 0;
  std::optional<int64_t> most_;
  std::vector<std::string> inside_;
  std::vector<std::string> outside_;
};

class DrainedJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent& event) override {
    if (event.zone != expected_.match) return;
    switch (event.kind) {
      case SimEventKind::kZoneClosed:
        // A zone that is closed when the run begins has not just closed.
        if (was_open_) closings_.push_back({event.at, {}, {}, {}});
        break;
      case SimEventKind::kDrainHeld:
        if (!closings_.empty()) closings_.back().held_by = event.text;
        break;
      case SimEventKind::kZoneDrained:
        if (!closings_.empty() && !closings_.back().drained) closings_.back().drained = event.at;
        break;
      case SimEventKind::kZoneOpened:
        was_open_ = true;
        if (!closings_.empty() && !closings_.back().reopened) closings_.back().reopened = event.at;
        break;
      default:
        break;
    }
  }

  ExpectationResult Finish() override {
    std::vector<std::string> seen, late;
    for (const Closing& closing : closings_) {
      const std::string when = At(closing.at);
      if (closing.drained) {
        const int64_t took = ElapsedNs(closing.at, *closing.drained);
        std::string text =
            fmt::format("closed at {} and drained after {}", when, FormatShortDuration(took));
        if (took > expected_.within_ns && !closing.held_by.empty())
          text += fmt::format(" (held up: {})", closing.held_by);
        (took <= expected_.within_ns ? seen : late).push_back(std::move(text));
        continue;
      }
      const Timestamp end = closing.reopened.value_or(clock_.until);
      const int64_t had = ElapsedNs(closing.at, end);
      std::string text =
          fmt::format("closed at {} and not drained {} later", when, FormatShortDuration(had));
      if (!closing.held_by.empty()) text += fmt::format(" (held up: {})", closing.held_by);
      // A run that ends too soon shows neither.
      if (had > expected_.within_ns || closing.reopened) late.push_back(std::move(text));
    }
    if (closings_.empty())
      return Failed(fmt::format("zone {} never closed in the run", expected_.match));
    if (!late.empty()) return Failed(ListOf(late));
    if (seen.empty())
      return Failed("the run ended before the time to drain was over; make until later");
    return Met(ListOf(seen));
  }

 private:
  struct Closing {
    Timestamp at;
    std::optional<Timestamp> drained;
    std::optional<Timestamp> reopened;
    std::string held_by;
  };
  std::vector<Closing> closings_;
  bool was_open_ = false;
};

class ShareJudge : public Judge {
 public:
  using Judge::Judge;

  void BeforeInstant(Timestamp next) override {
    if (!share_ && next > expected_.at) share_ = ledger_.ShareOf(expected_.match);
  }
  void On(const SimEvent&) override {}
  ExpectationResult Finish() override {
    if (!share_) return Failed(fmt::format("the run ended before {}", At(expected_.at)));
    std::string text = fmt::format("queue {} had {:.3f} of the cluster at {}", expected_.match,
                                   *share_, At(expected_.at));
    constexpr double kTolerance = 1e-9;
    const bool met =
        *share_ >= expected_.low - kTolerance && *share_ <= expected_.high + kTolerance;
    return met ? Met(std::move(text)) : Failed(std::move(text));
  }

 private:
  std::optional<double> share_;
};

class PodsJudge : public Judge {
 public:
  using Judge::Judge;

  void BeforeInstant(Timestamp next) override {
    if (count_ || next <= expected_.at) return;
    count_ = 0;
    for (const auto& [name, pod] : ledger_.pods)
      if (pod.started && !pod.leaving && MatchesJob(pod.job) && IsThere(pod.node, pod.zone))
        ++*count_;
  }
  void On(const SimEvent&) override {}
  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    if (!count_) return Failed(fmt::format("the run ended before {}", At(expected_.at)));
    std::string text = fmt::format("{} ran at {}", Plural(*count_, "pod"), At(expected_.at));
    const bool met = *count_ >= expected_.min_count.value_or(0) &&
                     (!expected_.max_count || *count_ <= *expected_.max_count);
    return met ? Met(std::move(text)) : Failed(std::move(text));
  }

 private:
  std::optional<int64_t> count_;
};

class ThrashJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent& event) override {
    if (event.kind != SimEventKind::kPodEvicted || !MatchesPodOrJob(event) || !InTime(event.at))
      return;
    evictions_[event.pod].push_back(EvictionText(event));
  }
  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    std::vector<std::string> worst;
    size_t most = 0;
    for (const auto& [pod, list] : evictions_) {
      most = std::max(most, list.size());
      if (static_cast<int64_t>(list.size()) <= expected_.max_count.value_or(0)) continue;
      worst.push_back(fmt::format("{} was evicted {}: {}", pod,
                                  Plural(static_cast<int64_t>(list.size()), "time"), ListOf(list)));
    }
    if (!worst.empty()) return Failed(ListOf(worst));
    return Met(
        fmt::format("no pod was evicted more than {}", Plural(static_cast<int64_t>(most), "time")));
  }

 private:
  std::map<std::string, std::vector<std::string>> evictions_;
};

class CompletedJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent&) override {}
  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    std::vector<std::string> seen, missing;
    for (const auto& [name, job] : ledger_.jobs) {
      if (!MatchesJob(name)) continue;
      std::string text = job.completed ? fmt::format("{} completed at {}", name, At(*job.completed))
                                       : fmt::format("{} did not complete", name);
      (job.completed && *job.completed <= until_ ? seen : missing).push_back(std::move(text));
    }
    return missing.empty() ? Met(ListOf(seen)) : Failed(ListOf(missing));
  }
};

class WaitingJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent& event) override {
    if (event.kind != SimEventKind::kJobWaiting || !MatchesJob(event.job) || !InTime(event.at))
      return;
    const bool fits =
        expected_.reason.empty() || MatchesPattern("*" + expected_.reason + "*", event.text);
    std::string text = fmt::format("{} waited at {}: {}", event.job, At(event.at), event.text);
    (fits ? seen_ : others_).push_back(std::move(text));
  }
  ExpectationResult Finish() override {
    if (auto wrong = FailIfNobodyMatches()) return *wrong;
    if (!seen_.empty()) return Met(ListOf(seen_));
    return Failed(others_.empty() ? "it did not wait" : ListOf(others_));
  }

 private:
  std::vector<std::string> seen_;
  std::vector<std::string> others_;
};

class LoopJudge : public Judge {
 public:
  using Judge::Judge;

  void On(const SimEvent& event) override {
    if (event.kind != SimEventKind::kEvictionLoop) return;
    if (MatchesPattern("*" + expected_.match + "*", event.text))
      loops_.push_back(fmt::format("{}: {}", At(event.at), event.text));
  }
  ExpectationResult Finish() override {
    const auto count = static_cast<int64_t>(loops_.size());
    std::string text = count == 0 ? std::string("no loop was found")
                                  : fmt::format("{}: {}", Plural(count, "report"), ListOf(loops_));
    const bool met = count >= expected_.min_count.value_or(expected_.max_count ? 0 : 1) &&
                     (!expected_.max_count || count <= *expected_.max_count);
    return met ? Met(std::move(text)) : Failed(std::move(text));
  }

 private:
  std::vector<std::string> loops_;
};

std::unique_ptr<Judge> MakeJudge(const Expectation& expectation, const Ledger& ledger,
                                 const ScenarioClock& clock) {
  switch (expectation.kind) {
    case Kind::kBoundBy:
      return std::make_unique<BoundJudge>(expectation, ledger, clock);
    case Kind::kNotBoundBy:
      return std::make_unique<NotBoundJudge>(expectation, ledger, clock);
    case Kind::kEvicted:
    case Kind::kNeverEvicted:
      return std::make_unique<EvictedJudge>(expectation, ledger, clock);
    case Kind::kDrained:
      return std::make_unique<DrainedJudge>(expectation, ledger, clock);
    case Kind::kShareAt:
      return std::make_unique<ShareJudge>(expectation, ledger, clock);
    case Kind::kNoThrash:
      return std::make_unique<ThrashJudge>(expectation, ledger, clock);
    case Kind::kCompletedBy:
      return std::make_unique<CompletedJudge>(expectation, ledger, clock);
    case Kind::kPodsAt:
      return std::make_unique<PodsJudge>(expectation, ledger, clock);
    case Kind::kWaiting:
      return std::make_unique<WaitingJudge>(expectation, ledger, clock);
    case Kind::kLoop:
      return std::make_unique<LoopJudge>(expectation, ledger, clock);
  }
  return nullptr;
}

}  // namespace

class ExpectationJudge::State {
 public:
  explicit State(const Scenario& scenario) : clock_{scenario.start, scenario.until, scenario.zone} {
    for (const Expectation& expectation : scenario.expectations)
      judges_.push_back(MakeJudge(expectation, ledger_, clock_));
  }

  void On(const SimEvent& event) {
    if (judges_.empty()) return;
    for (const auto& judge : judges_) judge->BeforeInstant(event.at);
    ledger_.On(event);
    for (const auto& judge : judges_) judge->On(event);
    last_ = event.at;
  }

  std::vector<ExpectationResult> Finish() {
    std::vector<ExpectationResult> results;
    // The last instant has been told, and so has everything up to the end of the run.
    const Timestamp end = std::max(last_, clock_.until);
    for (const auto& judge : judges_) {
      judge->BeforeInstant({end.ns + 1});
      results.push_back(judge->Finish());
    }
    return results;
  }

 private:
  ScenarioClock clock_;
  Ledger ledger_;
  std::vector<std::unique_ptr<Judge>> judges_;
  Timestamp last_;
};

ExpectationJudge::ExpectationJudge(const Scenario& scenario)
    : state_(std::make_unique<State>(scenario)) {}
ExpectationJudge::~ExpectationJudge() = default;

void ExpectationJudge::On(const SimEvent& event) {
  state_->On(event);
}

std::vector<ExpectationResult> ExpectationJudge::Finish() {
  return state_->Finish();
}

std::string ToString(const ExpectationResult& result) {
  const ScenarioPlace& place = result.expectation->place;
  std::string text = place.file;
  if (place.location.line > 0) text += fmt::format(":{}", place.location.line);
  return fmt::format("{}: {} {}; {}", text, result.met ? "met" : "expected",
                     result.expectation->text, result.detail);
}

}  // namespace krafla
