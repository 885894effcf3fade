// A scheduler that looks only when something has changed or a timer is due decides what one decides
// that looks all the time: the same, at the same instants.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "manifest/read_cluster.h"
#include "property/for_all.h"
#include "scheduler/scheduling_loop.h"
#include "scheduler/vocabulary.h"

namespace krafla::testing {
namespace {

// Some cases also have what the configuration of a random cluster does not use by itself.
std::string WithMoreArguments(std::string config, uint64_t seed) {
  const auto add_after = [&](std::string_view line, std::string_view more) {
    if (const size_t at = config.find(line); at != std::string::npos)
      config.insert(config.find('\n', at) + 1, more);
  };
  if (seed % 2 == 0)
    add_after("- name: cdp\n",
              "    arguments: {cdp.default-cooldown: 45s, cdp.backoff: 2, cdp.max-evictions: 2, "
              "cdp.eviction-period: 20m, cdp.max-cooldown: 5m}\n");
  if (seed % 3 == 0)
    add_after("tdm.revocable-zone.rz1:",
              fmt::format("      tdm.drain-lead: {}\n", seed % 2 == 0 ? "30m" : "2m"));
  if (seed % 5 == 0)
    add_after("tdm.revocable-zone.rz2:",
              "      tdm.revocable-zone.rz4: \"Mon-Wed 08:00-12:01; Tue,Sun 12:02-12:30\"\n");
  return config;
}

struct Log final : DecisionSink {
  std::vector<std::string> lines;
  Timestamp now;

  void OnCycle(Session& session, const std::vector<JobPhaseChange>& phases) override {
    const Cluster& cluster = session.cluster;
    const auto add = [&](std::string line) {
      lines.push_back(fmt::format("{} {}", FormatRfc3339(now), line));
    };
    for (const JobPhaseChange& change : phases)
      add(fmt::format("{} {}", cluster.JobKey(change.job), ToString(change.after)));
    for (const Bind& bind : session.plan.binds) {
      add(fmt::format("{} on {}", cluster.TaskKey(bind.task), cluster.NodeName(bind.node)));
      Expect(Step::kStarts, 3, cluster.tasks[bind.task], cluster.nodes[bind.node].name);
    }
    for (const Eviction& eviction : session.plan.evictions) {
      add(fmt::format("{} goes", cluster.TaskKey(eviction.task)));
      Expect(Step::kIsGone, 20, cluster.tasks[eviction.task], kEmptyStr);
      Expect(Step::kComesBack, 50, cluster.tasks[eviction.task], kEmptyStr);
    }
  }

  // What becomes of the decisions.
  enum class Step : uint8_t { kStarts, kIsGone, kComesBack };
  struct Consequence {
    Timestamp at;
    Step step;
    StrId ns;
    StrId name;
    StrId node;
  };
  std::vector<Consequence> consequences;

 private:
  void Expect(Step step, int64_t seconds, const Task& task, StrId node) {
    consequences.push_back(
        {{now.ns + seconds * Timestamp::kNsPerSecond}, step, task.ns, task.name, node});
  }
};

class World {
 public:
  explicit World(const RandomCluster& random) {
    Diagnostics diagnostics;
    SchedulerConfig config =
        ReadSchedulerConfig(WithMoreArguments(random.config, random.shape.seed),
                            BuiltInVocabulary(), {.profile = random.profile}, diagnostics);
    live_.emplace(
        BuildOptions{.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit});
    ReadTextInto(*live_, random.Text(), "cluster", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items())
      if (d.severity == Severity::kError) problems += ToString(d) + "\n";
    const Result<ZonedTimestamp> now = ParseRfc3339(random.now);
    KRAFLA_CHECK(now.has_value());
    begin = now->time;
    loop_.emplace(*live_, std::move(config), FixedOffset(now->offset_seconds), silent_);
    loop_->SetSchedulePeriod(25 * Timestamp::kNsPerSecond);
    loop_->SetFollowsChanges(random.shape.seed % 2 == 0);
  }

  void CycleAt(Timestamp now, bool only_when_due) {
    if (only_when_due && !loop_->IsDue(now)) return;
    if (!only_when_due) loop_->SearchAlways();
    log.now = now;
    loop_->RunCycle(now, log);
    ++cycles;
  }

  // Kubelets and job controllers: pods start, end, and come back as new ones.
  void Follow(Timestamp now) {
    const std::vector<Log::Consequence> expected = std::exchange(log.consequences, {});
    for (const Log::Consequence& c : expected) {
      if (c.at > now) {
        log.consequences.push_back(c);
      } else if (c.step == Log::Step::kComesBack) {
        if (const auto it = gone_.find({c.ns, c.name}); it != gone_.end()) {
          live_->AddPod(std::move(it->second), Origin::kWritten);
          gone_.erase(it);
        }
      } else if (const krafla::PodFacts* known = live_->FindPod(c.ns, c.name)) {
        krafla::PodFacts pod = *known;
        if (c.step == Log::Step::kIsGone) live_->RemovePod(c.ns, c.name);
        const bool starts = c.step == Log::Step::kStarts;
        pod.task.status = starts ? TaskStatus::kRunning : TaskStatus::kPending;
        pod.task.node_name = c.node;
        pod.task.pod_running = starts;
        pod.task.scheduled_at = starts ? c.at : Timestamp{};
        pod.task.started = pod.task.scheduled_at;
        if (starts) {
          live_->AddPod(std::move(pod), Origin::kWritten);
        } else {
          gone_.insert_or_assign({c.ns, c.name}, std::move(pod));
        }
      }
    }
  }

  std::string problems;
  Timestamp begin;
  Log log;
  int cycles = 0;

 private:
  std::optional<LiveCluster> live_;
  krafla::Log silent_{0};
  std::map<std::pair<StrId, StrId>, krafla::PodFacts> gone_;
  std::optional<SchedulingLoop> loop_;
};

// Each second for some minutes, each minute for some hours.
std::vector<int64_t> Seconds() {
  std::vector<int64_t> seconds;
  for (int64_t s = 0; s < 200; ++s) seconds.push_back(s);
  for (int64_t s = 240; s < 6 * 3'600; s += 60) seconds.push_back(s);
  return seconds;
}

void CompareWithEveryCycle(int cases, const Wanted& wanted) {
  int all = 0;
  int due = 0;
  size_t lines = 0;
  ForAll(cases, wanted, [&](const RandomCluster& random) -> std::string {
    World always(random);
    World when_due(random);
    if (!always.problems.empty()) return always.problems;
    for (const int64_t second : Seconds()) {
      const Timestamp now{always.begin.ns + second * Timestamp::kNsPerSecond};
      always.Follow(now);
      when_due.Follow(now);
      always.CycleAt(now, false);
      when_due.CycleAt(now, true);
      if (always.log.lines != when_due.log.lines)
        return fmt::format("with every cycle:\n  {}\nwhen due:\n  {}",
                           fmt::join(always.log.lines, "\n  "),
                           fmt::join(when_due.log.lines, "\n  "));
    }
    all += always.cycles;
    due += when_due.cycles;
    lines += always.log.lines.size();
    return {};
  });
  EXPECT_GT(lines, 0u);
  EXPECT_LT(due, all / 4) << "timers must not be due all the time";
}

TEST(TimerProperty, NothingIsDecidedBetweenTimers) {
  CompareWithEveryCycle(
      60, {.features = {Feature::kPriorities, Feature::kZones, Feature::kPreemptableMarks,
                        Feature::kBudgets, Feature::kCooldowns, Feature::kWaitingTimes}});
}

TEST(TimerProperty, NorWhereJobsContend) {
  CompareWithEveryCycle(40, {.features = {Feature::kPriorities, Feature::kCooldowns,
                                          Feature::kMinResources, Feature::kWaitingTimes},
                             .contest = true});
}

}  // namespace
}  // namespace krafla::testing
