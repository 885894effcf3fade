#include "kube/exec_credential_source.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"

namespace krafla {

using std::chrono::milliseconds;
using Clock = ExecCredentialSource::Clock;

namespace {

constexpr std::chrono::seconds kJoinPatience{2};
constexpr std::chrono::minutes kBeforeExpiry{1};
// Refusals within this time of each other are one series: the plugin's answers do not help.
constexpr std::chrono::minutes kRefusalSeries{1};
constexpr const char* kShuttingDown = "exec plugin is not run any more: shutting down";

}  // namespace

struct ExecCredentialSource::State {
  State(KubeConnection to, Options with) : connection(std::move(to)), options(std::move(with)) {}

  const KubeConnection connection;
  const Options options;

  std::mutex mutex;  // never held while the plugin runs
  std::condition_variable changed;
  std::thread thread;
  bool started = false;
  bool ended = false;
  bool running = false;
  Clock::time_point running_since;
  std::shared_ptr<const ExecCredential> credential;
  uint64_t generation = 0;
  Clock::time_point expires_at = Clock::time_point::max();
  Clock::time_point run_at = Clock::time_point::min();  // when the next run is due
  bool refused = false;                                 // the server refused `credential`
  std::optional<Clock::time_point> last_refusal;
  std::string problem;  // of the last run; empty: it succeeded
  bool warned = false;
  Clock::time_point stop_at = Clock::time_point::max();
  bool owner_gone = false;  // its callbacks must not be called any more

  void Run(const std::shared_ptr<State>& self) {
    std::unique_lock lock(mutex);
    while (Clock::now() < stop_at) {
      const Clock::time_point wake = std::min(run_at, stop_at);
      if (wake > Clock::now()) {
        if (wake == Clock::time_point::max()) {
          changed.wait(lock);
        } else {
          changed.wait_until(lock, wake);
        }
        continue;
      }
      running = true;
      running_since = Clock::now();
      const Clock::time_point end = running_since + options.patience;
      lock.unlock();
      ExecLimits limits;
      limits.until = [self, end] {
        const std::scoped_lock inner(self->mutex);
        return std::min(end, self->stop_at);
      };
      Result<ExecCredential> result = RunExecPlugin(*connection.exec, connection, limits);
      lock.lock();
      running = false;
      Take(std::move(result));
      Announce();
    }
    if (problem.empty()) problem = kShuttingDown;
    ended = true;
    Announce();
    changed.notify_all();
  }

  void Announce() const {
    if (!owner_gone && options.on_change) options.on_change();
  }

  void Log(const std::string& line) const {
    if (!owner_gone && options.log) options.log(line);
  }

  void Take(Result<ExecCredential> result) {
    const Clock::time_point now = Clock::now();
    if (!result) {
      problem = result.error().message;
      run_at = now + options.retry_wait;
      Warn(now);
      return;
    }
    if (std::exchange(warned, false)) Log("credentials are refreshed again");
    problem.clear();
    refused = false;
    ++generation;
    credential = std::make_shared<const ExecCredential>(std::move(*result));
    expires_at = run_at = Clock::time_point::max();
    if (!credential->expires.Present()) return;
    const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const std::chrono::nanoseconds left(credential->expires.ns - wall.count());
    if (left <= std::chrono::nanoseconds(0))
      Log(
          fmt::format("warning: exec plugin {} gave a credential that has expired by the clock of "
                      "this machine; "
                      "it is used all the same expires={}",
                      connection.exec->command, FormatRfc3339(credential->expires)));
    // An answer that has expired, or is about to, is requested again at the pace of failures.
    expires_at = now + std::max<std::chrono::nanoseconds>(left, options.retry_wait * 2);
    run_at = now + std::max<std::chrono::nanoseconds>(
                       {left / 2, left - kBeforeExpiry, options.retry_wait});
  }

  // Without a credential the requests' failures say it.
  void Warn(Clock::time_point now) {
    if (credential == nullptr || refused || now >= expires_at || std::exchange(warned, true))
      return;
    const std::string left =
        expires_at == Clock::time_point::max()
            ? std::string()
            : fmt::format(
                  " expires_in_s={}",
                  std::chrono::duration_cast<std::chrono::seconds>(expires_at - now).count());
    Log(fmt::format(
        "warning: credentials cannot be refreshed; the old ones are used until they expire{} "
        "error={}",
        left, LogQuoted(problem)));
  }
};

ExecCredentialSource::ExecCredentialSource(KubeConnection connection, Options options)
    : state_(std::make_shared<State>(std::move(connection), std::move(options))) {}

ExecCredentialSource::~ExecCredentialSource() {
  Stop(milliseconds(0));
  std::unique_lock lock(state_->mutex);
  state_->owner_gone = true;
  if (!state_->started) return;
  // A program on a file system that does not answer hangs in the kernel before it is a process that
  // can be killed. Such a thread is left behind: the state is shared with it.
  const bool ended = state_->changed.wait_for(lock, kJoinPatience, [&] { return state_->ended; });
  std::thread thread = std::move(state_->thread);
  lock.unlock();
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
}

ExecCredentialSource::Answer ExecCredentialSource::Current() {
  State& s = *state_;
  const std::scoped_lock lock(s.mutex);
  const Clock::time_point now = Clock::now();
  if (!s.started && now < s.stop_at) {
    s.started = true;
    s.running = true;  // at once
    s.running_since = now;
    s.thread = std::thread([state = state_] { state->Run(state); });
  }
  const bool due = s.run_at <= now && now < s.stop_at && !s.ended;
  // A credential that was refused is used only while the plugin may not be asked for another: the
  // server's answer says what is wrong.
  if (s.credential != nullptr && now < s.expires_at && !(s.refused && (s.running || due)))
    return {.credential = s.credential, .generation = s.generation};
  if (s.running || due) return {.running_since = s.running ? s.running_since : now};
  if (!s.problem.empty()) return {.problem = s.problem};
  if (now >= s.stop_at) return {.problem = kShuttingDown};
  // Expired, and the next run is not due: that cannot be, and is no reason to wait for ever.
  s.run_at = now;
  s.changed.notify_all();
  return {.running_since = now};
}

void ExecCredentialSource::Refused(uint64_t generation) {
  State& s = *state_;
  const std::scoped_lock lock(s.mutex);
  if (generation != s.generation || s.refused) return;
  const Clock::time_point now = Clock::now();
  const bool again = s.last_refusal && now - *s.last_refusal < kRefusalSeries;
  s.last_refusal = now;
  s.refused = true;
  s.run_at = std::min(s.run_at, again ? now + s.options.retry_wait : now);
  s.changed.notify_all();
}

void ExecCredentialSource::Stop(milliseconds grace) {
  const std::scoped_lock lock(state_->mutex);
  state_->stop_at = std::min(state_->stop_at, Clock::now() + grace);
  state_->changed.notify_all();
}

}  // namespace krafla
