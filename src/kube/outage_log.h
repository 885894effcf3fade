// Log lines about requests that keep failing. OutageLog gathers the failures of all watches, of the
// Lease and of denied writes by cause. Each cause has one line when it begins, one a minute while
// it lasts, and one when it is over. A cause that comes and goes has one line a minute at most.
//
//   1. Failures are gathered for half a second, because those of other requests follow at once.
//   2. A cause is over when its requests have worked for half a second: a stream that opens and
//   ends
//      at once does not count.
// A server that answers 401 also closes the connection under other requests. Those count as refused
// with 401, too.
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
#include <string_view>

#include "kube/http_channel.h"

namespace krafla {

// One cause of failures, from the first to the last.
struct ServerTrouble {
  using Clock = std::chrono::steady_clock;

  struct Asked {
    std::string verb;  // the one that failed last
    std::string resource;
  };
  std::map<std::string, Asked> asked;  // by key: a read's is its resource, a write's has its verb
  std::set<std::string> cut_short;     // keys of these: the server was there, and broke off
  size_t hit = 0;                      // resources, at most at a time
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

  // A read failed: "list", "pods". Reads of one resource work or fail as a whole.
  void Failed(const std::string& verb, const std::string& resource, const HttpResponse& response);
  // After Failed; nothing otherwise.
  void Worked(const std::string& resource);
  // A write was answered: "patch", "podgroups". Only a denied permission counts: other failures are
  // reported by their writers, with the object. `patch` and `update` are one: where one is denied,
  // the other may do.
  void WriteAnswered(std::string_view verb, std::string_view resource,
                     const HttpResponse& response);

 private:
  enum Cause : size_t {
    kNoAnswer,
    kUntrusted,
    kOtherName,
    kOwnCertificate,
    kNoCredentials,
    kUnknownToServer,
    kForbidden,
    kMissing,
    kWantsHttps,
    kOtherAnswer,
    kCauses
  };

  static Cause CauseOf(const HttpResponse& response);
  void Add(Cause cause, const std::string& key, ServerTrouble::Asked asked, Clock::time_point now);
  // `silenced`: it ends without a line. When no answer comes at all, nothing is known about what
  // was wrong before.
  void Remove(const std::string& key, Clock::time_point now, bool silenced = false);
  // After a 401: the requests that the server broke off before it.
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
