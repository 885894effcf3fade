#include "kube/clock_reports.h"

#include <gtest/gtest.h>

#include "kube/live_scheduler_test.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ClockReportsTest : public testing::LiveSchedulerTest {
 protected:
  static constexpr int64_t kStart = 1'773'000'000;

  void Pass(milliseconds time) {
    clocks.wall.ns += std::chrono::nanoseconds(time).count();
    clocks.boot += time;
    clocks.steady += time;
  }
  void SetClock(int64_t by_s) { clocks.wall.ns += by_s * Timestamp::kNsPerSecond; }
  // The API server's clock is right all the time.
  void Answer() {
    const int64_t since =
        std::chrono::duration_cast<seconds>(clocks.boot.time_since_epoch()).count();
    skew.Note(kStart + since - 1000, clocks.boot, clocks);
  }
  void Follow(bool leading = true) { reports.Follow(*loop, leading); }
  // Reasons of the events that were sent since the last call.
  Lines Events() {
    Lines reasons;
    for (const std::string& body : client.bodies) {
      const size_t at = body.find("\"reason\":\"");
      if (at != body.npos)
        reasons.push_back(body.substr(at + 10, body.find('"', at + 10) - at - 10));
    }
    client.TakeRequests();
    AnswerAll();
    client.TakeRequests();
    return reasons;
  }
  Lines TakeLog() { return std::exchange(lines, {}); }

  ClockReading clocks{.wall = Timestamp::FromUnixSeconds(kStart),
                      .boot = BootClock::time_point(seconds(1000)),
                      .steady = ClockReading::Steady::time_point(seconds(900))};
  ClockSkew skew{seconds(30)};
  Lines lines;
  ClockReports reports{
      *events,
      {.skew = &skew,
       .clocks = [this] { return clocks; },
       .scheduler = {"Lease", "coordination.k8s.io/v1", "volcano-system", "volcano", {}},
       .log = [this](const std::string& line) { lines.push_back(line); }}};
};

TEST_F(ClockReportsTest, AClockThatIsSetMakesACycleDue) {
  Follow();
  loop->RunCycle(clocks.wall, *scheduler);
  ASSERT_FALSE(loop->IsDue(clocks.wall));
  Pass(seconds(10));
  Follow();
  EXPECT_FALSE(loop->IsDue(clocks.wall)) << "time passes";
  SetClock(-3'600);
  Follow();
  EXPECT_TRUE(loop->IsDue(clocks.wall));
  EXPECT_EQ(TakeLog(), Lines{"the scheduler's clock was set by_s=-3600.0"});
  Follow();
  EXPECT_EQ(TakeLog(), Lines{});
}

TEST_F(ClockReportsTest, ASuspendIsNoStep) {
  Follow();
  clocks.boot += std::chrono::hours(8);
  clocks.wall.ns += 8 * 3'600 * Timestamp::kNsPerSecond;
  Follow();
  EXPECT_EQ(TakeLog(), Lines{});
}

TEST_F(ClockReportsTest, ASkewIsReportedOnceAndSoIsItsEnd) {
  Answer();
  Follow();
  EXPECT_EQ(loop->memory().clock_skew_s, std::nullopt);
  SetClock(45);
  Follow();
  EXPECT_EQ(loop->memory().clock_skew_s, 45);
  EXPECT_EQ(TakeLog(),
            (Lines{"the scheduler's clock was set by_s=45.0",
                   "clock skew against the API server is too large; drains and ends of cooldowns "
                   "wait skew_s=45 limit=30s"}));
  EXPECT_NE(client.bodies.back().find("the scheduler's clock is 45 s ahead of the API server's"),
            std::string::npos)
      << client.bodies.back();
  EXPECT_EQ(Events(), Lines{"ClockSkew"});
  Follow();
  EXPECT_EQ(Events(), Lines{});
  SetClock(-45);
  Follow();
  EXPECT_EQ(loop->memory().clock_skew_s, 45) << "for a while";
  TakeLog();
  Pass(seconds(30));
  Follow();
  EXPECT_EQ(loop->memory().clock_skew_s, std::nullopt);
  EXPECT_EQ(TakeLog(), Lines{"clock skew against the API server is over; drains and ends of "
                             "cooldowns go on limit=30s"});
  EXPECT_EQ(Events(), Lines{"ClockSkewOver"});
}

TEST_F(ClockReportsTest, AStandbyLogsASkewAndWritesItsEventWhenItLeads) {
  Answer();
  SetClock(-45);
  Follow(/*leading=*/false);
  EXPECT_EQ(TakeLog().size(), 1u);
  EXPECT_EQ(Events(), Lines{});
  Follow();
  EXPECT_EQ(TakeLog().size(), 0u);
  EXPECT_EQ(Events(), Lines{"ClockSkew"});
}

}  // namespace
}  // namespace krafla
