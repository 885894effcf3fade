// One of several schedulers leads: the one that holds a Lease and renews it. The others watch it
// grow old by their own clocks and take it when it has. A leader that cannot renew stops writing
// before another one may lead; so does one whose machine was suspended, until it has renewed.
//
// Has a thread of its own. MayWrite may be asked by any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/timestamp.h"
#include "kube/clocks.h"
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
  // False: the scheduling thread hangs. The Lease is neither taken nor renewed then.
  std::function<bool()> healthy;
  std::function<void(const std::string& line)> log;
  std::function<void()> on_started;  // on the lease's thread
  std::function<void()> on_lost;
  ReadClocksFn clocks = &ReadClocks;
};

// What a Lease says. A field of a wrong type counts as absent.
struct LeaseRecord {
  std::string holder;
  std::string acquire_time;
  std::string renew_time;
  std::string resource_version;
  std::string metadata;    // labels, annotations and owners as members of a JSON object
  int64_t duration_s = 0;  // 0: it names none
  int64_t transitions = 0;
  std::string problem;  // which field has a wrong type; empty: none. Who holds it is not known then
};
// An error: it cannot be written either, as it is no JSON or has no resourceVersion.
Result<LeaseRecord> ParseLease(std::string_view json);
std::string LeaseBody(const LeaseOptions& options, Timestamp now);
// Only when nobody else has written since.
std::string LeasePatch(const LeaseOptions& options, const LeaseRecord& before, Timestamp now);
std::string ReleasePatch(const LeaseRecord& before, Timestamp now);
// The same two as whole objects, for roles that allow "update" and not "patch".
std::string LeaseUpdate(const LeaseOptions& options, const LeaseRecord& before, Timestamp now);
std::string ReleaseUpdate(const LeaseOptions& options, const LeaseRecord& before, Timestamp now);

// Whether another replica's Lease has run out, by our own clock: it has not changed for as long as
// it is good. Clocks of other machines are not trusted.
class LeaseWatch {
 public:
  using Clock = BootClock;
  // `assumed`: how long a Lease is good that does not say so.
  explicit LeaseWatch(std::chrono::milliseconds assumed) : assumed_(assumed) {}

  // The Lease as an answer of `now` shows it. True: it is held by none, or has run out.
  bool IsFree(const LeaseRecord& record, Clock::time_point now);
  // The answer of `now` says that there is no Lease. True: it may be created, because no replica
  // was seen to hold it, or the term of one that renewed it until then has run out.
  bool MayCreate(Clock::time_point now);
  // When it runs out unless it is renewed; none: it was not seen held.
  std::optional<Clock::time_point> FreeAt() const;
  // When it was seen to change.
  std::optional<Clock::time_point> since() const;

 private:
  const std::chrono::milliseconds assumed_;
  std::string seen_;
  Clock::time_point since_;
  std::chrono::milliseconds duration_{0};
};

// Until when a leader may write. Any thread.
class LeaseTerm {
 public:
  // A renewal that was asked for at `asked` was granted: others count from later.
  void Renewed(const ClockReading& asked, std::chrono::milliseconds renew_deadline);
  void End();
  // Not over, and the machine was not suspended since it was asked for.
  bool MayWrite(const ClockReading& now) const;
  // The end, by the clock that HttpChannel uses; long ago when nothing may be written.
  ClockReading::Steady::time_point WriteUntil(const ClockReading& now) const;
  bool IsOver(const ClockReading& now) const;
  // Since the last renewal; none: there was none.
  std::optional<double> AgeSeconds(const ClockReading& now) const;

  // What two clocks may differ although the machine was not suspended.
  static constexpr std::chrono::milliseconds kTolerance{250};

 private:
  bool MayWriteLocked(const ClockReading& now) const;

  mutable std::mutex mutex_;
  std::optional<BootClock::time_point> asked_;
  BootClock::time_point until_;
  std::chrono::nanoseconds suspended_{0};  // when it was asked for
  bool ended_ = true;
};

class LeaderLease {
 public:
  using Clock = std::chrono::steady_clock;

  LeaderLease(HttpChannel& channel, OutageLog& outages, LeaseOptions options);
  ~LeaderLease();

  bool leading() const { return MayWrite(); }
  bool MayWrite() const { return term_.MayWrite(options_.clocks()); }
  // Nothing that only a leader may write may be under way then.
  Clock::time_point write_until() const { return term_.WriteUntil(options_.clocks()); }
  // Which replica held it when it was last read, this one perhaps; empty: none. Any thread.
  std::string Holder() const;
  // Seconds since the holder, this replica or another one, was seen to renew it. Any thread.
  std::optional<double> RenewalAgeSeconds() const;
  // No longer renewed, and given up if it is ours, so that another one need not wait. The channel
  // is not needed afterwards.
  void Release();

 private:
  enum class Write : uint8_t { kDone, kConflict, kFailed };

  void Run();
  void Stop();
  // True: it is ours, as of now.
  bool TryAcquire();
  bool ReadAndTake(const ClockReading& asked);
  bool MayCreate();
  Write Create();
  Write Take(const LeaseRecord& before);
  Write Finish(const char* verb, const HttpResponse& written);
  void Granted(const ClockReading& asked);
  bool MayTake(const LeaseRecord& record);
  bool Sleep(std::chrono::milliseconds time);
  std::chrono::milliseconds Pause() const;
  void NoteSuspend();
  void Log(const std::string& line) const;
  std::string Path() const;
  void NoteFailure(const char* verb, const HttpResponse& response);
  void NoteHolder(const std::string& holder);
  void NoteUnreadable(const std::string& problem);

  HttpChannel& channel_;
  OutageLog& outages_;
  const LeaseOptions options_;
  const std::string title_;     // "namespace/name"
  const std::string resource_;  // for the log
  const std::chrono::milliseconds timeout_;
  LeaseTerm term_;
  LeaseWatch watch_;
  std::optional<LeaseRecord> last_;  // as we wrote it, if that is known
  bool held_ = false;
  // A write that names us as the holder may have been taken, and no other holder was seen since.
  bool asked_to_hold_ = false;
  bool updates_ = false;  // "patch" is forbidden
  std::string logged_holder_;
  std::string logged_problem_;
  std::string lost_because_;
  std::chrono::nanoseconds suspended_{0};
  mutable std::mutex holder_mutex_;
  std::string holder_;
  std::optional<BootClock::time_point> seen_renewed_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace krafla
