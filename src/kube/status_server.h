// The little HTTP server: is it alive, is it ready, what are its figures. Read-only: whatever is
// neither GET nor HEAD is answered with 405.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/api_pages.h"

namespace krafla {

struct StatusPages {
  std::function<bool()> ready;
  std::function<std::string()> not_ready_because;
  std::function<std::string()> metrics;  // empty function: there is no such page
  bool health = true;
  std::function<ApiAnswer(const ApiRequest& request)> api;  // empty function: there is no such page
};

struct ListenAddress {
  std::string host;  // empty: every address
  int port = 0;      // 0: any that is free
};
// "127.0.0.1:8080", ":8080", "[::1]:8080".
Result<ListenAddress> ParseListenAddress(const std::string& text);

// A server that speaks TLS: its certificate and key, and who may sign the certificates of clients
// that show one; they need not. Read at the start.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_authority;
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
