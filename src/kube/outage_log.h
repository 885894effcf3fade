// What is said of requests that fail again and again, by many who ask at the same time: one line
// when it begins, with the cause and all whom it hits; one a minute while it lasts, with how long
// and how many; one when it is over. A cause that comes and goes is told of once a minute at most.
//
//   1. A failure is gathered for half a second, because the others' failures follow at once.
//   2. What works again for half a second is over: a stream that opens and ends at once is not.
// Each cause (no answer, certificates, 401, 403, 404, no TLS, other answers) has its own lines. A
// server that does not know us ends the connection as well, under the requests of others: these are
// its answer too, and no matter of their own.
//
// Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "kube/http_channel.h"

namespace krafla {

// One cause of failures, from the first to the last.
struct ServerTrouble {
  using Clock = std::chrono::steady_clock;

  std::map<std::string, std::string> asked;  // by resource: the verb that failed last
  std::set<std::string> cut_short;           // of these: the server was there, and broke off
  size_t hit = 0;                            // resources, at most at a time
  Clock::time_point since;
  Clock::time_point well_since;  // when `asked` has become empty
  Clock::time_point told;
  bool begun = false;  // its first line was written
  std::string error;   // the last one
};

class OutageLog {
 public:
  using Clock = ServerTrouble::Clock;

  struct Options {
    std::string server;
    std::string trust;  // for messages: where the certificates come from that we trust
    // Runs a task later, on any thread; not after the end of this object.
    std::function<void(std::chrono::milliseconds delay, std::function<void()> task)> after;
    std::function<Clock::time_point()> now = &Clock::now;
    std::function<void(const std::string& line)> log;
  };

  explicit OutageLog(Options options) : options_(std::move(options)) {}

  // "list", "pods": for messages; what is asked of one resource works or does not as a whole.
  void Failed(const std::string& verb, const std::string& resource, const HttpResponse& response);
  // After Failed; nothing otherwise.
  void Worked(const std::string& resource);

 private:
  enum Cause : size_t {
    kNoAnswer,
    kUntrusted,
    kOtherName,
    kOwnCertificate,
    kUnknownToServer,
    kForbidden,
    kMissing,
    kWantsHttps,
    kOtherAnswer,
    kCauses
  };

  static Cause CauseOf(const HttpResponse& response);
  // `silenced`: no answer comes at all, not even over a connection that we would trust, which says
  // nothing about what was wrong before.
  void Remove(const std::string& resource, Clock::time_point now, bool silenced = false);
  // Once the server does not know us: the requests that it broke off before it said so.
  void TakeThoseCutShort(ServerTrouble& unknown);
  void Look();
  // False: this trouble is over, and all was said.
  bool LookAt(Cause cause, ServerTrouble& trouble, Clock::time_point now);
  void LookLater(Clock::duration delay);
  void Tell(const std::string& sentence, Cause cause, const ServerTrouble& trouble, bool first);

  const Options options_;
  std::mutex mutex_;
  std::array<std::optional<ServerTrouble>, kCauses> troubles_;
  std::array<std::optional<Clock::time_point>, kCauses> last_begun_;
};

}  // namespace krafla
