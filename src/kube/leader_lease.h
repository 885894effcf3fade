// One of several schedulers leads. Who does holds a Lease and renews it; the others watch it grow
// old by their own clocks and take it when it is. A leader that cannot renew stops writing before
// the others may believe it gone.
//
// Has a thread of its own. MayWrite may be asked by any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/timestamp.h"
#include "kube/http_channel.h"
#include "kube/outage_log.h"

namespace krafla {

struct LeaseOptions {
  std::string ns = "volcano-system";
  std::string name = "volcano";
  std::string identity;
  std::chrono::milliseconds lease_duration{15'000};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};
  std::function<void(const std::string& line)> log;
  std::function<void()> on_started;  // on the lease's thread
  std::function<void()> on_lost;
};

// What a Lease says.
struct LeaseRecord {
  std::string holder;
  std::string renew_time;
  std::string resource_version;
  int64_t duration_s = 0;
  int64_t transitions = 0;
};
Result<LeaseRecord> ParseLease(std::string_view json);
std::string LeaseBody(const LeaseOptions& options, Timestamp now);
// Only when nobody else has written since.
std::string LeasePatch(const LeaseOptions& options, const LeaseRecord& before, Timestamp now);
std::string ReleasePatch(const LeaseRecord& before, Timestamp now);

// Whether somebody else's lease has run out, by our own clock: it has not changed for as long as it
// is good. Clocks of other machines are not trusted.
class LeaseWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // True: nobody holds it, or whoever does has let it run out.
  bool IsFree(const LeaseRecord& record, Clock::time_point now);

 private:
  std::string seen_;
  Clock::time_point since_;
};

class LeaderLease {
 public:
  using Clock = std::chrono::steady_clock;

  LeaderLease(HttpChannel& channel, OutageLog& outages, LeaseOptions options);
  ~LeaderLease();

  bool leading() const { return MayWrite(); }
  bool MayWrite() const { return Clock::now() < write_until(); }
  // Nothing that only a leader may write may be under way then.
  Clock::time_point write_until() const { return Clock::time_point(Clock::duration(write_until_)); }
  // Who held it when it was last read, we perhaps; empty: nobody. Any thread.
  std::string Holder() const;
  // No longer renewed, and given up if it is ours, so that another one need not wait. The channel
  // is not needed afterwards.
  void Release();

 private:
  void Run();
  void Stop();
  // True: it is ours, as of now.
  bool TryAcquire();
  bool Sleep(std::chrono::milliseconds time);
  std::string Path() const;
  void NoteFailure(const char* verb, const HttpResponse& response);
  void NoteHolder(const std::string& holder);

  HttpChannel& channel_;
  OutageLog& outages_;
  const LeaseOptions options_;
  const std::string resource_;  // for the log
  std::atomic<Clock::rep> write_until_ = 0;
  LeaseWatch watch_;
  std::optional<LeaseRecord> last_;
  bool held_ = false;
  bool logged_other_ = false;
  mutable std::mutex holder_mutex_;
  std::string holder_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace krafla
