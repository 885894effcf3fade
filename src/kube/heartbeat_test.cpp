#include "kube/heartbeat.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <vector>

namespace krafla {
namespace {

using std::chrono::milliseconds;

TEST(Heartbeat, AThreadThatStaysInAPhaseHangs) {
  Heartbeat heartbeat(milliseconds(1000));
  const auto now = Heartbeat::Clock::now();
  EXPECT_FALSE(heartbeat.Hangs(now + std::chrono::hours(1))) << "it has not begun";
  EXPECT_EQ(heartbeat.Problem(), std::nullopt);
  heartbeat.Enter("cycle: action preempt");
  EXPECT_FALSE(heartbeat.Hangs());
  EXPECT_TRUE(heartbeat.Hangs(Heartbeat::Clock::now() + milliseconds(1001)));
  const auto state = heartbeat.Look(Heartbeat::Clock::now() + milliseconds(500));
  EXPECT_EQ(state.phase, "cycle: action preempt");
  EXPECT_GE(state.age, milliseconds(500));
  heartbeat.Enter("");
  EXPECT_FALSE(heartbeat.Hangs(Heartbeat::Clock::now() + std::chrono::hours(1))) << "it has ended";
}

TEST(Heartbeat, ItsProblemNamesThePhase) {
  Heartbeat heartbeat(milliseconds(0));
  heartbeat.Enter("reading the configuration");
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(heartbeat.Problem(),
            "the scheduling thread hangs for 0 s, phase \"reading the configuration\"");
}

class Lines {
 public:
  void Add(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    lines_.push_back(line);
  }
  bool Has(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    for (const std::string& line : lines_)
      if (line.find(text) != line.npos) return true;
    return false;
  }
  size_t size() {
    const std::scoped_lock lock(mutex_);
    return lines_.size();
  }
  bool WaitFor(const std::string& text) {
    for (int i = 0; i < 5000; ++i) {
      if (Has(text)) return true;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return false;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(HeartbeatMonitor, LogsTheHangAndItsEndOnce) {
  Heartbeat heartbeat(milliseconds(50));
  Lines lines;
  HeartbeatMonitor monitor(
      heartbeat, {.log = [&](const std::string& line) { lines.Add(line); }, .on_stop_overdue = {}});
  heartbeat.Enter("cycle: action preempt");
  ASSERT_TRUE(
      lines.WaitFor("the scheduling thread hangs; the leader lease is not renewed any more "
                    "phase=\"cycle: action preempt\" for_s=0"));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(lines.size(), 1u);
  heartbeat.Enter("");
  ASSERT_TRUE(lines.WaitFor("the scheduling thread goes on phase=\"cycle: action preempt\""));
}

TEST(HeartbeatMonitor, EndsTheProcessWhenTheThreadDoesNot) {
  Heartbeat heartbeat(std::chrono::hours(1));
  heartbeat.Enter("writing");
  Lines lines;
  std::promise<void> overdue;
  HeartbeatMonitor monitor(heartbeat, {.stop_patience = milliseconds(20),
                                       .log = [&](const std::string& line) { lines.Add(line); },
                                       .on_stop_overdue = [&] { overdue.set_value(); }});
  const auto begun = Heartbeat::Clock::now();
  monitor.ExpectStop();
  monitor.ExpectStop();  // SIGTERM may come twice
  overdue.get_future().wait();
  EXPECT_LT(Heartbeat::Clock::now() - begun, milliseconds(900))
      << "it waits for the time itself, not for its next look after a second";
  EXPECT_TRUE(
      lines.Has("the scheduling thread does not end; ending the process waited_s=0 "
                "phase=\"writing\""));
}

TEST(HeartbeatMonitor, WaitsForTheRestOfTheProcessWhenTheThreadHasEnded) {
  Heartbeat heartbeat(milliseconds(80));
  heartbeat.Enter("");
  std::atomic<bool> overdue = false;
  {
    HeartbeatMonitor monitor(heartbeat, {.stop_patience = milliseconds(1),
                                         .end_patience = std::chrono::hours(1),
                                         .log = {},
                                         .on_stop_overdue = [&] { overdue = true; }});
    monitor.ExpectStop();
    std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_FALSE(overdue);
}

TEST(HeartbeatMonitor, EndsTheProcessWhenTheRestOfItDoesNotEnd) {
  Heartbeat heartbeat(std::chrono::hours(1));
  heartbeat.Enter("writing");
  Lines lines;
  std::promise<void> overdue;
  HeartbeatMonitor monitor(heartbeat, {.stop_patience = milliseconds(20'000),
                                       .end_patience = milliseconds(50),
                                       .log = [&](const std::string& line) { lines.Add(line); },
                                       .on_stop_overdue = [&] { overdue.set_value(); }});
  heartbeat.Enter("");
  monitor.ExpectStop();
  overdue.get_future().wait();
  EXPECT_TRUE(lines.Has("shutting down does not end; ending the process waited_s=0"));
}

}  // namespace
}  // namespace krafla
