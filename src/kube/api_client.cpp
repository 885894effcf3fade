#include "kube/api_client.h"

#include <cctype>

#include <fmt/format.h>

#include "kube/api_text.h"

namespace krafla {

bool WantsHttps(const HttpResponse& response) {
  if (response.status != 400) return false;
  // API servers, and proxies before them.
  return response.body.find("HTTP request to an HTTPS server") != std::string::npos ||
         response.body.find("HTTP request was sent to HTTPS port") != std::string::npos;
}

// The words of k8s.io/apiserver, whatever authorizer refuses: `pods "p" is forbidden: User "u"
// cannot patch resource "pods/status" in API group "" in the namespace "a"`.
bool LacksPermission(const HttpResponse& response) {
  if (response.status != 403) return false;
  const std::string message = MessageOf(response.body);
  const size_t cannot = message.find(" cannot ");
  return cannot != std::string::npos && message.find(" resource ", cannot) != std::string::npos;
}

// 409 `Precondition failed: UID in precondition: …`, or where an object is validated before that,
// 422 `metadata.uid: Invalid value: …: field is immutable`.
bool IsOtherObject(const HttpResponse& response) {
  if (response.status != 409 && response.status != 422) return false;
  const std::string message = MessageOf(response.body);
  return message.find("UID in ") != std::string::npos ||
         message.find("metadata.uid") != std::string::npos ||
         message.find(kOtherObject) != std::string::npos;
}

std::string Describe(const HttpResponse& response) {
  if (response.status == 0) return response.error;
  std::string message = MessageOf(response.body);
  while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back())) != 0)
    message.pop_back();
  // "404 page not found", where a path is unknown as a whole.
  const std::string status = fmt::format("{}", response.status);
  return message.starts_with(status + " ") ? message : fmt::format("{} {}", status, message);
}

// The words of k8s.io/apiserver: `admission webhook "w" denied the request: …`, `… is forbidden:
// ValidatingAdmissionPolicy 'p' with binding 'b' denied request: …`. The code is the webhook's.
bool IsRefusedByAdmission(const HttpResponse& response) {
  if (response.status < 400 || response.status >= 500) return false;
  const std::string message = MessageOf(response.body);
  return (message.find("admission webhook ") != std::string::npos &&
          message.find(" denied the request") != std::string::npos) ||
         (message.find("ValidatingAdmissionPolicy ") != std::string::npos &&
          message.find(" denied request") != std::string::npos);
}

Timestamp WallClock() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count()};
}

std::chrono::milliseconds LeftOf(std::chrono::milliseconds wait, SteadyTime since, SteadyTime now) {
  if (now - since >= wait) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(wait - (now - since));
}

void InboxApiClient::Send(HttpRequest request, Done done) {
  // Not `this`: a channel that ends answers what is open, perhaps when its clients are gone.
  request.on_done = [inbox = &inbox_, done = std::move(done)](HttpResponse response) {
    inbox->PutTask([done, response = std::move(response)] { done(response); });
  };
  channel_.Send(std::move(request));
}

void InboxApiClient::After(std::chrono::milliseconds delay, std::function<void()> task) {
  channel_.After(delay, [inbox = &inbox_, task = std::move(task)] { inbox->PutTask(task); });
}

}  // namespace krafla
