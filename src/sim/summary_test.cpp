#include "sim/summary.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <sstream>

#include "sim/text_columns.h"
#include "support/sample_run.h"

namespace krafla {
namespace {

Timestamp At(int64_t seconds) {
  return Timestamp::FromUnixSeconds(testing::SampleStart().UnixSeconds() + seconds);
}

// Tells single events with little writing.
class Story {
 public:
  Story() { Tell(0, {.kind = SimEventKind::kRunBegins, .text = "story", .count = 3}); }

  void Tell(int64_t seconds, SimEvent event) {
    event.at = At(seconds);
    collector_.On(event);
  }
  void Node(int64_t t, const std::string& name, double cpu, const std::string& zone = "") {
    Tell(t, {.kind = SimEventKind::kNodeAdded,
             .node = name,
             .zone = zone,
             .amounts = {{"cpu", cpu}, {"pods", 110}}});
  }
  void Job(int64_t t, const std::string& job, int64_t pods, int32_t minimum, int32_t floor = -1) {
    Tell(t, {.kind = SimEventKind::kJobSubmitted,
             .job = job,
             .queue = "q",
             .minimum = minimum,
             .count = pods,
             .budget_floor = floor});
  }
  void Pod(int64_t t, const std::string& job, const std::string& pod, double cpu,
           bool replaces = false) {
    Tell(t, {.kind = SimEventKind::kPodCreated,
             .pod = pod,
             .job = job,
             .queue = "q",
             .count = replaces ? 1 : 0,
             .amounts = {{"cpu", cpu}}});
  }
  void On(int64_t t, SimEventKind kind, const std::string& job, const std::string& pod,
          const std::string& node = "n1") {
    Tell(t, {.kind = kind, .pod = pod, .job = job, .queue = "q", .node = node});
  }
  void Evict(int64_t t, const std::string& job, const std::string& pod, int64_t lost) {
    Tell(t, {.kind = SimEventKind::kPodEvicted,
             .pod = pod,
             .job = job,
             .queue = "q",
             .node = "n1",
             .zone = "rz1",
             .action = "preempt",
             .reason = "zone-closed",
             .count = lost});
    On(t + 1, SimEventKind::kPodGone, job, pod);
  }
  Summary End(int64_t seconds) {
    Tell(seconds, {.kind = SimEventKind::kRunEnds});
    return collector_.Finish();
  }

 private:
  SummaryCollector collector_{testing::SampleZone()};
};

TEST(Summary, UtilisationIsWeightedByTime) {
  Story story;
  story.Node(0, "n1", 10);
  story.Job(0, "a/x", 1, 1);
  story.Pod(0, "a/x", "a/x-0", 4);
  story.On(25, SimEventKind::kPodBound, "a/x", "a/x-0");
  story.On(75, SimEventKind::kPodSucceeded, "a/x", "a/x-0");
  const Summary summary = story.End(100);
  ASSERT_EQ(summary.use.size(), 1u);  // pods are no use
  EXPECT_EQ(summary.use[0].resource, "cpu");
  EXPECT_DOUBLE_EQ(summary.use[0].fraction(), 0.2);
  EXPECT_DOUBLE_EQ(summary.use[0].peak, 4);
  ASSERT_EQ(summary.queues.size(), 1u);
  EXPECT_DOUBLE_EQ(summary.queues[0].use[0].fraction(), 0.2);
}

TEST(Summary, ALostNodeTakesItsRoomAndItsPodsPlacesWithIt) {
  Story story;
  story.Node(0, "n1", 10);
  story.Node(0, "n2", 10);
  story.Job(0, "a/x", 1, 1);
  story.Pod(0, "a/x", "a/x-0", 10);
  story.On(0, SimEventKind::kPodBound, "a/x", "a/x-0");
  story.Tell(50, {.kind = SimEventKind::kNodeLost, .node = "n1"});
  story.On(60, SimEventKind::kPodFailed, "a/x", "a/x-0");
  const Summary summary = story.End(100);
  EXPECT_DOUBLE_EQ(summary.use[0].allocatable, 15);
  EXPECT_DOUBLE_EQ(summary.use[0].used, 5);
  EXPECT_EQ(summary.nodes, 2);
  EXPECT_EQ(summary.nodes_lost, 1);
  ASSERT_EQ(summary.waiting.size(), 1u);
  EXPECT_EQ(summary.waiting[0].seconds, 50);  // since the node was lost
}

TEST(Summary, AJobWaitsUntilItsMinimumIsBound) {
  Story story;
  story.Node(0, "n1", 10);
  story.Job(10, "a/x", 3, 2);
  for (const char* pod : {"a/x-0", "a/x-1", "a/x-2"}) story.Pod(10, "a/x", pod, 1);
  story.On(20, SimEventKind::kPodBound, "a/x", "a/x-0");
  story.On(40, SimEventKind::kPodBound, "a/x", "a/x-1");
  story.Job(50, "a/y", 1, 1);
  story.Pod(50, "a/y", "a/y-0", 1);
  story.Tell(60, {.kind = SimEventKind::kJobWaiting, .job = "a/y", .text = "no room"});
  const Summary summary = story.End(100);
  EXPECT_EQ(summary.job_wait.over, 1);
  EXPECT_EQ(summary.job_wait.p50, 30);
  EXPECT_EQ(summary.job_wait.unfinished, 1);
  EXPECT_EQ(summary.job_wait.oldest, 50);
  EXPECT_EQ(summary.pod_wait.over, 2);
  EXPECT_EQ(summary.pod_wait.longest, 30);
  EXPECT_EQ(summary.pod_wait.unfinished, 2);
  EXPECT_EQ(summary.jobs_running, 1);
  ASSERT_EQ(summary.waiting.size(), 1u);
  EXPECT_EQ(summary.waiting[0].job, "a/y");
  EXPECT_EQ(summary.waiting[0].why, "no room");
}

TEST(Summary, PercentilesAreNearestRanks) {
  Story story;
  story.Node(0, "n1", 1'000);
  for (int i = 1; i <= 100; ++i) {
    const std::string job = "a/j" + std::to_string(i);
    story.Job(0, job, 1, 1);
    story.Pod(0, job, job + "-0", 1);
  }
  for (int i = 1; i <= 100; ++i) {
    const std::string job = "a/j" + std::to_string(i);
    story.On(i, SimEventKind::kPodBound, job, job + "-0");
  }
  const WaitFigures wait = story.End(200).job_wait;
  EXPECT_EQ(wait.p50, 50);
  EXPECT_EQ(wait.p95, 95);
  EXPECT_EQ(wait.p99, 99);
  EXPECT_EQ(wait.longest, 100);
}

// Evicts the pod of one place three times.
Summary Thrashed(bool new_names) {
  Story story;
  story.Node(0, "n1", 10);
  story.Job(0, "a/x", 2, 1, 2);
  story.Pod(0, "a/x", "a/x-1", 1);
  story.On(0, SimEventKind::kPodBound, "a/x", "a/x-1");
  for (int i = 0; i < 3; ++i) {
    const std::string pod = new_names ? "a/x-0-" + std::to_string(i) : "a/x-0";
    story.Pod(10 * i, "a/x", pod, 1, i > 0);
    story.On(10 * i + 1, SimEventKind::kPodBound, "a/x", pod);
    story.On(10 * i + 2, SimEventKind::kPodStarted, "a/x", pod);
    story.Evict(10 * i + 7, "a/x", pod, 5);
  }
  return story.End(100);
}

TEST(Summary, ReEvictionsAreOfPlacesEvictedBeforeWhateverTheNames) {
  for (const bool new_names : {false, true}) {
    const Summary summary = Thrashed(new_names);
    EXPECT_EQ(summary.evictions, 3);
    EXPECT_EQ(summary.re_evictions, 2) << new_names;
    EXPECT_EQ(summary.lost_seconds, 15);
    ASSERT_EQ(summary.thrash.size(), 1u);
    EXPECT_EQ(summary.thrash[0].re_evictions, 2);
    EXPECT_EQ(summary.thrash[0].worst_place, 3);
    ASSERT_EQ(summary.evictions_by.size(), 1u);
    EXPECT_EQ(summary.evictions_by[0].count, 3);
  }
}

TEST(Summary, HeadRoomIsMeasuredAgainstTheBudgetWhereThereIsOne) {
  const Summary summary = Thrashed(false);
  ASSERT_EQ(summary.head_room.size(), 1u);
  EXPECT_TRUE(summary.head_room[0].budget);
  EXPECT_EQ(summary.head_room[0].floor, 2);
  EXPECT_EQ(summary.head_room[0].least, -1);
  EXPECT_EQ(summary.head_room[0].at_floor, 3);
  EXPECT_EQ(summary.head_room[0].at, At(7));
}

TEST(Summary, AReplacementOfAFailedPodIsNoReEviction) {
  Story story;
  story.Node(0, "n1", 10);
  story.Job(0, "a/x", 1, 1);
  story.Pod(0, "a/x", "a/x-0", 1);
  story.On(1, SimEventKind::kPodBound, "a/x", "a/x-0");
  story.On(2, SimEventKind::kPodFailed, "a/x", "a/x-0");
  story.Pod(3, "a/x", "a/x-0", 1, true);
  story.On(4, SimEventKind::kPodBound, "a/x", "a/x-0");
  story.Evict(9, "a/x", "a/x-0", 5);
  const Summary summary = story.End(20);
  EXPECT_EQ(summary.evictions, 1);
  EXPECT_EQ(summary.re_evictions, 0);
  EXPECT_TRUE(summary.thrash.empty());
}

TEST(Summary, DrainsSayHowLongTheyTookAndWhatHeldThemUp) {
  Story story;
  story.Tell(10, {.kind = SimEventKind::kZoneClosed, .zone = "rz1"});
  story.Tell(20, {.kind = SimEventKind::kDrainHeld, .zone = "rz1", .text = "budget", .count = 4});
  story.Tell(40, {.kind = SimEventKind::kDrainHeld, .zone = "rz1", .text = "gang", .count = 2});
  story.Tell(45, {.kind = SimEventKind::kDrainHeld, .zone = "rz1", .text = "budget", .count = 1});
  story.Tell(50, {.kind = SimEventKind::kZoneDrained, .zone = "rz1", .count = 40});
  story.Tell(60, {.kind = SimEventKind::kZoneClosed, .zone = "rz2"});
  story.Tell(60, {.kind = SimEventKind::kDrainHeld, .zone = "rz2", .text = "a; b", .count = 1});
  story.Tell(70, {.kind = SimEventKind::kZoneOpened, .zone = "rz2"});
  story.Tell(80, {.kind = SimEventKind::kZoneClosed, .zone = "rz2"});
  story.Tell(80, {.kind = SimEventKind::kDrainHeld, .zone = "rz2", .text = "a", .count = 1});
  story.Tell(90, {.kind = SimEventKind::kZoneClosed, .zone = "rz3"});
  const Summary summary = story.End(100);
  ASSERT_EQ(summary.drains.size(), 4u);
  EXPECT_EQ(summary.drains[0].end, ZoneDrain::End::kDrained);
  EXPECT_EQ(summary.drains[0].seconds, 40);
  ASSERT_EQ(summary.drains[0].held.size(), 2u);
  EXPECT_EQ(summary.drains[0].held[0].why, "budget");
  EXPECT_EQ(summary.drains[0].held[0].seconds, 25);
  EXPECT_EQ(summary.drains[0].held[0].most_pods, 4);
  EXPECT_EQ(summary.drains[1].end, ZoneDrain::End::kReopened);
  EXPECT_EQ(summary.drains[1].seconds, 10);
  ASSERT_EQ(summary.drains[1].held.size(), 2u);  // each of two jobs
  EXPECT_EQ(summary.drains[1].held[1].why, "b");
  EXPECT_EQ(summary.drains[1].held[1].seconds, 10);
  EXPECT_EQ(summary.drains[2].end, ZoneDrain::End::kRunEnded);
  EXPECT_EQ(summary.drains[2].seconds, 20);
  // Nothing was said: nobody had to go.
  EXPECT_EQ(summary.drains[3].end, ZoneDrain::End::kDrained);
  EXPECT_EQ(summary.drains[3].seconds, 0);
}

TEST(Summary, DeservedIsOfTheKindThatIsHeldMost) {
  Story story;
  story.Tell(0, {.kind = SimEventKind::kNodeAdded,
                 .node = "n1",
                 .amounts = {{"cpu", 100}, {"memory", 1'000}}});
  story.Tell(0, {.kind = SimEventKind::kQueueShare,
                 .queue = "q",
                 .share = 0.4,
                 .amounts = {{"cpu", 10}, {"memory", 400}},
                 .deserved = {{"cpu", 90}, {"memory", 300}}});
  const Summary summary = story.End(10);
  EXPECT_DOUBLE_EQ(summary.queues[0].share.value(), 0.4);
  EXPECT_DOUBLE_EQ(summary.queues[0].deserved_share.value(), 0.3);
}

TEST(Summary, WhatQueuesDeserveIsNotKnownWhenNobodyShares) {
  Story story;
  story.Tell(0, {.kind = SimEventKind::kNodeAdded, .node = "n1", .amounts = {{"cpu", 100}}});
  story.Tell(
      0, {.kind = SimEventKind::kQueueShare, .queue = "q", .share = 0.4, .amounts = {{"cpu", 40}}});
  const Summary summary = story.End(10);
  EXPECT_TRUE(summary.queues[0].share.has_value());
  EXPECT_FALSE(summary.queues[0].deserved_share.has_value());
  const std::string text = SummaryText(summary, {});
  EXPECT_NE(text.find("  q        40%         -   40%  "), std::string::npos) << text;
}

TEST(Summary, OneThatIsLeftOutIsOne) {
  Story story;
  for (const char* job : {"a/x", "a/y", "a/z"})
    story.Tell(0, {.kind = SimEventKind::kJobSubmitted, .job = job, .queue = "q"});
  const Summary summary = story.End(10);
  ASSERT_EQ(summary.waiting.size(), 3u);
  EXPECT_NE(SummaryText(summary, {.rows = 2}).find("… and 1 more job\n"), std::string::npos);
  EXPECT_NE(SummaryText(summary, {.rows = 1}).find("… and 2 more jobs\n"), std::string::npos);
}

TEST(Summary, TextFitsATerminalAndIsAlwaysTheSame) {
  SummaryCollector first(testing::SampleZone());
  SummaryCollector second(testing::SampleZone());
  testing::SampleRun({}, first);
  testing::SampleRun({}, second);
  const std::string text = SummaryText(first.Finish());
  EXPECT_EQ(text, SummaryText(second.Finish()));
  EXPECT_EQ(SummaryJson(first.Finish()), SummaryJson(second.Finish()));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(TextWidth(line), kTerminalColumns) << line;
  for (const char* part : {"UTILISATION", "QUEUES", "JOB WAIT", "POD WAIT", "EVICTIONS", "THRASH",
                           "HEAD-ROOM", "CLOSING ZONES", "WAITING AT THE END", "FAULTS"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Summary, JsonHasTheSameFigures) {
  SummaryCollector collector(testing::SampleZone());
  testing::SampleRun({}, collector);
  const Summary summary = collector.Finish();
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(SummaryJson(summary)).get(json), simdjson::SUCCESS);
  EXPECT_EQ(int64_t(json["pods"]["evicted"]), summary.evictions);
  EXPECT_EQ(int64_t(json["jobs"]["waiting"]), summary.jobs_waiting);
  EXPECT_NEAR(double(json["use"]["cpu"]["fraction"]), summary.use[0].fraction(), 1e-6);
  EXPECT_EQ(double(json["job_wait"]["p95"]), summary.job_wait.p95);
  EXPECT_EQ(simdjson::dom::array(json["thrash"]).size(), summary.thrash.size());
  EXPECT_EQ(simdjson::dom::array(json["drains"]).size(), summary.drains.size());
  EXPECT_EQ(simdjson::dom::object(json["queues"]).size(), 3u);
}

TEST(Summary, NothingHappened) {
  const SummaryCollector collector(testing::SampleZone());
  const Summary summary = collector.Finish();
  EXPECT_EQ(summary.evictions, 0);
  EXPECT_FALSE(SummaryText(summary).empty());
}

TEST(TextColumns, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(Shorten("team-a/very-long-name-17", 11), "team-…me-17");
  EXPECT_EQ(Shorten("short", 11), "short");
  EXPECT_EQ(TextWidth("a…b"), 3u);
}

}  // namespace
}  // namespace krafla
