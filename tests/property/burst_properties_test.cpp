// Bursts of equal jobs whose pods are created slowly: every job gets its minMember, whatever the
// order in which PodGroups and pods appear, and no pod waits longer than a schedule period.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "manifest/read_cluster.h"
#include "property/for_all.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"
#include "support/tiny_cluster.h"

namespace krafla::testing {
namespace {

constexpr std::string_view kConfig = R"(
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

constexpr int64_t kPeriodMs = 1000;
constexpr int64_t kDelayMs = 10;  // from a change to its cycle

struct Burst {
  int jobs = 3;
  int pods = 12;
  int min_member = 2;
  int capacity = 12;
  bool one_by_one = false;  // one worker creates the pods of all jobs, one of each job in turn
  std::vector<int64_t> groups_ms;             // when each PodGroup appears
  std::vector<std::vector<int64_t>> pods_ms;  // by job: from its admission, or from its last pod
  std::string profile;

  std::string Text() const {
    std::string text =
        fmt::format("{} jobs of {} pods, minMember {}, {} cpus, profile {}{}\n", jobs, pods,
                    min_member, capacity, profile, one_by_one ? ", one worker" : "");
    for (int i = 0; i < jobs; ++i)
      text += fmt::format("job {}: PodGroup at {} ms, pods after {}\n", i, groups_ms[i],
                          fmt::join(pods_ms[i], ", "));
    return text;
  }
};

// What a controller does: each pod of a job at its instant, once the job is admitted.
class SlowCluster {
 public:
  explicit SlowCluster(const Burst& burst) : burst_(burst) {
    Diagnostics diagnostics;
    loop_.emplace(
        live_,
        ReadSchedulerConfig(kConfig, BuiltInVocabulary(), {.profile = burst.profile}, diagnostics),
        TimeZone(), log_);
    KRAFLA_CHECK(!diagnostics.HasErrors());
    loop_->SetSchedulePeriod(kPeriodMs * 1'000'000);
    loop_->SetFollowsChanges(true);
    Apply(QueueYaml());
    for (int left = burst.capacity, n = 0; left > 0; left -= 4, ++n)
      Apply(NodeYaml({.name = fmt::format("n{}", n),
                      .has = fmt::format("cpu {}, memory 64Gi, pods 110", std::min(left, 4))}));
    for (int i = 0; i < burst.jobs; ++i) Plan(burst.groups_ms[i], {.job = i});
  }

  // What is wrong; empty: nothing.
  std::string Run() {
    std::optional<int64_t> changed;
    for (int64_t ms = 0; ms < 20 * kPeriodMs; ++ms) {
      while (!events_.empty() && events_.begin()->first <= ms) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        Happen(event, ms);
        if (!changed) changed = ms;
      }
      if (loop_->IsDue(Time(ms)) && !changed) changed = ms;
      const bool timer = loop_->next_timer() && *loop_->next_timer() <= Time(ms);
      if (!timer && (!changed || ms < *changed + kDelayMs)) continue;
      changed.reset();
      Cycle(ms);
      if (const std::string wrong = Judge(ms); !wrong.empty()) return wrong;
    }
    for (int i = 0; i < burst_.jobs; ++i)
      if (bound_[i] < burst_.min_member)
        return fmt::format("job {} has {} of its {} pods", i, bound_[i], burst_.min_member);
    if (const int all = Total(bound_); all != std::min(burst_.capacity, burst_.jobs * burst_.pods))
      return fmt::format("{} pods are bound at last", all);
    // They share the rest at one instant.
    if (last_created_ms_ < first_admitted_ms_ + kPeriodMs) {
      const auto [least, most] =
          std::ranges::minmax_element(bound_, {}, [](const auto& entry) { return entry.second; });
      if (most->second > least->second + 1)
        return fmt::format("job {} has {} pods, job {} has {}", least->first, least->second,
                           most->first, most->second);
    }
    return {};
  }

 private:
  struct Event {
    int job = 0;
    int pod = -1;  // -1: the PodGroup
  };
  struct Sink final : DecisionSink {
    std::vector<std::string> admitted;
    std::vector<std::string> bound;
    void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override {
      const Cluster& c = session.cluster;
      for (const JobPhaseChange& change : phases)
        if (change.before == JobPhase::kPending)
          admitted.emplace_back(c.Text(c.jobs[change.job].name));
      for (const Bind& bind : session.plan.binds)
        bound.emplace_back(c.Text(c.jobs[c.tasks[bind.task].job].name));
    }
  };

  static Timestamp Time(int64_t ms) { return {(1'700'000'000'000 + ms) * 1'000'000}; }
  static int Total(const std::map<int, int>& by_job) {
    int all = 0;
    for (const auto& [job, pods] : by_job) all += pods;
    return all;
  }
  void Plan(int64_t ms, Event event) { events_.emplace(ms, event); }

  void Apply(const std::string& yaml) {
    Diagnostics diagnostics;
    ReadTextInto(live_, yaml, "burst", {}, diagnostics);
    KRAFLA_CHECK(diagnostics.items().empty());
  }

  void Happen(const Event& event, int64_t ms) {
    const std::string group = fmt::format("job{}", event.job);
    if (event.pod < 0) {
      Apply(PodGroupYaml({.name = group, .min_member = burst_.min_member, .phase = "Pending"}));
      return;
    }
    Apply(PodYaml({.name = fmt::format("{}-{}", group, event.pod), .group = group}));
    if (++created_[event.job] == burst_.min_member) complete_ms_[event.job] = ms;
    last_created_ms_ = ms;
    if (!burst_.one_by_one && event.pod + 1 < burst_.pods)
      Plan(ms + burst_.pods_ms[event.job][event.pod + 1], {event.job, event.pod + 1});
  }

  void Cycle(int64_t ms) {
    Sink sink;
    loop_->RunCycle(Time(ms), sink);
    for (const std::string& name : sink.admitted) {
      const int job = name.back() - '0';
      if (first_admitted_ms_ < 0) first_admitted_ms_ = ms;
      for (int pod = 0; pod < (burst_.one_by_one ? burst_.pods : 1); ++pod) {
        // One worker: a pod of each job in turn.
        const int64_t after = burst_.one_by_one
                                  ? (pod * burst_.jobs + job + 1) * burst_.pods_ms[0][0]
                                  : burst_.pods_ms[job][0];
        Plan(ms + after, {job, pod});
      }
    }
    for (const std::string& name : sink.bound) ++bound_[name.back() - '0'];
  }

  // Each minimum is bound by the cycle that follows its last pod, and nothing waits too long.
  std::string Judge(int64_t ms) {
    for (const auto& [job, complete] : complete_ms_)
      if (ms >= complete + 2 * kDelayMs && bound_[job] < burst_.min_member)
        return fmt::format("at {} ms job {} has {} of its {} pods, which exist since {} ms", ms,
                           job, bound_[job], burst_.min_member, complete);
    if (Total(created_) == burst_.jobs * burst_.pods &&
        ms > last_created_ms_ + kPeriodMs + 2 * kDelayMs &&
        Total(bound_) < std::min(burst_.capacity, Total(created_)))
      return fmt::format("at {} ms {} pods are bound; the last was created at {} ms", ms,
                         Total(bound_), last_created_ms_);
    return {};
  }

  const Burst& burst_;
  LiveCluster live_{BuildOptions{}};
  Log log_{0};
  std::optional<SchedulingLoop> loop_;
  std::multimap<int64_t, Event> events_;
  std::map<int, int> created_;
  std::map<int, int> bound_;
  std::map<int, int64_t> complete_ms_;
  int64_t last_created_ms_ = 0;
  int64_t first_admitted_ms_ = -1;
};

Burst DrawBurst() {
  Burst burst;
  const auto between = [](int64_t low, int64_t high) {
    return *rc::gen::resize(100, rc::gen::inRange<int64_t>(low, high + 1));
  };
  burst.jobs = static_cast<int>(between(3, 6));
  burst.min_member = static_cast<int>(between(1, 4));
  burst.pods = burst.min_member + static_cast<int>(between(1, 10));
  burst.capacity = burst.jobs * burst.min_member +
                   static_cast<int>(between(0, burst.jobs * (burst.pods - burst.min_member)));
  burst.one_by_one = between(0, 3) == 0;
  burst.profile = between(0, 1) == 0 ? "krafla" : "volcano";
  // All minimums exist within one schedule period of the first admission.
  for (int i = 0; i < burst.jobs; ++i) {
    burst.groups_ms.push_back(between(0, 700));
    burst.pods_ms.emplace_back();
    for (int pod = 0; pod < burst.pods; ++pod) burst.pods_ms[i].push_back(between(5, 50));
  }
  if (burst.one_by_one) {
    const int64_t delay = between(2, 10);
    for (auto& delays : burst.pods_ms) delays.assign(delays.size(), delay);
  }
  return burst;
}

TEST(BurstProperties, EveryJobOfABurstGetsItsMinimumAndNoPodWaitsLongerThanAPeriod) {
  ForAllDrawn(300, [] {
    const Burst burst = DrawBurst();
    return DrawnCase{burst.Text(), [burst] { return SlowCluster(burst).Run(); }};
  });
}

}  // namespace
}  // namespace krafla::testing
