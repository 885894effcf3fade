// The HTTP server of krafla serve: health, metrics, the API. Read-only: it never reads a body, and
// answers every method but GET and HEAD with 405.
//
// One thread owns the connections and answers the health pages. A few workers call `authorize`,
// `metrics` and `api`, so that these may take their time. docs/serve.md has the limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/api_request.h"

namespace krafla {

// One line of /livez?verbose or /readyz?verbose. Runs on the thread of the connections: it returns
// at once, and takes no lock that is held for longer than a few instructions.
struct HealthCheck {
  std::string name;
  std::function<std::optional<std::string>()> problem;  // none: the check passes
};

struct StatusPages {
  bool health = true;                    // /livez, /healthz, /readyz
  std::vector<HealthCheck> live_checks;  // of /livez and /healthz
  std::vector<HealthCheck> ready_checks;
  std::function<std::string()> metrics;                     // empty: no such page
  std::function<ApiAnswer(const ApiRequest& request)> api;  // empty: no such pages

  // Asked on a worker for each page that is not a health page, before the page is made. Returns the
  // refusal (401, 403, 503), or nothing when the caller may read the page. Empty: every caller may
  // whom the rule for plain HTTP below admits.
  std::function<std::optional<ApiAnswer>(const ApiRequest& request)> authorize;
  // /metrics in plain HTTP, from other machines too. Without it, and for all other pages but health
  // always, plain HTTP is refused unless both ends of the connection are loopback addresses.
  bool plain_metrics = false;
};

struct ListenAddress {
  std::string host;  // empty: every address of both families
  int port = 0;      // 0: any that is free
};
// "127.0.0.1:8080", ":8080", "[::1]:8080".
Result<ListenAddress> ParseListenAddress(const std::string& text);

// A server's certificate and key, and the authority of the certificates that clients may show.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_authority;  // empty: clients are not asked for one
};

class StatusServer {
 public:
  // Listens when this returns.
  static Result<std::unique_ptr<StatusServer>> Start(const ListenAddress& address,
                                                     StatusPages pages,
                                                     const std::optional<TlsFiles>& tls = {});
  ~StatusServer();

  int port() const;
  // "https://127.0.0.1:11251"
  const std::string& url() const;

 private:
  class Impl;
  explicit StatusServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace krafla
