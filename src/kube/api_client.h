// Requests of the scheduling thread: answers come back to it, as tasks in its inbox. What decides
// with it can be tested without a network.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "base/timestamp.h"
#include "kube/http_channel.h"
#include "kube/inbox.h"

namespace krafla {

using SteadyTime = std::chrono::steady_clock::time_point;

class ApiClient {
 public:
  using Done = std::function<void(const HttpResponse&)>;

  virtual ~ApiClient() = default;
  virtual void Send(HttpRequest request, Done done) = 0;
  virtual void After(std::chrono::milliseconds delay, std::function<void()> task) = 0;
  // For what is written down.
  virtual Timestamp Now() const = 0;
  // For durations: a clock that cannot be set.
  virtual SteadyTime SteadyNow() const = 0;
};

// No answer, or one that may be another next time.
constexpr bool IsTransient(const HttpResponse& response) {
  return response.status == 0 || response.status == 429 || response.status >= 500;
}

// Our role does not allow it: 403 of the server's authorization, not of an admission plugin or a
// quota, which refuse single objects.
bool LacksPermission(const HttpResponse& response);

// In the message of an answer that is our own (kube/update_fallback.h).
inline constexpr std::string_view kOtherObject = "another object has the name by now";

// The UID that a write names is not that of the object which has the name by now.
bool IsOtherObject(const HttpResponse& response);

// A server that speaks TLS was asked without it: it says so itself, in plain text.
bool WantsHttps(const HttpResponse& response);

// For messages: "409 pod web-0 is already assigned to node n1".
std::string Describe(const HttpResponse& response);

// An admission webhook or a ValidatingAdmissionPolicy refuses it: it may decide otherwise later,
// although the object is as it was.
bool IsRefusedByAdmission(const HttpResponse& response);

Timestamp WallClock();

// What is left of a wait that began at `since`, rounded up: nothing is reported too early.
std::chrono::milliseconds LeftOf(std::chrono::milliseconds wait, SteadyTime since, SteadyTime now);

class InboxApiClient final : public ApiClient {
 public:
  InboxApiClient(HttpChannel& channel, Inbox& inbox) : channel_(channel), inbox_(inbox) {}
  void Send(HttpRequest request, Done done) override;
  void After(std::chrono::milliseconds delay, std::function<void()> task) override;
  Timestamp Now() const override { return WallClock(); }
  SteadyTime SteadyNow() const override { return SteadyTime::clock::now(); }

 private:
  HttpChannel& channel_;
  Inbox& inbox_;
};

}  // namespace krafla
