#include "kube/heartbeat.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

int64_t Seconds(Heartbeat::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

void Heartbeat::Enter(std::string_view phase) {
  const Clock::time_point now = Clock::now();
  const std::scoped_lock lock(mutex_);
  phase_ = phase;
  since_ = now;
}

Heartbeat::State Heartbeat::Look(Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  if (phase_.empty()) return {};
  return {phase_, std::max(now - since_, Clock::duration::zero())};
}

bool Heartbeat::Hangs(Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  return !phase_.empty() && now - since_ > bound_;
}

std::optional<std::string> Heartbeat::Problem() const {
  const State state = Look();
  if (state.age <= bound_) return std::nullopt;
  return fmt::format("the scheduling thread hangs for {} s, phase {}", Seconds(state.age),
                     LogQuoted(state.phase));
}

HeartbeatMonitor::HeartbeatMonitor(const Heartbeat& heartbeat, Options options)
    : heartbeat_(heartbeat), options_(std::move(options)), thread_([this] { Run(); }) {}

HeartbeatMonitor::~HeartbeatMonitor() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void HeartbeatMonitor::ExpectStop() {
  {
    const std::scoped_lock lock(mutex_);
    if (!stop_asked_) stop_asked_ = Clock::now();
  }
  wake_.notify_all();
}

std::optional<HeartbeatMonitor::Clock::time_point> HeartbeatMonitor::Deadline(
    const Heartbeat::State& state) const {
  if (!stop_asked_) return std::nullopt;
  // Without a phase the scheduling thread has ended, and the rest of the process has to.
  return *stop_asked_ + (state.phase.empty()
                             ? options_.end_patience
                             : std::min(options_.stop_patience, options_.end_patience));
}

void HeartbeatMonitor::Run() {
  const auto period =
      std::clamp<Clock::duration>(heartbeat_.bound() / 4, milliseconds(20), milliseconds(1000));
  bool acted = false;
  std::unique_lock lock(mutex_);
  while (!end_) {
    Clock::time_point until = Clock::now() + period;
    if (const auto deadline = Deadline(heartbeat_.Look()); deadline && !acted)
      until = std::min(until, *deadline);
    wake_.wait_until(lock, until);
    if (end_) return;
    const Clock::time_point now = Clock::now();
    const Heartbeat::State state = heartbeat_.Look(now);
    const auto deadline = Deadline(state);
    const bool overdue = deadline && *deadline <= now && !std::exchange(acted, true);
    const int64_t waited_s = overdue ? Seconds(now - *stop_asked_) : 0;
    lock.unlock();
    Look(now);
    if (overdue) {
      if (options_.log)
        options_.log(state.phase.empty()
                         ? fmt::format("shutting down does not end; ending the process waited_s={}",
                                       waited_s)
                         : fmt::format("the scheduling thread does not end; ending the process "
                                       "waited_s={} phase={}",
                                       waited_s, LogQuoted(state.phase)));
      if (options_.on_stop_overdue) options_.on_stop_overdue();
    }
    lock.lock();
  }
}

void HeartbeatMonitor::Look(Clock::time_point now) {
  const Heartbeat::State state = heartbeat_.Look(now);
  const bool hangs = state.age > heartbeat_.bound();
  if (hangs == told_) return;
  told_ = hangs;
  if (hangs) hanging_phase_ = state.phase;
  if (!options_.log) return;
  options_.log(
      hangs ? fmt::format("the scheduling thread hangs; the leader lease is not renewed any more "
                          "phase={} for_s={}",
                          LogQuoted(state.phase), Seconds(state.age))
            : fmt::format("the scheduling thread goes on phase={}", LogQuoted(hanging_phase_)));
}

}  // namespace krafla
