// Whether the scheduling thread makes progress. It says which phase it enters; when it stays in one
// for longer than a bound, it hangs: the Lease is not renewed any more, /livez fails, and the log
// names the phase.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace krafla {

// Written by the scheduling thread, read by any.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Heartbeat(Clock::duration bound) : bound_(bound) {}

  // The thread is alive, and from now on in this phase. Empty: it has ended, or not begun.
  void Enter(std::string_view phase);

  struct State {
    std::string phase;
    Clock::duration age{};  // of the last word; 0 without a phase
  };
  State Look(Clock::time_point now = Clock::now()) const;
  bool Hangs(Clock::time_point now = Clock::now()) const;
  // For /livez; none: it does not hang.
  std::optional<std::string> Problem() const;
  Clock::duration bound() const { return bound_; }

 private:
  const Clock::duration bound_;
  mutable std::mutex mutex_;
  std::string phase_;
  Clock::time_point since_;
};

// A thread that watches the heartbeat: writes the log lines, and ends the process when the
// scheduling thread, or what follows its end, does not end although it was asked to.
class HeartbeatMonitor {
 public:
  using Clock = Heartbeat::Clock;
  struct Options {
    std::chrono::milliseconds stop_patience{15'000};  // for the scheduling thread
    std::chrono::milliseconds end_patience{20'000};   // for the whole process
    std::function<void(const std::string& line)> log;
    // The scheduling thread did not end within stop_patience, or the process within end_patience.
    // Does not return in krafla serve.
    std::function<void()> on_stop_overdue;
  };

  HeartbeatMonitor(const Heartbeat& heartbeat, Options options);
  ~HeartbeatMonitor();

  // The scheduling thread was asked to stop; the process ends after it. The first call counts.
  void ExpectStop();

 private:
  void Run();
  void Look(Clock::time_point now);
  // When the process ends by force, if all stays as it is; none: no stop is expected.
  std::optional<Clock::time_point> Deadline(const Heartbeat::State& state) const;

  const Heartbeat& heartbeat_;
  const Options options_;
  bool told_ = false;  // that it hangs
  std::string hanging_phase_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Clock::time_point> stop_asked_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace krafla
