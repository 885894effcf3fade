#include "sim/expectations.h"

#include <gtest/gtest.h>

#include "sim/read_scenario.h"
#include "sim/scenario_times.h"

namespace krafla {
namespace {

// A run told by hand, and what becomes of one expectation.
class Story {
 public:
  explicit Story(const std::string& expectation) {
    Diagnostics diagnostics;
    scenario_ = ReadScenarioText(
        "start: 2026-03-10 12:00\nuntil: 2h\ncluster: {nodes: {name: n, cpu: 8, memory: 1Gi}}\n"
        "queues: {research: {}}\nexpect:\n- {" +
            expectation + "}\n",
        "s.yaml", {}, diagnostics);
    for (const Diagnostic& d : diagnostics.items()) ADD_FAILURE() << ToString(d);
    judge_ = std::make_unique<ExpectationJudge>(scenario_);
    Tell("12:00", SimEventKind::kRunBegins, {});
    Tell("12:00", SimEventKind::kNodeAdded, {.node = "n", .amounts = {{"cpu", 8}}});
  }

  Story& Tell(const std::string& at, SimEventKind kind, SimEvent event) {
    event.kind = kind;
    event.at = *ParseScenarioTime(at, {scenario_.start, scenario_.until, scenario_.zone});
    judge_->On(event);
    return *this;
  }
  Story& Job(const std::string& at, const std::string& job, int pods) {
    Tell(at, SimEventKind::kJobSubmitted, {.job = job, .queue = "research", .count = pods});
    for (int i = 0; i < pods; ++i) Created(at, job, i);
    return *this;
  }
  Story& Created(const std::string& at, const std::string& job, int number) {
    return Tell(
        at, SimEventKind::kPodCreated,
        {.pod = Pod(job, number), .job = job, .queue = "research", .amounts = {{"cpu", 2}}});
  }
  Story& Bound(const std::string& at, const std::string& job, int number,
               const std::string& node = "n", const std::string& zone = "") {
    Tell(at, SimEventKind::kPodBound,
         {.pod = Pod(job, number), .job = job, .queue = "research", .node = node, .zone = zone});
    return Tell(at, SimEventKind::kPodStarted, {.pod = Pod(job, number), .job = job});
  }
  Story& Evicted(const std::string& at, const std::string& job, int number) {
    return Tell(at, SimEventKind::kPodEvicted,
                {.pod = Pod(job, number),
                 .job = job,
                 .node = "n",
                 .action = "preempt",
                 .for_job = "t/urgent"});
  }
  Story& Gone(const std::string& at, const std::string& job, int number) {
    return Tell(at, SimEventKind::kPodGone, {.pod = Pod(job, number), .job = job});
  }
  Story& Zone(const std::string& at, SimEventKind kind, const std::string& why = "") {
    return Tell(at, kind, {.zone = "rz1", .text = why});
  }

  // "met", or what is wrong.
  std::string Verdict() {
    Tell("14:00", SimEventKind::kRunEnds, {});
    const std::vector<ExpectationResult> results = judge_->Finish();
    EXPECT_EQ(results.size(), 1u);
    if (results.at(0).met) return "met";
    return results.at(0).detail;
  }

 private:
  static std::string Pod(const std::string& job, int number) {
    return job + "-main-" + std::to_string(number);
  }

  Scenario scenario_;
  std::unique_ptr<ExpectationJudge> judge_;
};

TEST(Expectations, BoundMeansAllPodsAtOneTime) {
  const auto told = [](const char* expectation) {
    Story story(expectation);
    story.Job("12:00", "t/a", 2).Bound("12:01", "t/a", 0).Evicted("12:02", "t/a", 0);
    return story.Gone("12:02", "t/a", 0)
        .Created("12:02", "t/a", 0)
        .Bound("12:03", "t/a", 1, "m", "rz1")
        .Bound("12:05", "t/a", 0)
        .Verdict();
  };
  EXPECT_EQ(told("bound: t/a, by: \"12:05\""), "met");
  EXPECT_EQ(told("bound: t/a, by: \"12:04:59\""), "t/a had 1 of 2 pods bound at 12:01:00");
  EXPECT_EQ(told("bound: t/a, by: \"12:01\", atLeast: 1"), "met");
  EXPECT_EQ(told("bound: t/a, between: [\"13:00\", \"13:01\"]"), "met");
  EXPECT_EQ(told("bound: t/a, by: \"12:00:30\""), "t/a had none of its 2 pods bound by 12:00:30");
  EXPECT_EQ(told("bound: t/a, zone: rz1, atLeast: 1"), "met");
  EXPECT_EQ(told("bound: t/a, node: m"), "t/a had 1 of 2 pods bound on m at 12:03:00");
  EXPECT_EQ(told("bound: t/b"),
            "no job or pod of the run is called \"t/b\"; did you mean \"t/a\"?");
}

TEST(Expectations, NotBoundEndsBeforeItsInstant) {
  const auto told = [](const char* expectation) {
    return Story(expectation).Job("12:00", "t/a", 1).Bound("12:10", "t/a", 0).Verdict();
  };
  EXPECT_EQ(told("notBound: t/a, before: \"12:10\""), "met");
  EXPECT_EQ(told("notBound: t/a, before: \"12:10:01\""), "t/a-main-0 was bound to n at 12:10:00");
  EXPECT_EQ(told("notBound: t/a, before: end, node: m"), "met");
  EXPECT_EQ(told("notBound: t/x, before: end"),
            "no job or pod of the run is called \"t/x\"; did you mean \"t/a\"?");
}

TEST(Expectations, EvictionsAreCountedInTheirTime) {
  const auto told = [](const char* expectation) {
    return Story(expectation)
        .Job("12:00", "t/a", 2)
        .Bound("12:00", "t/a", 0)
        .Bound("12:00", "t/a", 1)
        .Evicted("12:30", "t/a", 0)
        .Evicted("13:00", "t/a", 1)
        .Verdict();
  };
  EXPECT_EQ(told("evicted: t/a, count: 2"), "met");
  EXPECT_EQ(
      told("evicted: t/a, count: 1"),
      "2 evictions: t/a-main-0 at 12:30:00 by preempt for t/urgent, t/a-main-1 at 13:00:00 by "
      "preempt for t/urgent");
  EXPECT_EQ(told("evicted: t/a-main-0, count: 1"), "met");
  EXPECT_EQ(told("evicted: t/a, between: [\"12:30\", \"12:31\"], count: 1, for: t/urgent"), "met");
  EXPECT_EQ(
      told("evicted: t/a, by: \"12:29\""),
      "none was evicted between 12:00:00 and 12:29:00; at other times 2 evictions: t/a-main-0 "
      "at 12:30:00 by preempt for t/urgent, t/a-main-1 at 13:00:00 by preempt for t/urgent");
  EXPECT_EQ(told("evicted: t/a, action: reclaim"), "none was evicted");
  EXPECT_EQ(told("evicted: t/a, atMost: 1"), told("evicted: t/a, count: 1"));
  EXPECT_EQ(told("neverEvicted: t/a, before: \"12:30\""), "met");
  EXPECT_EQ(told("neverEvicted: \"*\", between: [\"12:59\", \"13:01\"]"),
            "1 eviction: t/a-main-1 at 13:00:00 by preempt for t/urgent between 12:59:00 and "
            "13:01:00");
}

TEST(Expectations, DrainsAreTimedFromEachClosing) {
  using K = SimEventKind;
  const auto story = [] { return std::make_unique<Story>("drained: rz1, within: 5m"); };
  EXPECT_EQ(story()->Verdict(), "zone rz1 never closed in the run");
  EXPECT_EQ(story()->Zone("12:00", K::kZoneClosed).Verdict(), "zone rz1 never closed in the run");
  const auto opened = [&] {
    auto told = story();
    told->Zone("12:00", K::kZoneOpened);
    return told;
  };
  EXPECT_EQ(opened()->Zone("12:10", K::kZoneClosed).Zone("12:15", K::kZoneDrained).Verdict(),
            "met");
  EXPECT_EQ(opened()
                ->Zone("12:10", K::kZoneClosed)
                .Zone("12:11", K::kDrainHeld, "budget of t/a")
                .Zone("12:15:01", K::kZoneDrained)
                .Verdict(),
            "closed at 12:10:00 and drained after 5m1s (held up: budget of t/a)");
  EXPECT_EQ(opened()->Zone("12:10", K::kZoneClosed).Verdict(),
            "closed at 12:10:00 and not drained 1h50m later");
  EXPECT_EQ(opened()->Zone("13:58", K::kZoneClosed).Verdict(),
            "the run ended before the time to drain was over; make until later");
}

TEST(Expectations, SharesAndPodsAtAnInstant) {
  const auto told = [](const char* expectation) {
    return Story(expectation)
        .Job("12:00", "t/a", 2)
        .Bound("12:10", "t/a", 0)
        .Bound("12:20", "t/a", 1)
        .Evicted("13:00", "t/a", 0)
        .Gone("13:01", "t/a", 0)
        .Verdict();
  };
  EXPECT_EQ(told("share: research, at: \"12:20\", atLeast: 0.5, atMost: 0.5"), "met");
  EXPECT_EQ(told("share: research, at: \"12:19\", atLeast: 0.5"),
            "queue research had 0.250 of the cluster at 12:19:00");
  EXPECT_EQ(told("share: research, at: \"13:00:30\", atLeast: 0.5"), "met");
  EXPECT_EQ(told("share: research, at: end, atMost: 0.25"), "met");
  EXPECT_EQ(told("pods: t/a, at: \"12:30\", count: 2"), "met");
  EXPECT_EQ(told("pods: t/a, at: \"13:00:30\", count: 2"), "1 pod ran at 13:00:30");
  EXPECT_EQ(told("pods: t/a, at: \"12:30\", atMost: 1"), "2 pods ran at 12:30:00");
}

TEST(Expectations, ThrashIsAPodEvictedAgainAndAgain) {
  const auto told = [](const char* expectation) {
    Story story(expectation);
    story.Job("12:00", "t/a", 2);
    for (const char* at : {"12:10", "12:20", "12:30"}) story.Evicted(at, "t/a", 0);
    return story.Evicted("12:40", "t/a", 1).Verdict();
  };
  EXPECT_EQ(told("noThrash: \"*\", atMost: 3"), "met");
  EXPECT_EQ(told("noThrash: t/a, atMost: 2").substr(0, 51),
            "t/a-main-0 was evicted 3 times: t/a-main-0 at 12:10");
}

TEST(Expectations, CompletionsWaitsAndLoops) {
  const auto told = [](const char* expectation) {
    return Story(expectation)
        .Job("12:00", "t/a", 1)
        .Job("12:00", "t/b", 1)
        .Tell("12:01", SimEventKind::kJobWaiting, {.job = "t/b", .text = "3 of 4 nodes too small"})
        .Tell("12:30", SimEventKind::kJobCompleted, {.job = "t/a"})
        .Tell("12:40", SimEventKind::kEvictionLoop, {.text = "t/a and t/b, 4 times"})
        .Verdict();
  };
  EXPECT_EQ(told("completed: t/a, by: \"12:30\""), "met");
  EXPECT_EQ(told("completed: t/a, by: \"12:29\""), "t/a completed at 12:30:00");
  EXPECT_EQ(told("completed: \"t/*\""), "t/b did not complete");
  EXPECT_EQ(told("waiting: t/b, reason: too small"), "met");
  EXPECT_EQ(told("waiting: t/b, reason: quota"), "t/b waited at 12:01:00: 3 of 4 nodes too small");
  EXPECT_EQ(told("waiting: t/a"), "it did not wait");
  EXPECT_EQ(told("loop: t/b"), "met");
  EXPECT_EQ(told("loop: \"*\", count: 0"), "1 report: 12:40:00: t/a and t/b, 4 times");
}

TEST(Expectations, AMessageNamesItsLine) {
  Expectation expectation;
  expectation.text = "bound: t/a";
  expectation.place = {"s.yaml", {12, 3}};
  EXPECT_EQ(ToString(ExpectationResult{&expectation, false, "t/a had none"}),
            "s.yaml:12: expected bound: t/a; t/a had none");
}

}  // namespace
}  // namespace krafla
