// The HTTP pages of krafla serve: health, metrics, the API. Read-only: every method but GET and
// HEAD is answered with 405, and no body is ever read.
//
// One thread owns the connections, answers the health pages and calls `authorize`. A few workers
// call `metrics` and `api`, so that these may take their time (kube/http_server.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/api_request.h"
#include "kube/http_server.h"
#include "kube/listen_address.h"
#include "kube/tls_identity.h"

namespace krafla {

// One line of /livez?verbose or /readyz?verbose. Runs on the thread of the connections: it returns
// at once, and takes no lock that is held for longer than a few instructions.
struct HealthCheck {
  std::string name;
  std::function<std::optional<std::string>()> problem;  // none: the check passes
  std::function<std::string()> note = {};  // shown beside a check that passes; empty: nothing
};

struct StatusPages {
  bool health = true;                    // /livez, /healthz, /readyz
  std::vector<HealthCheck> live_checks;  // of /livez and /healthz
  std::vector<HealthCheck> ready_checks;
  std::function<std::string()> metrics;                     // empty: no such page
  std::function<ApiAnswer(const ApiRequest& request)> api;  // empty: no such pages

  // Called for each page that is not a health page, before the page is made: on the thread of the
  // connections. A refusal is 401, 403 or 503. Empty: every caller may read what the rule for plain
  // HTTP below allows. kube/page_access.h is the one of krafla serve.
  AuthorizeRequest authorize;
  // This caller was allowed before: while other callers use up the checks, it has a few of its own.
  std::function<bool(const ApiRequest& request)> was_allowed = {};
  // /metrics in plain HTTP, from other machines too. Without it, and for all other pages but health
  // always, plain HTTP is refused unless both ends of the connection are loopback addresses.
  bool plain_metrics = false;
};

struct StatusServerOptions {
  ListenAddress address;
  StatusPages pages;
  Transport transport = Transport::kPlain;
  // None, and not kPlain: a self-signed certificate, made here.
  std::optional<TlsFiles> tls = {};
  HttpServerLimits limits = {};
  std::function<void(const std::string& line)> log = {};  // on the server's threads
};

class StatusServer {
 public:
  // Listens when this returns.
  static Result<std::unique_ptr<StatusServer>> Start(StatusServerOptions options);
  // TLS alone with the files, else plain HTTP.
  static Result<std::unique_ptr<StatusServer>> Start(const ListenAddress& address,
                                                     StatusPages pages,
                                                     const std::optional<TlsFiles>& tls = {});
  ~StatusServer();

  int port() const;
  // "https://127.0.0.1:11251"; with both transports "http://…".
  const std::string& url() const { return url_; }
  // Of the certificate that was read or made at the start; empty: no TLS.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  StatusServer() = default;
  std::string url_;
  std::string fingerprint_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace krafla
