// Requests to one API server over connections of its own, by one thread of its own. Two channels
// never share a connection, so that a flood of watch events cannot delay a binding.
//
// Any thread may send; callbacks run on the channel's thread and must not block. Requests are sent
// in order of urgency, at most so many at once and so many a second. A connection that no longer
// answers is found out within 20 seconds: requests have deadlines, and where streams are open a
// small question is asked over the same connection when nothing was heard for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/clocks.h"
#include "kube/credentials.h"

namespace krafla {

// Why there was no answer, as far as it says what to look at.
enum class NoAnswer : uint8_t {
  kOther,
  kCutShort,        // the server was there, and ended the connection or the stream
  kUntrusted,       // its certificate is signed by nobody that we trust
  kOtherName,       // its certificate is for another name
  kOwnCertificate,  // ours, or its key, cannot be used
  kNoCredentials,   // nothing was sent: the credentials for it cannot be had
};

struct HttpResponse {
  int status = 0;  // 0: there was no answer, `error` says why
  std::string body;
  std::string error;
  std::optional<std::chrono::milliseconds> retry_after;
  // Not sent, or cut off while it was under way, because we may no longer write (send_until): there
  // is no use in asking again, and what the server has made of it is open.
  bool kept_back = false;
  // The channel is being taken down: nothing has failed, nobody is interested any more.
  bool closing = false;
  NoAnswer why = NoAnswer::kOther;  // where there was none

  bool ok() const { return status >= 200 && status < 300; }
};

// Binds come before evictions, these before statuses, these before events.
enum class Urgency : uint8_t { kBind, kEvict, kStatus, kEvent };
inline constexpr size_t kUrgencies = 4;

struct HttpRequest {
  std::string method = "GET";
  std::string target;  // path and query
  std::string content_type;
  std::string body;
  Urgency urgency = Urgency::kBind;
  std::chrono::milliseconds timeout{10'000};  // 0: as long as it takes
  // For streams: takes the body piece by piece as it arrives, when the status is 2xx. False: not
  // now; the same piece comes again after Resume.
  std::function<bool(std::string_view)> on_data;
  // For streams: asked after each piece; true: the rest is not wanted, and the stream ends.
  std::function<bool()> is_useless;
  // The server has said 2xx; what it has to say may take its time.
  std::function<void()> on_open;
  std::function<void(HttpResponse)> on_done;
};

// A request that was answered, or that failed after it was sent.
struct RequestOutcome {
  std::string_view method;
  std::string_view target;
  const HttpResponse& response;
  // From the beginning of the request to its end; of a stream, to the beginning of the answer.
  std::chrono::nanoseconds duration;
};

struct HttpChannelOptions {
  std::string name;  // for the log
  std::string user_agent = "krafla";
  size_t max_in_flight = 90;
  double per_second = 0;  // 0: unlimited
  double burst = 1;
  bool watchdog = false;  // ask a small question when streams are open and nothing is heard
  std::chrono::milliseconds silence{10'000};   // … for so long
  std::chrono::milliseconds patience{10'000};  // and wait so long for its answer
  // Until when requests may be under way; asked on the channel's thread, again and again. What is
  // open then is cut off, what waits is kept back. None: for ever.
  std::function<std::chrono::steady_clock::time_point()> send_until;
  // On the channel's thread, once for each request that was sent; of a stream when it opens. Must
  // not block.
  std::function<void(const RequestOutcome& outcome)> on_outcome;
  // The Date of an answer, in seconds since 1970, with the moment at which its request was handed
  // to the connection. About once a second at most, on the channel's thread.
  std::function<void(int64_t date_unix_s, BootClock::time_point sent)> on_date;
  std::function<void(const std::string& line)> log;
};

class HttpChannel {
 public:
  HttpChannel(Credentials& credentials, HttpChannelOptions options);
  // Requests that are still open end as `closing`; their callbacks run before this returns.
  ~HttpChannel();
  HttpChannel(const HttpChannel&) = delete;
  HttpChannel& operator=(const HttpChannel&) = delete;

  void Send(HttpRequest request);
  // Runs `task` on the channel's thread, after `delay`.
  void After(std::chrono::milliseconds delay, std::function<void()> task);
  // Streams that were told "not now" go on; `send_until` is asked again.
  void Resume();
  // Nothing is sent from now on, and nothing is under way when this returns. Not from a callback.
  void CutOff();
  // Sends and waits. Not from a callback.
  HttpResponse Ask(HttpRequest request);

  // Sent or waiting to be sent.
  size_t open_requests() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Once per process, before any channel.
void InitializeHttp();

}  // namespace krafla
