// An HTTP/1.1 server for pages that are only read, made to be reached by hostile clients: one
// thread owns all connections and never waits, every client is bounded in connections, bytes and
// time, and bodies are never read. docs/serve.md has the limits in a table.
//
// Used by kube/status_server.h, which knows the pages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/api_request.h"
#include "kube/http_head.h"
#include "kube/listen_address.h"
#include "kube/tls_identity.h"

namespace krafla {

struct HttpServerLimits {
  HeadLimits head;
  size_t connections = 256;
  size_t connections_of_a_peer = 32;  // an IPv4 address, or the /64 of an IPv6 address
  size_t connections_of_loopback = 128;
  size_t tls_connections = 128;
  // Of all answers that are not taken to the end, without the newest and the largest one.
  size_t bytes_held = 8 << 20;
  // From the accept, or from the end of the last answer, to the end of the next head.
  std::chrono::milliseconds head_time{10'000};
  std::chrono::milliseconds answer_time{30'000};   // for the client to take the answer
  std::chrono::milliseconds progress_time{5'000};  // for any byte of it to be taken
  std::chrono::milliseconds page_time{90'000};     // for the page to be made: else 503
  std::chrono::milliseconds drain_time{1'000};     // for the client to see the end
  // Requests whose caller is being checked. Loopback is bounded by the first alone.
  size_t checks_pending = 64;
  size_t checks_pending_of_a_peer = 8;
  size_t checks_reserved = 8;  // beyond both, for callers that were allowed before
};

enum class Transport : uint8_t { kPlain, kTls, kBoth };  // kBoth: told by the first byte

// A page that is made on a worker. Lanes have workers of their own: a slow page of one does not
// hold up those of another. Within a lane callers take turns (kube/request_workers.h).
struct PageLane {
  size_t workers = 4;
  size_t most_waiting = 32;
  size_t most_of_a_caller = 8;
  size_t most_worked_on_of_a_caller = SIZE_MAX;
  bool low_priority = false;
  std::function<ApiAnswer(const ApiRequest& request)> answer;
};

struct HttpServerOptions {
  std::string name;  // of its threads
  ListenAddress address;
  Transport transport = Transport::kPlain;
  std::unique_ptr<TlsIdentity> identity;  // unless kPlain
  HttpServerLimits limits;

  // On the thread of the connections: returns at once. An answer, or the number of a lane.
  struct Route {
    std::optional<ApiAnswer> answer;
    size_t lane = 0;
  };
  std::function<Route(const ApiRequest& request)> route;
  // On the same thread, before a request goes to its lane. No worker waits for a late verdict.
  // Empty: every caller may read every page.
  AuthorizeRequest authorize;
  // On the same thread: this caller was allowed before. Checks of others do not hold up its own.
  std::function<bool(const ApiRequest& request)> was_allowed;
  std::vector<PageLane> lanes;
  // When a lane is full, or too many callers are being checked.
  std::function<ApiAnswer(const ApiRequest& request)> busy;
  // When a page is not made within page_time.
  std::function<ApiAnswer(const ApiRequest& request)> too_late;
  std::function<void(const std::string& line)> log;
};

class HttpServer {
 public:
  // Listens when this returns.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options);
  // Waits for pages that are being made.
  ~HttpServer();

  int port() const;
  const std::string& at() const;  // "127.0.0.1:8080"

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace krafla
